package shard

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// cells adds up the counts and class sums of the shards; update vectors are made of the sums on
// the host.
type cells struct {
	scorer
	fixed   numerics.FixedPoint
	regions []int64 // N of the last assignment, Q×Q
	sums    []int64 // Γ of the whole, Q×Q×d, where fresh
	fresh   []bool  // whether the sums of each region are those of the last assignment

	inverse []float32 // B, Q×Q, that norms are of
	norms   []float32 // ‖z_pq‖², Q×Q
	known   []bool    // regions whose norms are those of the sums
}

func (r *cells) FixedPoint() numerics.FixedPoint { return r.fixed }

// Assign: counts add up (clause 5).
func (r *cells) Assign(alpha float32) (engine.Assignment, error) {
	found := make([]engine.Assignment, len(r.parts))
	err := r.all(func(i int, p part) (err error) {
		found[i], err = p.cells.Assign(alpha)
		return err
	})
	a := engine.Assignment{Regions: make([]int64, r.q*r.q), Predicted: make([]int64, r.q*r.q)}
	moved := []int64{0}
	if err == nil {
		for _, f := range found {
			lists.Add(a.Regions, f.Regions)
			lists.Add(a.Predicted, f.Predicted)
			moved[0] += int64(f.Moved)
		}
	}
	if err := r.e.sum(err, int64(math.Float32bits(alpha)), a.Regions, a.Predicted, moved); err != nil {
		return engine.Assignment{}, err
	}
	a.Moved = int(moved[0])
	if a.Moved > 0 {
		clear(r.fresh)
	}
	copy(r.regions, a.Regions)
	return a, nil
}

// region returns Γ[p], Q×d row-major, once fetch has fetched it.
func (r *cells) region(p int) []int64 {
	size := r.q * r.d
	return r.sums[p*size : (p+1)*size]
}

// fetch makes the class sums of some regions those of the whole.
func (r *cells) fetch(regions ...int) (err error) {
	stale := slices.DeleteFunc(regions, func(p int) bool { return r.fresh[p] })
	if len(stale) == 0 {
		return nil
	}
	var whole [][]int64
	for _, p := range stale {
		whole = append(whole, r.region(p))
		if err == nil {
			err = r.addAll(r.region(p), func(_ int, own part, sums []int64) error {
				return own.cells.ClassSums(sums, p)
			})
		}
	}
	if err := r.e.sum(err, 0, whole...); err != nil {
		return err
	}
	for _, p := range stale {
		r.fresh[p], r.known[p] = true, false
	}
	return nil
}

func (r *cells) ClassSums(dst []int64, p int) error {
	if err := r.fetch(p); err != nil {
		return err
	}
	copy(dst, r.region(p))
	return nil
}

// evaluator adds up the weighted sums and losses of the shards (clauses 14 and 16).
type evaluator struct {
	scorer
	fixed numerics.FixedPoint
}

func (r *evaluator) FixedPoint() numerics.FixedPoint { return r.fixed }

func (r *evaluator) SetTargets(t engine.Targets) error {
	return r.e.agree(r.all(func(_ int, p part) error {
		part := t
		if t.Row != nil {
			part.Row = t.Row[p.from:p.to]
		} else {
			part.Values = t.Values[p.from*r.q : p.to*r.q]
		}
		if t.Weight != nil {
			part.Weight = t.Weight[p.from:p.to]
		}
		return p.evaluator.SetTargets(part)
	}))
}

func (r *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	found := make([]engine.Evaluation, len(r.parts))
	err := r.addAll(sums, func(i int, p part, sums []int64) (err error) {
		found[i], err = p.evaluator.Evaluate(sums, w)
		return err
	})
	numbers := []int64{0, 0}
	for _, f := range found {
		lists.Add(numbers, []int64{f.Loss, f.Refused})
	}
	if err := r.e.sum(err, r.e.print(w), sums, numbers); err != nil {
		return engine.Evaluation{}, err
	}
	return engine.Evaluation{Loss: numbers[0], Refused: numbers[1]}, nil
}

func (r *evaluator) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / r.n
	err := r.addAll(sums, func(_ int, p part, sums []int64) error {
		return p.evaluator.WeightedSums(sums, a[p.from*count:p.to*count])
	})
	return r.e.sum(err, 0, sums)
}

// updateGrain is how many multiplications are worth a processor.
const updateGrain = 100000

// updateVector writes z_pq to dst (clause 6).
func (r *cells) updateVector(dst []float32, z engine.Pair, inv []float32) {
	engine.UpdateVector(dst, r.region(z.P), inv[z.Q*r.q:(z.Q+1)*r.q], r.fixed)
}

// Norms computes the norms of the regions that changed since the last call (clause 6).
func (r *cells) Norms(dst, inv []float32) error {
	if !slices.Equal(inv, r.inverse) {
		r.inverse = append(r.inverse[:0], inv...)
		clear(r.known)
	}
	full := lists.Where(r.q, func(p int) bool { return slices.Max(r.regions[p*r.q:(p+1)*r.q]) > 0 })
	if err := r.fetch(slices.Clone(full)...); err != nil {
		return err
	}
	news := lists.Keep(full, func(p int) bool { return !r.known[p] })
	parallel.Ranges(len(news), 1+updateGrain/(r.q*r.q*r.d), func(from, to int) {
		z := make([]float32, r.d)
		for _, p := range news[from:to] {
			for q := range r.q {
				r.updateVector(z, engine.Pair{P: p, Q: q}, inv)
				r.norms[p*r.q+q] = numerics.Dot(z, z)
			}
		}
	})
	clear(dst)
	for _, p := range full {
		r.known[p] = true
		copy(dst[p*r.q:(p+1)*r.q], r.norms[p*r.q:])
	}
	return nil
}

// UpdateVectors: clause 6.
func (r *cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	var regions []int
	for _, z := range pairs {
		if !slices.Contains(regions, z.P) {
			regions = append(regions, z.P)
		}
	}
	if err := r.fetch(regions...); err != nil {
		return err
	}
	parallel.Ranges(len(pairs), 1+updateGrain/(r.q*r.d), func(from, to int) {
		for i := from; i < to; i++ {
			r.updateVector(dst[i*r.d:(i+1)*r.d], pairs[i], inv)
		}
	})
	return nil
}
