//go:build cgo && !noopencl

package gpu

import (
	"errors"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/sketch"
)

// bounds are what spares scoring most examples in most steps: a sketch of each
// example, and how far its scores may be off. While there are bounds, Rescore only
// takes note; Assign moves the estimates, lists the examples whose region that leaves
// open, and scores these.
type bounds struct {
	basis   *sketch.Basis
	history *sketch.History
	depth   int // directions on the device: basis.K rounded up to a multiple of 4

	dirty  sketch.Classes // classes whose weights are not those of the history
	loose  bool           // some scores are estimates
	shifts [][]float64    // of the changed classes, in the assignment under way

	numbers *buffer[float32] // changes in the units of a tile, and slack; see kernels/bound.cl
	errors  *buffer[float32] // of the history
	which   *buffer[int32]   // changed classes
	list    *buffer[int32]   // examples of one tile to score

	pace   sketch.Pace
	listed int // examples that the assignment under way lists
}

// tileBounds is the sketch of a tile.
type tileBounds struct {
	*sketch.Tile
	sketch *buffer[int8]
	about  *buffer[float32]
	scored *buffer[int32]
}

func (b *bounds) free() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.numbers.free(), b.errors.free(), b.which.free(), b.list.free())
}

func (b *tileBounds) free() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.sketch.free(), b.about.free(), b.scored.free())
}

// settle makes all scores exact.
func (r *resident) settle() error {
	b := r.bounds
	if b == nil {
		return nil
	}
	changed := b.dirty.List()
	if len(changed) == 0 && !b.loose {
		return nil
	}
	classes := changed
	if b.loose {
		classes = all(r.q)
	}
	if err := r.rescore(r.w, classes); err != nil {
		return err
	}
	b.loose = false
	clear(b.dirty)
	b.history.Fresh(r.w.Row, changed)
	for _, t := range r.tiles {
		if err := t.bounds.scored.fill(int32(b.history.Round())); err != nil {
			return err
		}
	}
	return nil
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
	b.pace.Next(b.listed, r.n)
	b.listed = 0
	if !b.pace.InUse {
		return r.settle()
	}
	classes, ok := b.dirty.List(), false
	if b.shifts, ok = b.history.Next(r.w.Row, classes); !ok {
		b.pace.InUse = false
		return r.settle()
	}
	clear(b.dirty)
	b.loose = b.loose || len(classes) > 0
	if err := b.which.write(0, indices(classes)); err != nil {
		return err
	}
	h := b.history
	errors := make([]float32, 0, 2*len(h.Eta))
	for k, eta := range h.Eta {
		errors = append(errors, eta, h.Theta[k])
	}
	if err := b.errors.write(0, errors); err != nil {
		return err
	}
	if r.classes.n == r.q { // one batch for all tiles
		return r.useWeights(r.w, all(r.q))
	}
	return nil
}

// assignBounded is kernel assign for a tile with bounds.
func (r *resident) assignBounded(t *tile, alpha float32) error {
	b, e := r.bounds, r.e
	numbers := make([]float32, 0, b.numbers.n)
	for _, shift := range b.shifts {
		coef := t.bounds.Coef(shift)
		numbers = append(numbers, coef...)
		numbers = append(numbers, make([]float32, b.depth-len(coef))...)
	}
	for c := range r.q {
		numbers = append(numbers, b.history.Slack(c))
	}
	if err := b.numbers.write(0, numbers); err != nil {
		return err
	}
	items := e.blocks(t)
	m, now := len(b.shifts), int32(b.history.Round())
	err := e.bound.launch(items, 1, t.bounds.sketch, t.bounds.about, b.numbers, b.which, b.errors, t.scores, t.bounds.scored, t.place, b.list, r.ints,
		uint64(items), int32(t.rows), int32(r.q), int32(b.depth), int32(m), int32(b.history.Span), now, alpha)
	if err != nil {
		return err
	}
	e.q.work.ExampleBytes += int64(t.rows) * int64(b.depth+4*(2+r.q+m+2)) // the sketch, and 4 bytes for each other number of an example
	if err := r.scoreListed(t); err != nil {
		return err
	}
	return e.assignListed.launch(min(t.rows, e.crowd()), 1, t.scores, t.bounds.scored, t.place, b.list, r.ints,
		int32(t.rows), int32(r.q), now, alpha)
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
