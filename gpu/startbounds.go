//go:build cgo && !noopencl

package gpu

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// Sketch implements sketch.Rescorer.
func (k rescorer) Sketch(basis *sketch.Basis, span int) (tiles []*sketch.Tile, err error) {
	r := k.r
	s := &sketches{basis: basis, depth: (basis.K + 3) / 4 * 4, own: buffers{q: r.e.q}}
	if err := r.sketchAll(s, span); err != nil {
		for _, t := range r.tiles {
			t.sketch = nil
		}
		return nil, errors.Join(err, s.free())
	}
	r.sketches = s
	for _, t := range r.tiles {
		tiles = append(tiles, t.sketch.Tile)
	}
	return tiles, nil
}

func (r *resident) sketchAll(s *sketches, span int) (err error) {
	o, largest := &s.own, 0
	for _, t := range r.tiles {
		largest = max(largest, t.stride)
	}
	for _, size := range []int{largest * s.depth, 4 * many * r.d, 4 * many * largest} {
		_, err := fit("a sketch", 1, size, r.e.maxAlloc)
		o.note(err)
	}
	s.numbers = alloc[float32](o, "changes", r.q*(s.depth+1))
	s.errors = alloc[float32](o, "errors", 2*span*r.q)
	s.which = alloc[int32](o, "changed classes", r.q)
	s.list = alloc[int32](o, "examples to score", largest)
	// Dot products with the directions are computed as scores of classes.
	rest := buffers{q: r.e.q, err: o.err}
	p := &projector{r: r, basis: s.basis,
		weights: alloc[float32](&rest, "directions", many*r.d),
		classes: upload(&rest, "directions", indices(sketch.All(many))),
		lines:   alloc[float32](&rest, "projections", many*largest)}
	defer func() { err = errors.Join(err, rest.free()) }()
	if rest.err != nil {
		return rest.err
	}
	for _, t := range r.tiles {
		if err := r.sketchTile(s, t, p); err != nil {
			return err
		}
	}
	return nil
}

// sketchTile makes the sketch of a tile.
func (r *resident) sketchTile(s *sketches, t *tile, p *projector) error {
	projections, err := p.project(t)
	if err != nil {
		return err
	}
	x := r.x.X[t.from*r.d : (t.from+t.rows)*r.d]
	t.sketch = &tileSketch{Tile: s.basis.Sketch(x, projections, t.stride)}
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
	about := make([]float32, 2*t.stride)
	copy(about, t.sketch.Rho)
	copy(about[t.stride:], t.sketch.Nu)
	t.sketch.Q, t.sketch.Rho, t.sketch.Nu = nil, nil, nil // the device has them
	t.sketch.sketch = upload(&s.own, "sketch", packed)
	t.sketch.about = upload(&s.own, "lengths", about)
	t.sketch.scored = filled[int32](&s.own, "rounds", t.rows, 0)
	return s.own.err
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
		err := r.onDevice(t, func(x arrays) error {
			return r.e.dense[t.width].scoreMany.launch(r.e.scoreItems(t.rows, 0), 1,
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
