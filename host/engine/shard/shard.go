// Package shard makes one engine of several: of the OpenCL devices and the processor of a
// machine ([New]), and of those of many machines ([Ranks]). The examples are cut in as many
// consecutive shards as there are engines; each loads its own. What is asked of the
// whole is asked of all at once, and their answers are put together. Class sums, weighted sums,
// counts and losses are integers, and each score belongs to one example, so the answers have the
// bits that any of the engines would give alone: clauses 3, 5, 14 and 16 of package contract
// leave nothing to where the examples are cut, as long as the fixed-point format is that of the
// whole and evaluations are cut between blocks of 256. Who uses the engine need not know.
//
// A ranks.Reducer joins the machines.
package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
)

// New returns engines as one, which owns them: its Close closes them. Of the examples each
// engine takes a share, a positive number that counts beside those of the others; nil shares are
// equal. They change how long work takes and nothing else. With few examples some engines may
// get none. Errors are of the arguments.
func New(engines []engine.Engine, shares []int) (engine.Engine, error) {
	return Ranks(context.Background(), ranks.Alone, engines, shares)
}

// Ranks returns the engines of all ranks as one: this rank has those given, and takes their shares
// of the examples, as New says. All ranks call it, and afterwards each makes the same calls, in
// the same order, with the same arguments; of these it reads the examples of its own shards alone.
// Answers are the whole's, on each rank. Methods must not be called at the same time. Close is
// this rank's own. ctx is that of all calls of r.
func Ranks(ctx context.Context, r ranks.Reducer, engines []engine.Engine,
	shares []int) (engine.Engine, error) {
	rank, all := r.Rank()
	e := newSharded(engines, rankGroup{Reducer: r, ctx: ctx, rank: rank, all: all})
	if shares == nil {
		shares = slices.Repeat([]int{1}, len(engines))
	}
	if err := e.agree(checkShares(engines, shares)); err != nil {
		return nil, err
	}
	counts := make([]int64, e.all)
	counts[e.rank] = int64(len(engines))
	if err := e.sum(nil, 0, counts); err != nil {
		return nil, err
	}
	e.first = make([]int, e.all+1)
	for rank, count := range counts {
		e.first[rank+1] = e.first[rank] + int(count)
	}
	of := make([]int64, e.first[e.all]) // shares of all shards
	for i, s := range shares {
		of[e.first[e.rank]+i] = int64(s)
	}
	if err := e.sum(nil, 0, of); err != nil {
		return nil, err
	}
	e.until = make([]int64, 1, len(of)+1)
	for i, s := range of {
		e.until = append(e.until, e.until[i]+s)
	}
	return e, nil
}

// mostShare keeps products of shares and examples within 64 bits.
const mostShare = 1 << 24

func checkShares(engines []engine.Engine, shares []int) error {
	if len(engines) == 0 || len(shares) != len(engines) {
		return fmt.Errorf("shard: %w: found %d engines and %d shares, wanted one of each at least, and "+
			"as many", engine.ErrShape, len(engines), len(shares))
	}
	for i, s := range shares {
		if s < 1 || s > mostShare {
			return fmt.Errorf("shard: %w: found the share %d of engine %d, wanted 1 to %d", engine.ErrShape,
				s, i, mostShare)
		}
	}
	return nil
}

// shardedEngine is several engines as one. On several ranks its operations take turns.
type shardedEngine struct {
	*enginecheck.Engine
	rankGroup
	engines []engine.Engine // of this rank
	first   []int           // number of each rank's first shard, and of all shards at the end
	until   []int64         // sum of the shares of the shards before each, and of all at the end
}

func newSharded(engines []engine.Engine, j rankGroup) *shardedEngine {
	e := &shardedEngine{rankGroup: j, engines: engines}
	e.Engine = enginecheck.New(unchecked{e}, enginecheck.How{Turns: j.all > 1, ChecksExamples: true})
	return e
}

// unchecked is a sharded behind the checks.
type unchecked struct{ *shardedEngine }

