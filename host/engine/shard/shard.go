// Package shard is a driver that combines drivers: the devices of one machine ([New]) and, through
// a Reducer, the devices of several MPI ranks ([Ranks]). The examples are cut into consecutive
// shards, one for each driver. Class sums, weighted sums, counts and losses are integers, and each
// score belongs to one example, so results have the bits of a single driver: clauses 3, 5, 14 and
// 16 of package contract leave nothing to where the examples are cut, as long as the fixed-point
// format is derived from all examples and evaluations are cut between blocks of 256.
package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// New returns drivers combined as one, which owns them. Of the examples each driver takes a share,
// a positive number relative to the others; nil shares are equal. Shares change how long work takes
// and nothing else. With few examples some drivers may get none.
func New(drivers []engine.Driver, shares []int) (engine.Driver, error) {
	return Ranks(context.Background(), Alone, drivers, shares)
}

// Ranks returns the drivers of all ranks combined as one: this rank has those given, with their
// shares of the examples. All ranks call it, and afterwards make the same calls in the same order
// with the same arguments; each computes on its own shards. Results are complete on every rank.
// Close closes the drivers of this rank. ctx is passed to all calls of r.
func Ranks(ctx context.Context, r Reducer, drivers []engine.Driver, shares []int) (
	engine.Driver, error) {
	rank, all := r.Rank()
	s := &driver{group: group{Reducer: r, ctx: ctx, rank: rank, ranks: all}, drivers: drivers}
	if shares == nil {
		shares = slices.Repeat([]int{1}, len(drivers))
	}
	if err := s.agree(checkShares(drivers, shares)); err != nil {
		return nil, err
	}
	counts := make([]int64, all)
	counts[rank] = int64(len(drivers))
	if err := s.sum(nil, 0, counts); err != nil {
		return nil, err
	}
	s.first = make([]int, all+1)
	for rank, count := range counts {
		s.first[rank+1] = s.first[rank] + int(count)
	}
	each := make([]int64, s.first[all]) // shares of all shards
	for i, share := range shares {
		each[s.first[rank]+i] = int64(share)
	}
	if err := s.sum(nil, 0, each); err != nil {
		return nil, err
	}
	s.until = make([]int64, 1, len(each)+1)
	for i, share := range each {
		s.until = append(s.until, s.until[i]+share)
	}
	return s, nil
}

// mostShare keeps products of shares and examples within 64 bits.
const mostShare = 1 << 24

func checkShares(drivers []engine.Driver, shares []int) error {
	if len(drivers) == 0 || len(shares) != len(drivers) {
		return fmt.Errorf("shard: %w: found %d drivers and %d shares, want at least one driver and a "+
			"share for each", engine.ErrShape, len(drivers), len(shares))
	}
	for i, s := range shares {
		if s < 1 || s > mostShare {
			return fmt.Errorf("shard: %w: found share %d of driver %d, want 1 to %d", engine.ErrShape, s, i,
				mostShare)
		}
	}
	return nil
}

// driver is several drivers as one.
type driver struct {
	group
	drivers []engine.Driver // of this rank
	first   []int           // the first shard of each rank, and the number of shards at the end
	until   []int64         // the sum of the shares before each shard, and of all at the end
}

func (s *driver) Serial() bool {
	return s.ranks > 1 || slices.ContainsFunc(s.drivers, engine.Driver.Serial)
}

// Device describes the drivers of this rank.
func (s *driver) Device() engine.Device {
	var d engine.Device
	var texts [5][]string // of each driver
	for _, one := range s.drivers {
		about := one.Device()
		for i, text := range []string{about.Kind, about.ID, about.Name, about.Platform, about.Driver} {
			if text != "" && (i == 1 || i == 2 || !slices.Contains(texts[i], text)) {
				texts[i] = append(texts[i], text)
			}
		}
	}
	d.Kind, d.ID = strings.Join(texts[0], "+"), strings.Join(texts[1], "+")
	for i, text := range []*string{&d.Name, &d.Platform, &d.Driver} {
		*text = strings.Join(texts[2+i], " + ")
	}
	return d
}

func (s *driver) Close() error {
	var errs []error
	for _, one := range s.drivers {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// cuts are where examples are cut: shard k has examples cuts[k]..cuts[k+1]-1.
type cuts []int

// cut cuts n examples by the shares, between multiples of step.
func (s *driver) cut(n, step int) cuts {
	c := make(cuts, len(s.until))
	blocks, all := int64((n+step-1)/step), s.until[len(s.until)-1]
	for k, until := range s.until {
		c[k] = min(n, int(blocks*until/all)*step)
	}
	return c
}

// cutFor cuts examples for a task: between blocks of weighted sums or, for other uses, between the
// blocks in which drivers keep scores.
func (s *driver) cutFor(n int, use engine.Use) cuts {
	if use == engine.UseEvaluator {
		return s.cut(n, numerics.Block)
	}
	return s.cut(n, scoreBlock)
}

const scoreBlock = 16

// byRank returns where the examples of each rank begin, and the last ones end.
func (s *driver) byRank(c cuts) []int {
	ends := make([]int, len(s.first))
	for rank, shard := range s.first {
		ends[rank] = c[shard]
	}
	return ends
}

// part is a shard of this rank that has examples.
type part struct {
	engine.Driver
	from, to int
	loaded   engine.Loaded // nil until they are loaded
}

// task returns the task of the part's examples.
func (p part) task(t engine.Task) engine.Task {
	if t.Labels != nil {
		t.Labels = t.Labels[p.from:p.to]
	}
	return t
}

// parts returns the shards of this rank that have examples.
func (s *driver) parts(c cuts) []part {
	var all []part
	for i, d := range s.drivers {
		shard := s.first[s.rank] + i
		if c[shard] < c[shard+1] {
			all = append(all, part{Driver: d, from: c[shard], to: c[shard+1]})
		}
	}
	return all
}

// Load has each driver of this rank load its shard.
func (s *driver) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	c, q := s.cutFor(x.N, t.Use), t.Classes
	l := loaded{s: s, n: x.N, d: x.D, q: q, cuts: c, parts: s.parts(c)}
	err := error(nil)
	if t.Use == engine.UseCells {
		err = memory.Check(memory.Product(8, q, q, x.D),
			fmt.Sprintf("class sums of all shards, %d × %d cells × %d features", q, q, x.D))
	}
	if err == nil {
		err = l.each(func(i int, p part) (err error) {
			l.parts[i].loaded, err = p.Load(x.Part(p.from, p.to), p.task(t))
			if err != nil {
				l.parts[i].loaded = nil
			}
			return err
		})
	}
	if err := s.agree(err); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	switch t.Use {
	case engine.UseCells:
		return &cells{loaded: l, fixed: t.Format, regions: make([]int64, q*q),
			sums:  make([]int64, q*q*x.D),
			fresh: slices.Repeat([]bool{true}, q)}, nil // every cell is empty
	case engine.UseEvaluator:
		return &evaluator{l}, nil
	}
	return &l, nil
}

// Project: each driver maps its examples (clause 13).
func (s *driver) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	c, width := s.cut(x.N, scoreBlock), p.Width()
	l := loaded{parts: s.parts(c)}
	err := s.agree(l.each(func(_ int, part part) error {
		return part.Project(dst[part.from*width:part.to*width], x.Part(part.from, part.to), p)
	}))
	if err != nil {
		return err
	}
	return Gather(s.ctx, s.Reducer, dst, width, s.byRank(c))
}
