package simd

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/sketch"
)

// when says when bounds begin.
type when int

const (
	whenTheyPay when = iota
	never
	atOnce // whatever the size: for tests
)

// testSpan is how many rounds are remembered with atOnce, so that a test sees rounds grow
// too old.
const testSpan = 9

// mayBound says whether there will be bounds if there are enough assignments.
func (e *processor) mayBound(x dataset.Examples) bool {
	switch {
	case x.Sparse() || e.bounds == never:
		return false
	case e.bounds == atOnce:
		return true
	}
	return sketch.Pays(x.N, x.D, math.MaxInt)
}

// wantsBounds says whether it is time to make bounds.
func (r *resident) wantsBounds() bool {
	return r.w.W != nil && (r.e.bounds == atOnce || sketch.Pays(r.x.N, r.x.D, r.steps))
}

// startBounds makes the bounds.
func (r *resident) startBounds() error {
	basis, err := sketch.NewBasis(r.x, sketch.Directions(r.x.D))
	if err != nil {
		return err
	}
	k, n := basis.K, r.blocks*lanes
	// Dot products with the directions, as scores of classes.
	r.plan(all(k), r.k.few, r.k.wide)
	r.pack(engine.Weights{Q: k, D: r.x.D, W: basis.V})
	products := make([]float32, n*k)
	r.run(func(r *resident, task int, _ *worker) { r.scoreBlocks(task, products, k*lanes) }, r.denseTasks(), n*r.x.D*k, 0)
	r.e.exampleBytes.Add(4 * int64(r.x.Stored()))
	lines := make([]float32, k*n)
	for at, v := range products {
		lines[at/lanes%k*n+at/(k*lanes)*lanes+at%lanes] = v
	}

	tile := basis.Sketch(r.x.X, lines, n)
	b := &bounds{
		tile: tile, depth: (k + 1) / 2 * 2, rho: padded(tile.Rho, n), nu: padded(tile.Nu, n), scored: make([]int32, n),
		dirty: make(sketch.Classes, r.q), slack: make([]float32, r.q), open: make([]uint16, r.blocks), before: make([]int32, n), summed: make([]uint16, r.blocks),
	}
	b.sketch = make([]int8, b.depth*n)
	for t := range k {
		for i, v := range tile.Q[t*r.x.N : (t+1)*r.x.N] {
			b.sketch[(i/lanes*b.depth+t)*lanes+i%lanes] = v
		}
	}
	tile.Q, tile.Rho, tile.Nu = nil, nil, nil
	span := sketch.Span(r.q)
	if r.e.bounds == atOnce {
		span = testSpan
	}
	b.history = sketch.NewHistory(basis, []*sketch.Tile{tile}, r.q, span, r.w.Row)
	b.fresh()
	r.bounds = b
	return nil
}

// padded returns v with zeros behind it, n values.
func padded(v []float32, n int) []float32 { return append(v, make([]float32, n-len(v))...) }
