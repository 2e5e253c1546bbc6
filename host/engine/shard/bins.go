package shard

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// bins are binned examples whose shards the drivers have. Histograms, counts and losses add up
// (clauses 24 and 25); each score belongs to one example (clause 26).
type bins struct {
	s     *driver
	q     int
	cuts  cuts
	parts []binsPart
}

// binsPart is a shard of this rank.
type binsPart struct {
	from, to int
	loaded   engine.LoadedBins // nil until they are loaded
	sums     []int64           // of its last histogram
}

// LoadBins has each driver of this rank load its shard.
func (s *driver) LoadBins(b dataset.Binned, q, all int) (engine.LoadedBins, error) {
	r := &bins{s: s, q: q, cuts: s.cut(b.N, scoreBlock)}
	owners := s.parts(r.cuts)
	for _, p := range owners {
		r.parts = append(r.parts, binsPart{from: p.from, to: p.to})
	}
	err := s.agree(r.each(func(i int, p *binsPart) (err error) {
		loaded, err := owners[i].LoadBins(b.Part(p.from, p.to), q, all)
		if err == nil {
			p.loaded = loaded
		}
		return err
	}))
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *bins) Close() error {
	var errs []error
	for _, p := range r.parts {
		if p.loaded != nil {
			errs = append(errs, p.loaded.Close())
		}
	}
	return errors.Join(errs...)
}

// each calls f for the shards of this rank, all at the same time.
func (r *bins) each(f func(i int, p *binsPart) error) error {
	errs := make([]error, len(r.parts))
	parallel.Share(len(errs), len(errs), func(_, i int) { errs[i] = f(i, &r.parts[i]) })
	return errors.Join(errs...)
}

func (r *bins) SetTargets(t engine.Targets) error {
	return r.s.agree(r.each(func(_ int, p *binsPart) error {
		return p.loaded.SetTargets(targetsOf(t, p.from, p.to, r.q))
	}))
}

func (r *bins) Gradients() (engine.Evaluation, error) {
	var mu sync.Mutex
	sums := make([]int64, 2)
	err := r.each(func(_ int, p *binsPart) error {
		one, err := p.loaded.Gradients()
		mu.Lock()
		defer mu.Unlock()
		lists.Add(sums, []int64{one.Loss, one.Refused})
		return err
	})
	err = r.s.sum(err, 0, sums)
	return engine.Evaluation{Loss: sums[0], Refused: sums[1]}, err
}

func (r *bins) Start(g engine.Growth) error {
	return r.s.sum(r.each(func(_ int, p *binsPart) error {
		own := engine.Growth{Class: g.Class}
		if g.Labels != nil {
			own.Labels = g.Labels[p.from:p.to]
		}
		if g.Times != nil {
			own.Times = g.Times[p.from:p.to]
		}
		return p.loaded.Start(own)
	}), int64(g.Class))
}

func (r *bins) Histogram(dst []int64, node int, features []int) error {
	clear(dst)
	var mu sync.Mutex
	err := r.each(func(_ int, p *binsPart) error {
		p.sums = slices.Grow(p.sums[:0], len(dst))[:len(dst)]
		if err := p.loaded.Histogram(p.sums, node, features); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		lists.Add(dst, p.sums)
		return nil
	})
	return r.s.sum(err, int64(node), dst)
}

func (r *bins) Split(node, feature int, left engine.BinSet, children [2]int) ([2]int64, error) {
	var mu sync.Mutex
	sums := make([]int64, 2)
	err := r.each(func(_ int, p *binsPart) error {
		one, err := p.loaded.Split(node, feature, left, children)
		mu.Lock()
		defer mu.Unlock()
		lists.Add(sums, one[:])
		return err
	})
	err = r.s.sum(err, r.s.printOf(node, feature, left, children), sums)
	return [2]int64(sums), err
}

func (r *bins) Add(t engine.Tree, class int) error {
	err := r.each(func(_ int, p *binsPart) error { return p.loaded.Add(t, class) })
	return r.s.sum(err, r.s.printOf(t, class))
}

func (r *bins) Scores(dst []float32, from, to int) error {
	err := r.s.agree(r.each(func(_ int, p *binsPart) error {
		first, last := max(from, p.from), min(to, p.to)
		if first >= last {
			return nil
		}
		return p.loaded.Scores(dst[(first-from)*r.q:(last-from)*r.q], first-p.from, last-p.from)
	}))
	if err != nil {
		return err
	}
	return r.s.gatherScores(dst, r.cuts, from, to, r.q)
}

// printOf is a fingerprint of arguments; 0 with one rank, which has nobody to compare it with.
func (g *group) printOf(arguments ...any) int64 {
	if g.ranks == 1 {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, arguments...)
	return int64(h.Sum64())
}
