package simd

import (
	"github.com/uma-gpu/uma-gpu/host/sketch"
)

// bounds are what spares scoring most examples in most steps (package host/sketch):
// a sketch of each example, and how far its scores may be off. While there are
// bounds, Rescore only takes note; Assign moves the estimates, lists the examples
// whose place that leaves open, and scores these.
type bounds struct {
	history *sketch.History
	tile    *sketch.Tile // without its numbers, which follow
	depth   int          // directions in sketch: those of the tile, made even by one of nothing
	sketch  []int8       // [(block·depth + direction)·16 + lane]
	rho, nu []float32
	scored  []int32 // where the errors of the round begin in which an example was scored

	dirty sketch.Classes // classes whose weights are not those of the history
	loose bool           // some scores are estimates
	pace  sketch.Pace

	// Of the assignment under way.
	changes []pass    // of estimates, two classes each
	slack   []float32 // of each class
	open    []uint16  // one bit for each example: its place is not sure
	list    []int32   // those examples
	before  []int32   // their places
	summed  []uint16  // one bit for each of them: it moved, and is in a group of a worker
}

// all returns the classes 0..q-1.
func all(q int) []int {
	classes := make([]int, q)
	for c := range classes {
		classes[c] = c
	}
	return classes
}

// settle makes all scores exact.
func (r *resident) settle() {
	b := r.bounds
	if b == nil {
		return
	}
	changed := b.dirty.List()
	if len(changed) == 0 && !b.loose {
		return
	}
	classes := changed
	if b.loose {
		classes = all(r.q)
	}
	r.rescore(r.w, classes)
	b.loose = false
	clear(b.dirty)
	b.history.Fresh(r.w.Row, changed)
	b.fresh()
}

// fresh notes that all examples were scored in the present round.
func (b *bounds) fresh() {
	now := b.now()
	for i := range b.scored {
		b.scored[i] = now
	}
}

// now is where the errors of the present round begin. Those of the round that began
// there before are lost, and its examples open.
func (b *bounds) now() int32 { return int32(b.history.Slot() * b.history.Q) }

// prepareBounds begins an assignment: it makes the bounds when their time has come,
// and decides whether to use them.
func (r *resident) prepareBounds() error {
	r.steps++
	if r.bounds == nil && r.wantsBounds() {
		if err := r.startBounds(); err != nil {
			return err
		}
	}
	b := r.bounds
	if b == nil {
		return nil
	}
	b.pace.Next(len(b.list), r.x.N)
	b.list = b.list[:0]
	if !b.pace.InUse {
		r.settle()
		return nil
	}
	classes := b.dirty.List()
	shifts, ok := b.history.Next(r.w.Row, classes)
	if !ok {
		b.pace.InUse = false
		r.settle()
		return nil
	}
	clear(b.dirty)
	b.loose = b.loose || len(classes) > 0
	b.change(classes, shifts)
	r.plan(all(r.q), r.k.few, r.k.wide)
	r.pack(r.w)
	return nil
}

// change prepares the changes of estimates of classes that shift in the directions.
func (b *bounds) change(classes []int, shifts [][]float64) {
	b.changes = b.changes[:0]
	for at := 0; at < len(classes); at += 2 {
		p := pass{w: make([]float32, 2*b.depth)}
		for k := range 2 {
			c := min(at+k, len(classes)-1) // the last stands for one that is missing
			p.lines = append(p.lines, classes[c]*lanes)
			for t, v := range b.tile.Coef(shifts[c]) {
				p.w[2*t+k] = v
			}
		}
		b.changes = append(b.changes, p)
	}
	for c := range b.slack {
		b.slack[c] = b.history.Slack(c)
	}
}
