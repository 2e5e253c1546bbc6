package cpuref

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// UpdateVectors: clause 6.
func (r *cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	for i, z := range pairs {
		r.updateVector(dst[i*r.x.D:(i+1)*r.x.D], z.P, z.Q, inv)
	}
	return nil
}

func (r *cells) updateVector(dst []float32, p, q int, inv []float32) {
	size := r.q * r.x.D
	engine.UpdateVector(dst, r.sums[p*size:(p+1)*size], inv[q*r.q:(q+1)*r.q], r.fixed)
}

// Norms: clause 6, every pair.
func (r *cells) Norms(dst, inv []float32) error {
	empty := make([]bool, r.q) // regions without an example, whose update vectors are zero
	for p := range empty {
		empty[p] = slices.Max(r.regions[p*r.q:(p+1)*r.q]) == 0
	}
	parallel.Ranges(r.q*r.q, 8, func(from, to int) {
		z := make([]float32, r.x.D)
		for pq := from; pq < to; pq++ {
			dst[pq] = 0
			if p := pq / r.q; !empty[p] {
				r.updateVector(z, p, pq%r.q, inv)
				dst[pq] = numerics.Dot(z, z)
			}
		}
	})
	return nil
}
