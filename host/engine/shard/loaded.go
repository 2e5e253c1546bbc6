package shard

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// loaded is a data set whose shards the drivers have.
type loaded struct {
	s       *driver
	n, d, q int // of all examples
	cuts    cuts
	parts   []part
	room    [][]int64 // for the sums of each part
}

func (l *loaded) Close() error {
	var errs []error
	for _, p := range l.parts {
		if p.loaded != nil {
			errs = append(errs, p.loaded.Close())
		}
	}
	return errors.Join(errs...)
}

// each calls f for the shards of this rank, all at the same time.
func (l *loaded) each(f func(i int, p part) error) error {
	errs := make([]error, len(l.parts))
	parallel.Share(len(errs), len(errs), func(_, i int) { errs[i] = f(i, l.parts[i]) })
	return errors.Join(errs...)
}

// add makes sums the total of what f writes for the parts.
func (l *loaded) add(sums []int64, f func(i int, p part, sums []int64) error) error {
	var mu sync.Mutex
	clear(sums)
	if l.room == nil {
		l.room = make([][]int64, len(l.parts))
	}
	return l.each(func(i int, p part) error {
		own := slices.Grow(l.room[i][:0], len(sums))[:len(sums)]
		l.room[i] = own
		if err := f(i, p, own); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		lists.Add(sums, own)
		return nil
	})
}

func (l *loaded) Rescore(w engine.Weights, classes []int) error {
	err := l.each(func(_ int, p part) error { return p.loaded.Rescore(w, classes) })
	return l.s.sum(err, l.s.print(w))
}

func (l *loaded) Scores(dst []float32, from, to int) error {
	err := l.s.agree(l.each(func(_ int, p part) error {
		first, last := max(from, p.from), min(to, p.to)
		if first >= last {
			return nil
		}
		return p.loaded.Scores(dst[(first-from)*l.q:(last-from)*l.q], first-p.from, last-p.from)
	}))
	if err != nil {
		return err
	}
	return l.s.gatherScores(dst, l.cuts, from, to, l.q)
}

// gatherScores makes dst, scores of examples from..to-1, complete on every rank.
func (s *driver) gatherScores(dst []float32, c cuts, from, to, q int) error {
	ends := s.byRank(c)
	for k, end := range ends {
		ends[k] = min(max(end, from), to) - from
	}
	return Gather(s.ctx, s.Reducer, dst, q, ends)
}

func (l *loaded) Predict(dst []int32) error {
	err := l.s.agree(l.each(func(_ int, p part) error {
		return p.loaded.Predict(dst[p.from:p.to])
	}))
	if err != nil {
		return err
	}
	return Gather(l.s.ctx, l.s.Reducer, dst, 1, l.s.byRank(l.cuts))
}

// cells adds up the counts and class sums of the shards, and computes update vectors on the host.
type cells struct {
	loaded
	fixed   numerics.FixedPoint
	regions []int64 // N of the last assignment, Q×Q
	sums    []int64 // Γ of all examples, Q×Q×d, where fresh
	fresh   []bool  // whether the sums of each region are up to date
}

// Assign: counts add up (clause 5).
func (c *cells) Assign(alpha float32) (engine.Assignment, error) {
	found := make([]engine.Assignment, len(c.parts))
	err := c.each(func(i int, p part) (err error) {
		found[i], err = p.loaded.(engine.LoadedCells).Assign(alpha)
		return err
	})
	a := engine.Assignment{Regions: make([]int64, c.q*c.q), Predicted: make([]int64, c.q*c.q)}
	moved := []int64{0}
	if err == nil {
		for _, f := range found {
			lists.Add(a.Regions, f.Regions)
			lists.Add(a.Predicted, f.Predicted)
			moved[0] += int64(f.Moved)
		}
	}
	if err := c.s.sum(err, int64(math.Float32bits(alpha)), a.Regions, a.Predicted, moved); err != nil {
		return engine.Assignment{}, err
	}
	a.Moved = int(moved[0])
	if a.Moved > 0 {
		clear(c.fresh)
	}
	copy(c.regions, a.Regions)
	return a, nil
}

// region returns Γ[p], Q×d row-major, once fetch has fetched it.
func (c *cells) region(p int) []int64 {
	size := c.q * c.d
	return c.sums[p*size : (p+1)*size]
}

