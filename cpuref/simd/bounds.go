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

// assignBounded finds the moves of an assignment that uses bounds.
func (r *resident) assignBounded() {
	r.prepareBounded()
	s, c := r.sketches, r.cells
	n := r.blocks * lanes
	r.run((*resident).boundTask, r.placeTasks(), n*(r.q*boundCost+len(s.changes)*s.depth), 0)
	for i := range ones(s.open, r.x.N) {
		s.list = append(s.list, int32(i))
	}
	listed := len(s.list)
	r.bounds.Open = listed
	tasks := panels(blocksOf(listed), listBlocks)
	r.run((*resident).listTask, tasks, listed*r.x.D*(r.q+listCost), lanes*(r.dense.d+r.q))
	for at := range ones(c.changed[:blocksOf(listed)], listed) {
		r.follow(int(s.list[at]), c.now[at], s.summed[at/lanes]>>(at%lanes)&1 != 0)
	}
	r.e.rescored.Add(int64(listed))
	r.e.exampleBytes.Add(int64(listed) * 4 * int64(r.x.D))
	// The sketch, and 4 bytes for each other number of an example.
	r.e.exampleBytes.Add(int64(r.x.N) * int64(s.depth+4*(2+r.q+2*len(s.changes)+2)))
}

const (
	listBlocks = 4  // blocks of listed examples in a task
	boundCost  = 16 // of a class of an example, beside the multiplication of a dense value
	listCost   = 8  // of a value that is brought from memory
)

// boundTask moves the estimates of the examples of one task and finds those whose
// place is not sure.
func (r *resident) boundTask(task int, _ *worker) {
	s := r.sketches
	from, to := task*placeBlocks, min((task+1)*placeBlocks, r.blocks)
	scores := r.scores[from*r.q*lanes : to*r.q*lanes]
	for _, p := range s.changes {
		r.k.bounds.estimate(s.sketch[from*s.depth*lanes:to*s.depth*lanes], s.depth, p.w, p.lines, scores,
			r.q*lanes)
	}
	h, first, end := r.bounds.History, from*lanes, to*lanes
	r.k.bounds.open(scores, r.q, r.cells.alpha, s.rho[first:end], s.nu[first:end], s.slack, h.Eta,
		h.Theta, s.scored[first:end], r.now(), r.cells.place[first:end], s.open[from:to])
}

// listTask takes some blocks of 16 listed examples.
func (r *resident) listTask(task int, own *worker) {
	list := r.sketches.list
	blocks := blocksOf(len(list))
	if r.window > 0 {
		rows := list[task*listBlocks*lanes : min((task+1)*listBlocks*lanes, len(list))]
		r.x.Pages().FetchSome(int(rows[0]), int(rows[len(rows)-1])+1, len(rows),
			func(k int) int { return int(rows[k]) })
	}
	for k := task * listBlocks; k < min((task+1)*listBlocks, blocks); k++ {
		r.listBlock(k, own)
	}
}

// listBlock scores 16 listed examples for all classes, finds their places, and sums
// the moving ones as far as there is room.
func (r *resident) listBlock(k int, own *worker) {
	s, c, d := r.sketches, r.cells, r.dense.d
	first := k * lanes
	list := s.list[first:min(first+lanes, len(s.list))]
	x, scores := own.floats[:lanes*d], own.floats[lanes*d:]
	row := func(at int) []float32 { return r.dense.row(int(s.list[min(at, len(s.list)-1)])) }
	for l := range lanes {
		from := first + min(l, len(list)-1) // the last example stands for missing ones
		r.k.bounds.copy(x[l*d:(l+1)*d], row(from), row(from+1))
		s.before[first+l] = c.place[s.list[from]]
	}
	for _, p := range r.passes {
		p.dense(r.k)(x, d, 1, p.w, p.lines, scores, r.q*lanes, 0)
	}
	r.k.region(scores, r.q, c.alpha, s.before[first:], c.now[first:], c.changed[k:k+1])
	now := r.now()
	s.summed[k] = 0
	for l, i := range list {
		s.scored[i] = now
		at := int(i)/lanes*r.q*lanes + int(i)%lanes
		for class := range r.q {
			r.scores[at+class*lanes] = scores[class*lanes+l]
		}
		if c.changed[k]>>l&1 == 0 {
			continue
		}
		label := r.y[i]
		from, to := c.cell(s.before[first+l], label, r.q), c.cell(c.now[first+l], label, r.q)
		if from == to || from == noCell || to == noCell {
			continue
		}
		if sum := own.groups.sum(from, to, r.x.D); sum != nil {
			// Examples of the next block are fetched meanwhile.
			r.k.add(sum, x[l*d:l*d+r.x.D], r.fixed.Scale(), row(first + lanes + l)[:r.x.D])
			s.summed[k] |= 1 << l
		}
	}
}
