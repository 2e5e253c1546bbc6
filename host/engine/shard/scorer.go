package shard

import (
	"errors"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// part is a shard of this rank that has examples.
type part struct {
	e        engine.Engine
	from, to int // its examples in the whole

	s         engine.Scorer    // of them; nil until they are loaded
	cells     engine.Cells     // s, if it is one
	evaluator engine.Evaluator // s, if it is one
}

// parts returns the shards of this rank that have examples.
func (e *shardedEngine) parts(c cuts) []part {
	var all []part
	for i, one := range e.engines {
		shard := e.first[e.rank] + i
		if c[shard] < c[shard+1] {
			all = append(all, part{e: one, from: c[shard], to: c[shard+1]})
		}
	}
	return all
}

// scorer is a data set whose shards the engines have.
type scorer struct {
	e       *shardedEngine
	n, d, q int // of the whole
	cuts    cuts
	x       dataset.Examples // keeps the memory of the parts, until Close
	parts   []part
	room    [][]int64 // for the sums of each part
}

func (s *scorer) Shape() (n, d, q int) { return s.n, s.d, s.q }

func (s *scorer) Close() error {
	var errs []error
	for _, p := range s.parts {
		if p.s != nil {
			errs = append(errs, p.s.Close())
		}
	}
	return errors.Join(errs...)
}

// all calls f for the shards of this rank, all at the same time.
func (s *scorer) all(f func(i int, p part) error) error {
	errs := make([]error, len(s.parts))
	parallel.Share(len(errs), len(errs), func(_, i int) { errs[i] = f(i, s.parts[i]) })
	return errors.Join(errs...)
}

// addAll makes sums the total of what f writes for the parts.
func (s *scorer) addAll(sums []int64, f func(i int, p part, sums []int64) error) error {
	var mu sync.Mutex
	clear(sums)
	if s.room == nil {
		s.room = make([][]int64, len(s.parts))
	}
	return s.all(func(i int, p part) error {
		if cap(s.room[i]) < len(sums) {
			s.room[i] = make([]int64, len(sums))
		}
		own := s.room[i][:len(sums)]
		if err := f(i, p, own); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		lists.Add(sums, own)
		return nil
	})
}

func (s *scorer) Rescore(w engine.Weights, classes []int) error {
	err := s.all(func(_ int, p part) error { return p.s.Rescore(w, classes) })
	return s.e.sum(err, s.e.print(w))
}

func (s *scorer) Scores(dst []float32, from, to int) error {
	err := s.e.agree(s.all(func(_ int, p part) error {
		first, last := max(from, p.from), min(to, p.to)
		if first >= last {
			return nil
		}
		return p.s.Scores(dst[(first-from)*s.q:(last-from)*s.q], first-p.from, last-p.from)
	}))
	if err != nil {
		return err
	}
	ends := s.e.byRank(s.cuts)
	for k, end := range ends {
		ends[k] = min(max(end, from), to) - from
	}
	return ranks.Gather(s.e.ctx, s.e.Reducer, dst, s.q, ends)
}

func (s *scorer) Predict(dst []int32) error {
	err := s.e.agree(s.all(func(_ int, p part) error { return p.s.Predict(dst[p.from:p.to]) }))
	if err != nil {
		return err
	}
	return ranks.Gather(s.e.ctx, s.e.Reducer, dst, 1, s.e.byRank(s.cuts))
}

func (s *scorer) CountPredicted(counts []int64, y []int32) error {
	err := s.addAll(counts, func(_ int, p part, own []int64) error {
		return p.s.CountPredicted(own, y[p.from:p.to])
	})
	return s.e.sum(err, 0, counts)
}

// Project: each engine maps its examples (clause 13).
func (e unchecked) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	c, width := e.cut(x, step), p.Width()
	sound := x.N > 0 && x.Check() == nil && width > 0
	if e.all == 1 || !sound || len(dst)/width != x.N || len(dst)%width != 0 {
		if err := enginecheck.Project(dst, x, p); err != nil {
			return err
		}
	}
	parts := e.parts(c)
	errs := make([]error, len(parts))
	parallel.Share(len(parts), len(parts), func(_, i int) {
		s := parts[i]
		errs[i] = s.e.Project(dst[s.from*width:s.to*width], x.Part(s.from, s.to), p)
	})
	if err := e.agree(errors.Join(errs...)); err != nil {
		return err
	}
	return ranks.Gather(e.ctx, e.Reducer, dst, width, e.byRank(c))
}