// fetch adds up the class sums of some regions, unless they are fresh.
func (c *cells) fetch(regions ...int) (err error) {
	stale := slices.DeleteFunc(regions, func(p int) bool { return c.fresh[p] })
	if len(stale) == 0 {
		return nil
	}
	var whole [][]int64
	for _, p := range stale {
		whole = append(whole, c.region(p))
		if err == nil {
			err = c.add(c.region(p), func(_ int, own part, sums []int64) error {
				return own.loaded.(engine.LoadedCells).ClassSums(sums, p)
			})
		}
	}
	if err := c.s.sum(err, 0, whole...); err != nil {
		return err
	}
	for _, p := range stale {
		c.fresh[p] = true
	}
	return nil
}

func (c *cells) ClassSums(dst []int64, p int) error {
	if err := c.fetch(p); err != nil {
		return err
	}
	copy(dst, c.region(p))
	return nil
}

// updateGrain is the number of multiplications that are worth a processor.
const updateGrain = 100000

// updateVector writes z_pq to dst (clause 6).
func (c *cells) updateVector(dst []float32, z engine.Pair, inv []float32) {
	engine.UpdateVector(dst, c.region(z.P), inv[z.Q*c.q:(z.Q+1)*c.q], c.fixed)
}

// Norms: clause 6.
func (c *cells) Norms(dst, inv []float32) error {
	full := lists.Where(c.q, func(p int) bool { return slices.Max(c.regions[p*c.q:(p+1)*c.q]) > 0 })
	if err := c.fetch(slices.Clone(full)...); err != nil {
		return err
	}
	clear(dst)
	parallel.Ranges(len(full), 1+updateGrain/(c.q*c.q*c.d), func(from, to int) {
		z := make([]float32, c.d)
		for _, p := range full[from:to] {
			for q := range c.q {
				c.updateVector(z, engine.Pair{P: p, Q: q}, inv)
				dst[p*c.q+q] = numerics.Dot(z, z)
			}
		}
	})
	return nil
}

// UpdateVectors: clause 6.
func (c *cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	var regions []int
	for _, z := range pairs {
		if !slices.Contains(regions, z.P) {
			regions = append(regions, z.P)
		}
	}
	if err := c.fetch(regions...); err != nil {
		return err
	}
	parallel.Ranges(len(pairs), 1+updateGrain/(c.q*c.d), func(from, to int) {
		for i := from; i < to; i++ {
			c.updateVector(dst[i*c.d:(i+1)*c.d], pairs[i], inv)
		}
	})
	return nil
}

// evaluator adds up the weighted sums and losses of the shards (clauses 14 and 16).
type evaluator struct{ loaded }

func (v *evaluator) SetTargets(t engine.Targets) error {
	return v.s.agree(v.each(func(_ int, p part) error {
		return p.loaded.(engine.LoadedEvaluator).SetTargets(targetsOf(t, p.from, p.to, v.q))
	}))
}

// targetsOf returns the targets of examples from..to-1.
func targetsOf(t engine.Targets, from, to, q int) engine.Targets {
	if t.Row != nil {
		t.Row = t.Row[from:to]
	} else {
		t.Values = t.Values[from*q : to*q]
	}
	if t.Weight != nil {
		t.Weight = t.Weight[from:to]
	}
	return t
}

func (v *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	found := make([]engine.Evaluation, len(v.parts))
	err := v.add(sums, func(i int, p part, sums []int64) (err error) {
		found[i], err = p.loaded.(engine.LoadedEvaluator).Evaluate(sums, w)
		return err
	})
	numbers := []int64{0, 0}
	for _, f := range found {
		lists.Add(numbers, []int64{f.Loss, f.Refused})
	}
	if err := v.s.sum(err, v.s.print(w), sums, numbers); err != nil {
		return engine.Evaluation{}, err
	}
	return engine.Evaluation{Loss: numbers[0], Refused: numbers[1]}, nil
}

func (v *evaluator) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / v.n
	err := v.add(sums, func(_ int, p part, sums []int64) error {
		return p.loaded.(engine.LoadedEvaluator).WeightedSums(sums, a[p.from*count:p.to*count])
	})
	return v.s.sum(err, 0, sums)
}
