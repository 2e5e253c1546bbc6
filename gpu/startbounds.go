//go:build cgo && !noopencl

package gpu

import (
	"errors"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/sketch"
)

// wantsBounds says whether it is time to make bounds.
func (r *resident) wantsBounds() bool {
	switch when := r.e.build.bounds; {
	case r.unbounded || r.x.Sparse() || when == "never":
		return false
	case when == "at once":
		return true
	}
	return sketch.Pays(r.n, r.d, r.steps)
}

// startBounds makes the bounds; without room for them it leaves the resident as it is.
func (r *resident) startBounds() error {
	b := &bounds{dirty: make(sketch.Classes, r.q)}
	err := r.makeBounds(b)
	if err == nil {
		r.bounds = b
		return nil
	}
	errs := []error{b.free()}
	for _, t := range r.tiles {
		errs = append(errs, t.bounds.free())
		t.bounds = nil
	}
	if errors.Is(err, engine.ErrMemory) {
		r.unbounded, err = true, nil
	}
	return errors.Join(append(errs, err)...)
}

func (r *resident) makeBounds(b *bounds) (err error) {
	q := r.e.q
	if b.basis, err = sketch.NewBasis(r.x, sketch.Directions(r.d)); err != nil {
		return err
	}
	b.depth = (b.basis.K + 3) / 4 * 4
	largest := 0
	for _, t := range r.tiles {
		largest = max(largest, t.stride)
	}
	if _, err = fit("a sketch", largest, b.depth, r.e.maxAlloc); err != nil {
		return err
	}
	if b.numbers, err = alloc[float32](q, "changes", r.q*(b.depth+1)); err != nil {
		return err
	}
	span := sketch.Span(r.q)
	if r.e.build.bounds == "at once" {
		span = 9 // so that a test sees rounds grow too old
	}
	if b.errors, err = alloc[float32](q, "errors", 2*span*r.q); err != nil {
		return err
	}
	if b.which, err = alloc[int32](q, "changed classes", r.q); err != nil {
		return err
	}
	if b.list, err = alloc[int32](q, "examples to score", largest); err != nil {
		return err
	}
	p, err := r.newProjector(b.basis, largest)
	defer func() { err = errors.Join(err, p.free()) }()
	if err != nil {
		return err
	}
	var tiles []*sketch.Tile
	for _, t := range r.tiles {
		if err := r.sketch(t, b, p); err != nil {
			return err
		}
		tiles = append(tiles, t.bounds.Tile)
	}
	b.history = sketch.NewHistory(b.basis, tiles, r.q, span, r.w.Row)
	return nil
}

// sketch makes the bounds of a tile.
func (r *resident) sketch(t *tile, b *bounds, p *projector) (err error) {
	q := r.e.q
	projections, err := p.project(t)
	if err != nil {
		return err
	}
	t.bounds = &tileBounds{Tile: b.basis.Sketch(t.dense(r.x), projections, t.stride)}
	packed := make([]int8, b.depth*t.stride)
	for k := range b.basis.K {
		for i, v := range t.bounds.Q[k*t.rows : (k+1)*t.rows] {
			if r.e.cpu {
				packed[(i/lanes*b.depth+k)*lanes+i%lanes] = v
			} else {
				packed[(k/4*t.stride+i)*4+k%4] = v
			}
		}
	}
	t.bounds.Q = nil // the device has it
	if t.bounds.sketch, err = upload(q, "sketch", packed); err != nil {
		return err
	}
	about := make([]float32, 2*t.stride)
	copy(about, t.bounds.Rho)
	copy(about[t.stride:], t.bounds.Nu)
	t.bounds.Rho, t.bounds.Nu = nil, nil
	if t.bounds.about, err = upload(q, "lengths", about); err != nil {
		return err
	}
	if t.bounds.scored, err = alloc[int32](q, "rounds", t.rows); err != nil {
		return err
	}
	return t.bounds.scored.fill(0)
}

// projector computes dot products with the directions of a basis, as scores of
// classes.
type projector struct {
	r       *resident
	basis   *sketch.Basis
	weights *buffer[float32]
	classes *buffer[int32]
	lines   *buffer[float32]
}

func (r *resident) newProjector(b *sketch.Basis, largest int) (p *projector, err error) {
	p = &projector{r: r, basis: b}
	q := r.e.q
	for _, size := range []int{many * r.d, many * largest} {
		if _, err := fit("projections", size, 4, r.e.maxAlloc); err != nil {
			return p, err
		}
	}
	if p.weights, err = alloc[float32](q, "directions", many*r.d); err != nil {
		return p, err
	}
	if p.classes, err = upload(q, "directions", indices(all(many))); err != nil {
		return p, err
	}
	p.lines, err = alloc[float32](q, "projections", many*largest)
	return p, err
}

func (p *projector) free() error {
	return errors.Join(p.weights.free(), p.classes.free(), p.lines.free())
}

// project returns the projections of a tile's examples, a line of the tile's stride
// for each direction.
func (p *projector) project(t *tile) ([]float32, error) {
	r := p.r
	directions := engine.Weights{Q: p.basis.K, D: r.d, W: p.basis.V}
	lines, blocks := make([]float32, directions.Q*t.stride), make([]float32, many*t.stride)
	for from := 0; from < directions.Q; from += many {
		m := min(many, directions.Q-from)
		if err := p.weights.write(0, pack(directions, all(directions.Q)[from:from+m], many)); err != nil {
			return nil, err
		}
		err := r.onDevice(t, func(x arrays) (*cl.Event, error) {
			return r.e.dense[t.width].scoreMany.enqueue(r.e.scoreItems(t.rows, 0), 1, append(r.examples(t, x), p.weights, p.classes, r.ints, r.ints, p.lines,
				int32(t.rows), int32(r.d), int32(many), int32(m), int32(0))...)
		})
		if err := errors.Join(err, r.drain()); err != nil {
			return nil, err
		}
		r.e.q.work.ExampleBytes += t.bytes(r.d)
		if err := p.lines.read(blocks, 0); err != nil {
			return nil, err
		}
		for k := range m {
			line := lines[(from+k)*t.stride : (from+k+1)*t.stride]
			for i := range t.rows {
				line[i] = blocks[scoreAt(i, k, many)]
			}
		}
	}
	return lines, nil
}
