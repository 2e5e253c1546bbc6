//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// cells is what a labelled data set has besides its scores: the class sums on
// the device, their counts on the host, and room for moving examples.
type cells struct {
	y         []int32 // the caller's
	sums      []*buffer[int64]
	perBuffer int // regions in each buffer of sums, but for the last
	regions   []int64
	predicted []int64
	list      *buffer[int32] // examples to move, grouped
	groups    *buffer[int32] // of the list; dense examples only, as are the next two
	partial   *buffer[int64] // their sums
	terms     *buffer[int32] // groups by cell
	triples   *buffer[int32] // (cell, from, to) of each cell of list or of terms

	inv     *buffer[float32]
	z       *buffer[float32]
	chosen  *buffer[int32]   // regions whose norms, or pairs whose vectors, are asked for
	squares *buffer[float32] // chunk results of their norms
	batch   int              // regions that squares has room for

	// The norms of the regions that are not stale are those of inverse.
	norms   []float32 // Q×Q
	inverse []float32
	stale   []bool // regions whose class sums changed since

	moves  []move // of the assignment under way
	usual  int    // examples of a tile that moved lately
	sorter cellSorter
}

func newCells(r *resident, y []int32) (c *cells, err error) {
	c = &cells{y: y, regions: make([]int64, r.q*r.q), predicted: make([]int64, r.q*r.q),
		sorter: newCellSorter(r.q), norms: make([]float32, r.q*r.q), stale: make([]bool, r.q)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.free())
			c = nil
		}
	}()
	q, e := r.e.q, r.e
	rowsOfZ, err := fit("an update vector", 1, 4*r.d, e.maxAlloc)
	if err != nil {
		return c, err
	}
	rowsOfZ = min(rowsOfZ, vectorsAtOnce(r.d, r.q))
	if c.perBuffer, err = fit("the class sums of a region", r.q, 8*r.d, e.maxAlloc); err != nil {
		return c, err
	}
	c.perBuffer = min(c.perBuffer, r.q)
	for p := 0; p < r.q; p += c.perBuffer {
		b, err := alloc[int64](q, "class sums", min(c.perBuffer, r.q-p)*r.q*r.d)
		if err != nil {
			return c, err
		}
		c.sums = append(c.sums, b)
		if err := b.fill(0); err != nil {
			return c, err
		}
	}
	if c.batch, err = fit("the norms of a region", r.q, 4*chunks(r.d), e.maxAlloc); err != nil {
		return c, err
	}
	c.batch = min(c.batch, r.q)
	room, err := e.moveRoom(r.x.Sparse(), r.d, r.mostRows)
	if err != nil {
		return c, err
	}
	if room.groups > 0 {
		if c.partial, err = alloc[int64](q, "sums of groups", room.groups*r.d); err != nil {
			return c, err
		}
	}
	for _, b := range []struct {
		to   **buffer[int32]
		name string
		n    int
	}{
		{&c.list, "examples to move", room.list},
		{&c.groups, "groups to move", 2 * room.groups},
		{&c.terms, "groups by cell", 2 * room.groups},
		{&c.triples, "cells to move to", 3 * min(r.q*r.q, room.terms)},
		{&c.chosen, "pairs", max(r.q, 2*rowsOfZ)},
	} {
		if b.n == 0 {
			continue
		}
		if *b.to, err = alloc[int32](q, b.name, b.n); err != nil {
			return c, err
		}
	}
	for _, b := range []struct {
		to   **buffer[float32]
		name string
		n    int
	}{
		{&c.inv, "inverse confusion matrix", r.q * r.q},
		{&c.z, "update vectors", rowsOfZ * r.d},
		{&c.squares, "norms", c.batch * r.q * chunks(r.d)},
	} {
		if *b.to, err = alloc[float32](q, b.name, b.n); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *cells) free() error {
	if c == nil {
		return nil
	}
	var errs []error
	for _, b := range c.sums {
		errs = append(errs, b.free())
	}
	return errors.Join(append(errs, c.list.free(), c.triples.free(), c.chosen.free(),
		c.inv.free(), c.z.free(), c.squares.free(), c.groups.free(), c.partial.free(), c.terms.free())...)
}

