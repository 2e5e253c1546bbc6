package shard

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

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
	var full, news []int // regions that are not empty
	for p := range r.q {
		if slices.Max(r.regions[p*r.q:(p+1)*r.q]) > 0 {
			full = append(full, p)
		}
	}
	if err := r.fetch(slices.Clone(full)...); err != nil {
		return err
	}
	for _, p := range full {
		if !r.known[p] {
			news = append(news, p)
		}
	}
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
