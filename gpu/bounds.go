//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// sketches are what spares scoring most examples in most steps (package internal/sketch),
// as far as it lies here: while there are bounds, Assign moves the estimates, lists the
// examples whose region that leaves open, and scores these.
type sketches struct {
	basis *sketch.Basis
	depth int // directions on the device: basis.K rounded up to a multiple of 4
	own   buffers

	numbers *buffer[float32] // changes in the units of a tile, and slack; see kernels/bound.cl
	errors  *buffer[float32] // of the history
	which   *buffer[int32]   // changed classes
	list    *buffer[int32]   // examples of one tile to score
}

// tileSketch is the sketch of a tile.
type tileSketch struct {
	*sketch.Tile
	sketch *buffer[int8]
	about  *buffer[float32]
	scored *buffer[int32]
}

func (s *sketches) free() error {
	if s == nil {
		return nil
	}
	return s.own.free()
}

// rescorer is a resident as its bounds see it.
type rescorer struct{ r *resident }

func (k rescorer) Score(classes []int) error { return k.r.rescore(k.r.bounds.W, classes) }

func (k rescorer) Scored() error {
	for _, t := range k.r.tiles {
		if err := t.sketch.scored.fill(int32(k.r.bounds.History.Round())); err != nil {
			return err
		}
	}
	return nil
}

// prepareBounded prepares an assignment that uses bounds.
func (r *resident) prepareBounded() error {
	b, s := r.bounds, r.sketches
	if err := s.which.write(0, indices(b.Changed)); err != nil {
		return err
	}
	errors := make([]float32, 0, 2*len(b.History.Eta))
	for k, eta := range b.History.Eta {
		errors = append(errors, eta, b.History.Theta[k])
	}
	if err := s.errors.write(0, errors); err != nil {
		return err
	}
	if r.classes.n == r.q { // one batch for all tiles
		return r.useWeights(b.W, sketch.All(r.q))
	}
	return nil
}

// assignBounded is kernel assign for a tile with bounds.
func (r *resident) assignBounded(t *tile, alpha float32) error {
	b, s, e := r.bounds, r.sketches, r.e
	numbers := make([]float32, 0, s.numbers.n)
	for _, shift := range b.Shifts {
		coef := t.sketch.Coef(shift)
		numbers = append(numbers, coef...)
		numbers = append(numbers, make([]float32, s.depth-len(coef))...)
	}
	for c := range r.q {
		numbers = append(numbers, b.History.Slack(c))
	}
	if err := s.numbers.write(0, numbers); err != nil {
		return err
	}
	items := e.blocks(t)
	m, now := len(b.Shifts), int32(b.History.Round())
	err := e.bound.launch(items, 1, t.sketch.sketch, t.sketch.about, s.numbers, s.which, s.errors,
		t.scores, t.sketch.scored, t.place, s.list, r.ints,
		uint64(items), int32(t.rows), int32(r.q), int32(s.depth), int32(m), int32(b.History.Span), now,
		alpha)
	if err != nil {
		return err
	}
	// The sketch, and 4 bytes for each other number of an example.
	e.q.work.ExampleBytes += int64(t.rows) * int64(s.depth+4*(2+r.q+m+2))
	if err := r.scoreListed(t); err != nil {
		return err
	}
	return e.assignListed.launch(min(t.rows, e.crowd()), 1, t.scores, t.sketch.scored, t.place, s.list,
		r.ints, int32(t.rows), int32(r.q), now, alpha)
}

// scoreListed scores the listed examples of a tile for all classes.
func (r *resident) scoreListed(t *tile) error {
	return r.eachBatch(r.bounds.W, func(m int) error {
		score := func(x arrays, local int32) error {
			return r.scoreDense(t, x, m, r.sketches.list, 1+local)
		}
		if !t.streamed() && !t.inFile { // no need to know which they are
			return score(t.arrays(), 0)
		}
		rows, err := r.readList(t)
		if err != nil {
			return err
		}
		return errors.Join(r.onListed(t, rows, score), r.drain())
	})
}

// readList returns the examples of a tile that kernel bound listed.
func (r *resident) readList(t *tile) ([]int32, error) {
	counts := make([]int32, head)
	if err := r.ints.read(counts, 0); err != nil {
		return nil, err
	}
	n := int(counts[1])
	if n < 0 || n > t.rows {
		return nil, fmt.Errorf("kernel bound listed %d of %d examples, by buffer %q; the device is at "+
			"fault", n, t.rows, r.ints.name)
	}
	rows := make([]int32, n)
	if err := r.sketches.list.read(rows, 0); err != nil {
		return nil, err
	}
	return rows, t.checkList(rows, r.sketches.list.name)
}

// checkList judges examples that a device has listed in a buffer, before anything is found by
// them.
func (t *tile) checkList(rows []int32, buffer string) error {
	for _, i := range rows {
		if i < 0 || int(i) >= t.rows {
			return fmt.Errorf("kernel bound wrote example %d to buffer %q, wanted 0 to %d; the device is "+
				"at fault", i, buffer, t.rows-1)
		}
	}
	return nil
}
