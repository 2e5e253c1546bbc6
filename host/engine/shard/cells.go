package shard

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
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
			add(a.Regions, f.Regions)
			add(a.Predicted, f.Predicted)
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
