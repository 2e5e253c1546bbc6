//go:build cgo && !noopencl

package gpu

import (
	"errors"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// Sketch implements sketch.Rescorer.
func (k rescorer) Sketch(basis *sketch.Basis, span int) ([]*sketch.Tile, error) {
	r := k.r
	r.sketches = &sketches{basis: basis, depth: (basis.K + 3) / 4 * 4}
	tiles, err := r.sketchAll(span)
	if err == nil {
		return tiles, nil
	}
	errs := []error{r.sketches.free()}
	r.sketches = nil
	for _, t := range r.tiles {
		errs = append(errs, t.sketch.free())
		t.sketch = nil
	}
	return nil, errors.Join(append(errs, err)...)
}

func (r *resident) sketchAll(span int) (tiles []*sketch.Tile, err error) {
	s, q, largest := r.sketches, r.e.q, 0
	for _, t := range r.tiles {
		largest = max(largest, t.stride)
	}
	if _, err = fit("a sketch", largest, s.depth, r.e.maxAlloc); err != nil {
		return nil, err
	}
	if s.numbers, err = alloc[float32](q, "changes", r.q*(s.depth+1)); err != nil {
		return nil, err
	}
	if s.errors, err = alloc[float32](q, "errors", 2*span*r.q); err != nil {
		return nil, err
	}
	if s.which, err = alloc[int32](q, "changed classes", r.q); err != nil {
		return nil, err
	}
	if s.list, err = alloc[int32](q, "examples to score", largest); err != nil {
		return nil, err
	}
	p, err := r.newProjector(s.basis, largest)
	defer func() { err = errors.Join(err, p.free()) }()
	if err != nil {
		return nil, err
	}
	for _, t := range r.tiles {
		if err := r.sketchTile(t, p); err != nil {
			return nil, err
		}
		tiles = append(tiles, t.sketch.Tile)
	}
	return tiles, nil
}

// sketchTile makes the sketch of a tile.
func (r *resident) sketchTile(t *tile, p *projector) (err error) {
	s, q := r.sketches, r.e.q
	projections, err := p.project(t)
	if err != nil {
		return err
	}
	t.sketch = &tileSketch{Tile: s.basis.Sketch(t.dense(r.x.Examples), projections, t.stride)}
	packed := make([]int8, s.depth*t.stride)
	for k := range s.basis.K {
		for i, v := range t.sketch.Q[k*t.rows : (k+1)*t.rows] {
			if r.e.cpu {
				packed[(i/lanes*s.depth+k)*lanes+i%lanes] = v
			} else {
				packed[(k/4*t.stride+i)*4+k%4] = v
			}
		}
	}
	t.sketch.Q = nil // the device has it
	if t.sketch.sketch, err = upload(q, "sketch", packed); err != nil {
		return err
	}
	about := make([]float32, 2*t.stride)
	copy(about, t.sketch.Rho)
	copy(about[t.stride:], t.sketch.Nu)
	t.sketch.Rho, t.sketch.Nu = nil, nil
	if t.sketch.about, err = upload(q, "lengths", about); err != nil {
		return err
	}
	if t.sketch.scored, err = alloc[int32](q, "rounds", t.rows); err != nil {
		return err
	}
	return t.sketch.scored.fill(0)
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
	if p.classes, err = upload(q, "directions", indices(sketch.All(many))); err != nil {
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
		if err := p.weights.write(0, pack(directions, sketch.All(directions.Q)[from:from+m],
			many)); err != nil {
			return nil, err
		}
		err := r.onDevice(t, func(x arrays) (*cl.Event, error) {
			return r.e.dense[t.width].scoreMany.enqueue(r.e.scoreItems(t.rows, 0), 1,
				append(r.examples(t, x), p.weights, p.classes, r.ints, r.ints, p.lines,
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