// region returns the buffer with the class sums of region p and p's place in it.
func (c *cells) region(p int) (b *buffer[int64], at int) {
	return c.sums[p/c.perBuffer], p % c.perBuffer
}

func (r *resident) Assign(alpha float32) (engine.Assignment, error) {
	if err := r.bounds.Begin(rescorer{r}); err != nil {
		return engine.Assignment{}, err
	}
	if r.bounds.InUse() {
		if err := r.prepareBounded(); err != nil {
			return engine.Assignment{}, err
		}
	}
	moved := 0
	for _, t := range r.tiles {
		moves, err := r.findMoves(t, alpha)
		if err != nil {
			return engine.Assignment{}, err
		}
		r.count(t, moves)
		moved += len(r.cells.moves)
		if err := r.moveSums(t); err != nil {
			return engine.Assignment{}, err
		}
	}
	return engine.Assignment{
		Regions:   slices.Clone(r.cells.regions),
		Predicted: slices.Clone(r.cells.predicted),
		Moved:     moved,
	}, nil
}

// head is the number of counts at the beginning of the buffer of moved examples:
// how many they are, and how many examples kernel bound has listed.
const head = 2

// findMoves returns the examples of a tile whose place changed, as triples
// (example, old place, new place), and brings their places up to date.
func (r *resident) findMoves(t *tile, alpha float32) ([]int32, error) {
	if err := r.ints.write(0, make([]int32, head)); err != nil {
		return nil, err
	}
	if r.bounds.InUse() {
		if err := r.assignBounded(t, alpha); err != nil {
			return nil, err
		}
	} else if err := r.e.assign.launch(r.e.blocks(t), 1, t.scores, t.place, r.ints,
		int32(t.rows), int32(r.q), alpha); err != nil {
		return nil, err
	}
	// About as many move as in the step before: their triples come with their number.
	moves := make([]int32, min(head+3*(r.cells.usual+r.cells.usual/4+100), r.ints.n))
	if err := r.ints.read(moves, 0); err != nil {
		return nil, err
	}
	n, listed := int(moves[0]), int(moves[1])
	r.cells.usual = min(max(n, 0), 1<<14)
	if n < 0 || n > t.rows || listed < 0 || listed > t.rows {
		return nil, fmt.Errorf("kernels assign and bound moved %d and listed %d of %d examples, by "+
			"buffer %q; the device is at fault", n, listed, t.rows, r.ints.name)
	}
	if r.bounds.InUse() {
		r.bounds.Open += listed
		r.e.q.work.Rescored += int64(listed)
		r.e.q.work.ExampleBytes += int64(listed) * (t.bytes(r.d) / int64(t.rows))
	}
	if have := len(moves); head+3*n > have {
		moves = append(moves, make([]int32, head+3*n-have)...)
		if err := r.ints.read(moves[have:], have); err != nil {
			return nil, err
		}
	}
	moves = moves[head : head+3*n]
	return moves, t.checkMoves(moves, r.q, r.ints.name)
}

// checkMoves judges triples (example, old place, new place) that a device has written to a buffer,
// before anything is found by them.
func (t *tile) checkMoves(moves []int32, q int, buffer string) error {
	for m := 0; m < len(moves); m += 3 {
		i, before, now := moves[m], moves[m+1], moves[m+2]
		if i < 0 || int(i) >= t.rows || before < -1 || int(before) >= 2*q || now < 0 || int(now) >= 2*q {
			return fmt.Errorf("kernel assign wrote example %d, old place %d and new place %d to buffer %q, "+
				"wanted 0 to %d, -1 to %d and 0 to %[6]d; the device is at "+
				"fault", i, before, now, buffer, t.rows-1, 2*q-1)
		}
	}
	return nil
}

func (r *resident) ClassSums(dst []int64, p int) error {
	b, at := r.cells.region(p)
	if err := b.read(dst, at*r.q*r.d); err != nil {
		return err
	}
	return nil
}
