//go:build cgo && !noopencl

package gpu

import (
	"errors"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/sketch"
)

// bounds are what spares scoring most examples in most steps: a sketch of each
// example, and how far its scores may be off. While there are bounds, Rescore only
// takes note; Assign moves the estimates, lists the examples whose region that leaves
// open, and scores these.
type bounds struct {
	basis *sketch.Basis
	depth int // directions on the device: basis.K rounded up to a multiple of 4

	scored  engine.Weights  // W that the scores stand for, exact or estimated
	dirty   []bool          // classes whose rows of the resident's w and of scored differ
	longest []float64       // that a class's weights have been
	changes []sketch.Change // of the assignment under way
	loose   bool            // some scores are estimates

	numbers *buffer[float32] // changes in the units of a tile, see kernels/bound.cl
	which   *buffer[int32]   // classes that they change
	list    *buffer[int32]   // examples of one tile to score

	inUse  bool // in the assignment under way
	listed int  // examples that it lists
	rest   int  // assignments still to go without bounds
	pause  int  // how many they were the last time
}

// tileBounds is the sketch of a tile.
type tileBounds struct {
	*sketch.Tile
	sketch *buffer[int8]
	about  *buffer[float32]
	radius *buffer[float32]
}

func (b *bounds) free() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.numbers.free(), b.which.free(), b.list.free())
}

func (b *tileBounds) free() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.sketch.free(), b.about.free(), b.radius.free())
}

// note notes that the weights w of some classes are new.
func (b *bounds) note(w engine.Weights, classes []int) {
	for _, c := range classes {
		b.dirty[c] = true
		b.longest[c] = max(b.longest[c], sketch.Length(w.Row(c)))
	}
}

// changed returns the classes whose weights are new.
func (b *bounds) changed() []int {
	var classes []int
	for c, dirty := range b.dirty {
		if dirty {
			classes = append(classes, c)
		}
	}
	return classes
}

// settle makes all scores exact.
func (r *resident) settle() error {
	b := r.bounds
	if b == nil {
		return nil
	}
	classes := b.changed()
	if b.loose {
		classes = all(r.q)
		for _, t := range r.tiles {
			if err := t.bounds.radius.fill(0); err != nil {
				return err
			}
		}
	}
	if err := r.rescore(r.w, classes); err != nil {
		return err
	}
	b.loose = false
	b.took(r.w, classes)
	return nil
}

// took notes that the scores of some classes stand for w now.
func (b *bounds) took(w engine.Weights, classes []int) {
	for _, c := range classes {
		copy(b.scored.Row(c), w.Row(c))
		b.dirty[c] = false
	}
}

// all returns the classes 0..q-1.
func all(q int) []int {
	classes := make([]int, q)
	for c := range classes {
		classes[c] = c
	}
	return classes
}

// prepareBounds begins an assignment: it makes the bounds when their time has come,
// and decides whether to use them. Where they leave most examples open, they rest
// for a while, and longer the next time.
func (r *resident) prepareBounds() error {
	r.steps++
	if r.bounds == nil && r.e.build.wantsBounds(r) {
		if err := r.startBounds(); err != nil {
			return err
		}
	}
	b := r.bounds
	if b == nil {
		return nil
	}
	switch {
	case b.inUse && b.listed > r.n/2:
		b.pause = min(2*b.pause+1, 31)
		b.rest = b.pause
	case b.inUse:
		b.pause = 0
	}
	b.listed, b.inUse = 0, b.rest == 0
	if !b.inUse {
		b.rest--
		return r.settle()
	}
	classes, ok := b.changed(), false
	if b.changes, ok = b.changesTo(r.w, classes); !ok {
		b.inUse = false
		return r.settle()
	}
	b.took(r.w, classes)
	b.loose = b.loose || len(classes) > 0
	if err := b.which.write(0, indices(classes)); err != nil {
		return err
	}
	if r.classes.n == r.q { // one batch for all tiles
		return r.useWeights(r.w, all(r.q))
	}
	return nil
}

// changesTo describes how the weights of some classes changed since they were scored.
func (b *bounds) changesTo(w engine.Weights, classes []int) (changes []sketch.Change, ok bool) {
	delta := make([]float64, w.D)
	for _, c := range classes {
		now, before := w.Row(c), b.scored.Row(c)
		for j := range delta {
			delta[j] = float64(now[j]) - float64(before[j])
		}
		change, ok := b.basis.Change(delta, b.longest[c])
		if !ok {
			return nil, false
		}
		changes = append(changes, change)
	}
	return changes, true
}

// assignBounded is kernel assign for a tile with bounds.
func (r *resident) assignBounded(t *tile, alpha float32) error {
	b, e := r.bounds, r.e
	numbers := make([]float32, 0, b.numbers.n)
	for _, c := range b.changes {
		estimate := t.bounds.Estimate(c)
		numbers = append(numbers, estimate.Coef...)
		numbers = append(numbers, make([]float32, b.depth-len(estimate.Coef))...)
		numbers = append(numbers, estimate.Eta, estimate.Theta)
	}
	for _, longest := range b.longest {
		numbers = append(numbers, t.bounds.Slack(longest))
	}
	if err := b.numbers.write(0, numbers); err != nil {
		return err
	}
	items := t.stride
	if e.cpu {
		items /= lanes
	}
	m := len(b.changes)
	err := e.bound.launch(items, 1, t.bounds.sketch, t.bounds.about, b.numbers, b.which, t.scores, t.bounds.radius, t.place, b.list, r.ints,
		uint64(items), int32(t.rows), int32(r.q), int32(b.depth), int32(m), alpha)
	if err != nil {
		return err
	}
	e.q.work.ExampleBytes += int64(t.rows) * int64(b.depth+4*(2+2*r.q+2*m+1))
	if err := r.scoreListed(t); err != nil {
		return err
	}
	return e.assignListed.launch(min(t.rows, e.crowd()), 1, t.scores, t.bounds.radius, t.place, b.list, r.ints,
		int32(t.rows), int32(r.q), alpha)
}

// scoreListed scores the listed examples of a tile for all classes.
func (r *resident) scoreListed(t *tile) error {
	for from := 0; from < r.q; from += r.classes.n {
		batch := all(r.q)[from:min(from+r.classes.n, r.q)]
		if len(batch) < r.q {
			if err := r.useWeights(r.w, batch); err != nil {
				return err
			}
		}
		on, listed := r.onDevice, int32(1)
		if t.streamed() {
			rows, err := r.readList(t)
			if err != nil {
				return err
			}
			if len(rows) <= t.rows/4 {
				listed = 2
				on = func(t *tile, f func(arrays) (*cl.Event, error)) error { return r.gather(t, rows, f) }
			}
		}
		err := on(t, func(x arrays) (*cl.Event, error) {
			return r.scoreDense(t, x, len(batch), r.bounds.list, listed)
		})
		if err := errors.Join(err, r.drain()); err != nil {
			return err
		}
	}
	return nil
}

// readList returns the examples of a tile that kernel bound listed.
func (r *resident) readList(t *tile) ([]int32, error) {
	counts := make([]int32, head)
	if err := r.ints.read(counts, 0); err != nil {
		return nil, err
	}
	rows := make([]int32, max(0, min(int(counts[1]), t.rows)))
	return rows, r.bounds.list.read(rows, 0)
}