// Device describes the engines of this rank.
func (e unchecked) Device() engine.Device {
	d := engine.Device{Conforming: true}
	var all [5][]string // what is told of each engine
	for _, one := range e.engines {
		about := one.Device()
		d.Conforming = d.Conforming && about.Conforming
		for i, text := range []string{about.Kind, about.ID, about.Name, about.Platform, about.Driver} {
			if text != "" && (i == 1 || i == 2 || !slices.Contains(all[i], text)) {
				all[i] = append(all[i], text)
			}
		}
	}
	for i, text := range []*string{&d.Kind, &d.ID} {
		*text = strings.Join(all[i], "+")
	}
	for i, text := range []*string{&d.Name, &d.Platform, &d.Driver} {
		*text = strings.Join(all[2+i], " + ")
	}
	return d
}

// Work returns what the engines of this rank that count have done.
func (e *shardedEngine) Work() (sum engine.Work) {
	for _, one := range e.engines {
		if c, ok := one.(interface{ Work() engine.Work }); ok {
			w := c.Work()
			sum.Launches += w.Launches
			sum.Transfers += w.Transfers
			sum.ExampleBytes += w.ExampleBytes
			sum.Rescored += w.Rescored
		}
	}
	return sum
}

func (e unchecked) Close() error {
	errs := make([]error, len(e.engines))
	for i, one := range e.engines {
		errs[i] = one.Close()
	}
	return errors.Join(errs...)
}

// cuts are where a data set is cut: shard k has examples cuts[k]..cuts[k+1]-1, those of rank r
// are the shards first[r]..first[r+1]-1.
type cuts []int

// cut cuts x by the shares, between multiples of step.
func (e *shardedEngine) cut(x dataset.Examples, step int) cuts {
	c := make(cuts, len(e.until))
	blocks, shares := int64((x.N+step-1)/step), e.until[len(e.until)-1]
	for k := range c {
		c[k] = min(x.N, int(blocks*e.until[k]/shares)*step)
	}
	return c
}

// own returns the examples of this rank, from..to-1.
func (e *shardedEngine) own(c cuts) (from, to int) {
	return c[e.first[e.rank]], c[e.first[e.rank+1]]
}

// byRank returns where the examples of each rank begin, and the last ones end.
func (e *shardedEngine) byRank(c cuts) []int {
	ends := make([]int, e.all+1)
	for rank, shard := range e.first {
		ends[rank] = c[shard]
	}
	return ends
}

// rankGroup is what this rank asks of all.
type rankGroup struct {
	ranks.Reducer
	ctx       context.Context
	rank, all int
	buffer    []int64 // of sum
}

// kinds are the kinds of error that one rank tells the others of, by their index.
var kinds = []error{
	engine.ErrShape, engine.ErrLabel, engine.ErrValue, engine.ErrMemory, engine.ErrClosed,
	engine.ErrFailed,
	audit.ErrDiffers,
}

// agree returns nil if err is nil on all ranks, else that of one of them, as
// ranks.Agree has it.
func (r *rankGroup) agree(err error) error { return r.sum(err, 0) }

// sum makes each number of all the slices the sum over all ranks, and is agree besides. same must
// be the same number on all ranks: else it returns ranks.ErrDiffers.
func (r *rankGroup) sum(err error, same int64, slices ...[]int64) error {
	if r.all == 1 {
		return err
	}
	const heading = 2
	r.buffer = append(r.buffer[:0], 0, same)
	if err != nil {
		r.buffer[0] = 1
	}
	for _, v := range slices {
		r.buffer = append(r.buffer, v...)
	}
	if e := r.Sum(r.ctx, r.buffer); e != nil {
		return errors.Join(err, e)
	}
	if r.buffer[0] > 0 {
		return ranks.Agree(r.ctx, r.Reducer, err, kinds...)
	}
	if r.buffer[1] != same*int64(r.all) {
		err := fmt.Errorf("rank %d of %d: %w, wanted the same program, data and options on all", r.rank,
			r.all, ranks.ErrDiffers)
		r.Abort(err) // not all may have seen it
		return err
	}
	at := heading
	for _, v := range slices {
		at += copy(v, r.buffer[at:])
	}
	return nil
}

// print is a number that weights with other bits most likely do not have (FNV-1a of the words); 0
// if there is one rank, which has nobody to compare it with.
func (r *rankGroup) print(w engine.Weights) int64 {
	if r.all == 1 {
		return 0
	}
	hash := uint64(14695981039346656037)
	for _, v := range w.W {
		hash = (hash ^ uint64(math.Float32bits(v))) * 1099511628211
	}
	return int64(hash)
}
