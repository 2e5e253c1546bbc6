//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jgillich/go-opencl/cl"

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
	count     *buffer[int32] // triples written by assign
	list      *buffer[int32] // examples to move, grouped by cell
	triples   *buffer[int32] // (cell, from, to) of each group

	inv     *buffer[float32]
	z       *buffer[float32]
	chosen  *buffer[int32]   // regions whose norms are asked for
	partial *buffer[float32] // chunk results of their norms
	batch   int              // regions that partial has room for

	// The norms of the regions that are not stale are those of inverse.
	norms   []float32 // Q×Q
	inverse []float32
	stale   []bool // regions whose class sums changed since

	sorter sorter
}

func newCells(r *resident, y []int32) (c *cells, err error) {
	c = &cells{y: y, regions: make([]int64, r.q*r.q), predicted: make([]int64, r.q*r.q), sorter: newSorter(r.q),
		norms: make([]float32, r.q*r.q), stale: make([]bool, r.q)}
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
	rowsOfZ = min(rowsOfZ, 16)
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
	rows := r.mostRows
	for _, b := range []struct {
		to   **buffer[int32]
		name string
		n    int
	}{
		{&c.count, "count of moved examples", 1},
		{&c.list, "examples to move", 2 * rows},
		{&c.triples, "cells to move to", 3 * min(r.q*r.q, 2*rows)},
		{&c.chosen, "regions", r.q},
	} {
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
		{&c.partial, "norms", c.batch * r.q * chunks(r.d)},
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
	return errors.Join(append(errs, c.count.free(), c.list.free(), c.triples.free(), c.chosen.free(),
		c.inv.free(), c.z.free(), c.partial.free())...)
}

// region returns the buffer with the class sums of region p and p's place in it.
func (c *cells) region(p int) (b *buffer[int64], at int) {
	return c.sums[p/c.perBuffer], p % c.perBuffer
}

// enterCells is enter for operations that need labels.
func (r *resident) enterCells(op string) error {
	if err := r.enter(op); err != nil {
		return err
	}
	if r.cells == nil {
		r.e.mu.Unlock()
		return fmt.Errorf("%s: %w", op, engine.ErrNoLabels)
	}
	return nil
}

func (r *resident) Assign(alpha float32) (engine.Assignment, error) {
	if err := r.enterCells("assign"); err != nil {
		return engine.Assignment{}, err
	}
	defer r.e.mu.Unlock()
	moved := 0
	for _, t := range r.tiles {
		m, err := r.assignTile(t, alpha)
		if err != nil {
			return engine.Assignment{}, fmt.Errorf("assign: %w", err)
		}
		moved += m
	}
	return engine.Assignment{
		Regions:   slices.Clone(r.cells.regions),
		Predicted: slices.Clone(r.cells.predicted),
		Moved:     moved,
	}, nil
}

// assignTile finds the examples of a tile whose place changed, brings the counts
// up to date on the host and the class sums on the device.
func (r *resident) assignTile(t *tile, alpha float32) (moved int, err error) {
	c := r.cells
	if err := c.count.write(0, []int32{0}); err != nil {
		return 0, err
	}
	if err := r.e.assign.launch(t.rows, 1, t.scores, t.place, r.ints, c.count,
		uint64(t.stride), int32(t.rows), int32(r.q), alpha); err != nil {
		return 0, err
	}
	changed := []int32{0}
	if err := c.count.read(changed, 0); err != nil {
		return 0, err
	}
	if changed[0] < 0 || int(changed[0]) > t.rows {
		return 0, fmt.Errorf("kernel assign moved %d of %d examples", changed[0], t.rows)
	}
	moves := make([]int32, 3*changed[0])
	if err := r.ints.read(moves, 0); err != nil {
		return 0, err
	}
	c.sorter.reset()
	for m := 0; m < len(moves); m += 3 {
		i, before, now := moves[m], moves[m+1], moves[m+2]
		k := int(c.y[t.example(int(i))])
		from, to := c.leave(before, k, r.q), c.enter(now, k, r.q)
		if from != to {
			moved++
			c.move(from, ^i, r.q)
			c.move(to, i, r.q)
		}
	}
	return moved, r.moveSums(t)
}

// move notes a move out of or into a cell.
func (c *cells) move(cell int, entry int32, q int) {
	if cell != noCell {
		c.sorter.add(cell, entry)
		c.stale[cell/q] = true
	}
}

// noCell stands for being in no region.
const noCell = -1

// leave takes an example with label k off the counts of its old place, as kernel
// assign encodes it, and returns its old cell.
func (c *cells) leave(place int32, k, q int) (cell int) { return c.countPlace(place, k, q, -1) }

// enter is the opposite of leave.
func (c *cells) enter(place int32, k, q int) (cell int) { return c.countPlace(place, k, q, +1) }

func (c *cells) countPlace(place int32, k, q int, by int64) (cell int) {
	if place < 0 {
		return noCell // before the first assignment
	}
	cell = int(place>>1)*q + k
	c.predicted[cell] += by
	if place&1 == 0 {
		return noCell // predicted, but short of the margin
	}
	c.regions[cell] += by
	return cell
}

// moveSums runs kernel move_sums on the sorted moves of a tile. Of a tile that is
// streamed it brings the moved examples alone, unless they are many.
func (r *resident) moveSums(t *tile) error {
	list, triples := r.cells.sorter.sorted()
	if len(list) == 0 {
		return nil
	}
	on := r.onDevice
	if t.streamed() {
		if rows, local := localRows(list); len(rows) <= t.rows/4 {
			list = local
			on = func(t *tile, f func(arrays) (*cl.Event, error)) error { return r.gather(t, rows, f) }
		}
	}
	if err := r.cells.list.write(0, list); err != nil {
		return err
	}
	err := on(t, func(x arrays) (*cl.Event, error) { return r.moveInto(x, triples) })
	return errors.Join(err, r.drain())
}

// moveInto runs the kernel once for each buffer of class sums that the triples
// concern, and returns the event of the last.
func (r *resident) moveInto(x arrays, triples []int32) (last *cl.Event, err error) {
	c := r.cells
	perBuffer := int32(c.perBuffer * r.q) // cells in a buffer of sums
	for len(triples) > 0 {
		b := triples[0] / perBuffer
		n := 0
		for n < len(triples) && triples[n]/perBuffer == b {
			triples[n] -= b * perBuffer
			n += 3
		}
		if err := c.triples.write(0, triples[:n]); err != nil {
			return last, err
		}
		if last != nil {
			last.Release()
		}
		if last, err = r.moveCells(x, n/3, c.sums[b]); err != nil {
			return last, err
		}
		triples = triples[n:]
	}
	return last, nil
}

// moveCells enqueues the kernel for the first n triples.
func (r *resident) moveCells(x arrays, n int, sums *buffer[int64]) (*cl.Event, error) {
	c := r.cells
	if x.columns != nil {
		return r.e.moveSumsSparse.enqueue(n*r.e.moveSumsSparse.local, 1,
			x.columns, x.values, x.slices, x.lengths, c.list, c.triples, sums, r.fixed.Scale(), int32(r.d))
	}
	return r.e.moveSums.enqueue((r.d+r.e.vec-1)/r.e.vec, n, x.values, c.list, c.triples, sums, r.fixed.Scale(), int32(r.d))
}

func (r *resident) ClassSums(dst []int64, p int) error {
	if err := r.enterCells("class sums"); err != nil {
		return err
	}
	defer r.e.mu.Unlock()
	if err := engine.CheckClass("class sums", p, r.q); err != nil {
		return err
	}
	if err := engine.CheckLen("class sums", "dst", len(dst), r.q*r.d); err != nil {
		return err
	}
	b, at := r.cells.region(p)
	return b.read(dst, at*r.q*r.d)
}
