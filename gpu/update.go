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
	for len(pairs) > 0 {
		// As many as there is room for, of regions whose sums share a buffer.
		n, first := 0, pairs[0].P/r.cells.perBuffer
		for n < min(len(pairs), r.cells.z.n/r.d) && pairs[n].P/r.cells.perBuffer == first {
			n++
		}
		if err := updateVectorsOf(r, dst[:n*r.d], pairs[:n], inv); err != nil {
			return err
		}
		dst, pairs = dst[n*r.d:], pairs[n:]
	}
	return nil
}

// updateVectorsOf computes as many update vectors as buffer z holds, of regions whose
// class sums share a buffer.
func updateVectorsOf(r *resident, dst []float32, pairs []engine.Pair, inv []float32) error {
	c := r.cells
	if err := c.useInverse(inv); err != nil {
		return err
	}
	index := make([]int32, 0, 2*len(pairs))
	for _, z := range pairs {
		_, at := c.region(z.P)
		index = append(index, int32(at), int32(z.Q))
	}
	if err := c.chosen.write(0, index); err != nil {
		return err
	}
	sums, _ := c.region(pairs[0].P)
	if err := r.e.updateVectors.launch(r.d, len(pairs), updateVectorsArgs{sums, c.inv, c.chosen, c.z,
		r.fixed.Unit(), r.d, r.q}); err != nil {
		return err
	}
	return c.z.read(dst, 0)
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
	var batch []int
	for p := range r.q {
		if c.stale[p] {
			if slices.Max(c.regions[p*r.q:(p+1)*r.q]) > 0 {
				batch = append(batch, p)
			} else { // zero sums, and so zero update vectors
				clear(c.norms[p*r.q : (p+1)*r.q])
				c.stale[p] = false
			}
		}
		last := p == r.q-1 || (p+1)%c.perBuffer == 0
		if len(batch) == c.batch || last && len(batch) > 0 {
			if err := normsOf(r, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	copy(dst, c.norms)
	return nil
}

// normsOf computes the norms of some regions whose class sums share a buffer.
func normsOf(r *resident, regions []int) error {
	c := r.cells
	index := make([]int32, len(regions))
	for i, p := range regions {
		_, at := c.region(p)
		index[i] = int32(at)
	}
	if err := c.chosen.write(0, index); err != nil {
		return err
	}
	sums, _ := c.region(regions[0])
	per := chunks(r.d)
	pairs := len(regions) * r.q
	items := pairs
	if r.e.cpu {
		items = len(regions) * ((r.q + normClasses - 1) / normClasses)
	}
	err := r.e.norms.launch(items, per, normsArgs{sums, c.inv, c.chosen, c.squares, r.fixed.Unit(),
		r.d,
		r.q, per, len(regions)})
	if err != nil {
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
		c.norms[regions[t/r.q]*r.q+t%r.q] = norm
	}
	for _, p := range regions {
		c.stale[p] = false
	}
	return nil
}
