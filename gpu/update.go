//go:build linux && cgo && !noopencl

package gpu

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// chunks returns the number of chunks of d columns (clause 1).
func chunks(d int) int { return (d + numerics.Chunk - 1) / numerics.Chunk }

// vectorsAtOnce is the number of update vectors of one launch: all, but at most 16, the vectors of
// a region or 4 MiB.
func vectorsAtOnce(d, q int) int { return min(q*q, max(16, q, 1<<20/d)) }

func (r *resident) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	c := r.cells
	if err := c.useInverse(inv); err != nil {
		return err
	}
	for some := range slices.Chunk(pairs, c.z.n/r.d) {
		index := make([]int32, 0, 2*len(some))
		for _, z := range some {
			index = append(index, int32(z.P), int32(z.Q))
		}
		if err := c.chosen.write(0, index); err != nil {
			return err
		}
		if err := r.e.updateVectors.launch(r.d, len(some), updateVectorsArgs{c.sums, c.inv, c.chosen, c.z,
			r.fixed.Unit(), r.d, r.q}); err != nil {
			return err
		}
		if err := c.z.read(dst[:len(some)*r.d], 0); err != nil {
			return err
		}
		dst = dst[len(some)*r.d:]
	}
	return nil
}

// useInverse brings an inverse to the device, unless it is there.
func (c *cellSums) useInverse(inv []float32) error {
	if slices.Equal(inv, c.inverse) {
		return nil
	}
	c.inverse = nil
	if err := c.inv.write(0, inv); err != nil {
		return err
	}
	c.inverse = slices.Clone(inv)
	for p := range c.stale {
		c.stale[p] = true
	}
	return nil
}

// Norms computes the norms of the regions that changed since the last call; a step moves examples
// of few regions.
func (r *resident) Norms(dst, inv []float32) error {
	c := r.cells
	if err := c.useInverse(inv); err != nil {
		return err
	}
	var regions []int32
	for p, stale := range c.stale {
		switch {
		case !stale:
		case slices.Max(c.regions[p*r.q:(p+1)*r.q]) > 0:
			regions = append(regions, int32(p))
		default: // zero sums, and so zero update vectors
			clear(c.norms[p*r.q : (p+1)*r.q])
		}
	}
	if len(regions) > 0 {
		if err := normsOf(r, regions); err != nil {
			return err
		}
	}
	clear(c.stale)
	copy(dst, c.norms)
	return nil
}

// normsOf computes the norms of some regions.
func normsOf(r *resident, regions []int32) error {
	c := r.cells
	if err := c.chosen.write(0, regions); err != nil {
		return err
	}
	per, pairs := chunks(r.d), len(regions)*r.q
	items := pairs
	if r.e.cpu {
		items = len(regions) * ((r.q + normClasses - 1) / normClasses)
	}
	if err := r.e.norms.launch(items, per, normsArgs{c.sums, c.inv, c.chosen, c.squares,
		r.fixed.Unit(), r.d, r.q, per, len(regions)}); err != nil {
		return err
	}
	partial := make([]float32, pairs*per)
	if err := c.squares.read(partial, 0); err != nil {
		return err
	}
	for t := range pairs {
		var norm float32
		for _, chunk := range partial[t*per : (t+1)*per] {
			norm += chunk
		}
		c.norms[int(regions[t/r.q])*r.q+t%r.q] = norm
	}
	return nil
}
