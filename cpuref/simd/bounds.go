package simd

import (
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// sketches are what spares scoring most examples in most steps (package internal/sketch),
// as far as it lies here: while there are bounds, Assign moves the estimates, lists the
// examples whose place that leaves open, and scores these.
type sketches struct {
	tile    *sketch.Tile // without its numbers, which follow
	depth   int          // directions in sketch: those of the tile, made even by one of nothing
	sketch  []int8       // [(block·depth + direction)·16 + lane]
	rho, nu []float32
	scored  []int32 // where the errors of the round begin in which an example was scored

	// Of the assignment under way.
	changes []pass    // of estimates, two classes each
	slack   []float32 // of each class
	open    []uint16  // one bit for each example: its place is not sure
	list    []int32   // those examples
	before  []int32   // their places
	summed  []uint16  // one bit for each of them: it moved, and is in a group of a worker
}

// rescorer is a resident as its bounds see it.
type rescorer struct{ r *resident }

func (k rescorer) Score(classes []int) error {
	k.r.rescore(k.r.bounds.W, classes)
	return nil
}

func (k rescorer) Scored() error {
	now := k.r.now()
	for i := range k.r.sketches.scored {
		k.r.sketches.scored[i] = now
	}
	return nil
}

// now is where the errors of the present round begin. Those of the round that began
// there before are lost, and its examples open.
func (r *resident) now() int32 { return int32(r.bounds.History.Slot() * r.q) }

// Sketch implements sketch.Rescorer.
func (k rescorer) Sketch(basis *sketch.Basis, span int) ([]*sketch.Tile, error) {
	r, depth, n := k.r, basis.K, k.r.blocks*lanes
	// Dot products with the directions, as scores of classes.
	r.plan(sketch.All(depth), r.k.widths)
	r.pack(engine.Weights{Q: depth, D: r.x.D, W: basis.V})
	lines := make([]float32, depth*n)
	score := func(r *resident, task int, own *worker) {
		from, to := r.denseBlocks(task)
		products := own.floats[:(to-from)*depth*lanes]
		r.scoreDense(from, to, products, depth*lanes)
		for at := 0; at < len(products); at += lanes {
			t, block := at/lanes%depth, from+at/(depth*lanes)
			copy(lines[t*n+block*lanes:], products[at:at+lanes])
		}
	}
	r.sweep(score, r.denseTasks(), r.dense.blocksPerTask()*lanes, n*r.x.D*depth,
		r.dense.blocksPerTask()*depth*lanes)
	r.read()

	tile := basis.Sketch(r.x.X, lines, n)
	s := &sketches{
		tile: tile, depth: (depth + 1) / 2 * 2, rho: padded(tile.Rho, n), nu: padded(tile.Nu, n),
		scored: make([]int32, n), slack: make([]float32, r.q),
		open: make([]uint16, r.blocks), before: make([]int32, n), summed: make([]uint16, r.blocks),
	}
	s.sketch = make([]int8, s.depth*n)
	for t := range depth {
		for i, v := range tile.Q[t*r.x.N : (t+1)*r.x.N] {
			s.sketch[(i/lanes*s.depth+t)*lanes+i%lanes] = v
		}
	}
	tile.Q, tile.Rho, tile.Nu = nil, nil, nil
	r.sketches = s
	return []*sketch.Tile{tile}, nil
}

// padded returns v with zeros behind it, n values.
func padded(v []float32, n int) []float32 { return append(v, make([]float32, n-len(v))...) }

// prepareBounded prepares an assignment that uses bounds: the weights of all classes, for
// the examples that are open, and the changes of the estimates.
func (r *resident) prepareBounded() {
	b, s := r.bounds, r.sketches
	r.plan(sketch.All(r.q), r.k.widths)
	r.pack(b.W)
	s.list, s.changes = s.list[:0], s.changes[:0]
	for at := 0; at < len(b.Changed); at += 2 {
		p := pass{w: make([]float32, 2*s.depth)}
		for k := range 2 {
			c := min(at+k, len(b.Changed)-1) // the last stands for one that is missing
			p.lines = append(p.lines, b.Changed[c]*lanes)
			for t, v := range s.tile.Coef(b.Shifts[c]) {
				p.w[2*t+k] = v
			}
		}
		s.changes = append(s.changes, p)
	}
	for c := range s.slack {
		s.slack[c] = b.History.Slack(c)
	}
}
