//go:build linux && cgo && !noopencl

package gpu

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// cellSums is what a labelled data set has besides its scores: the class sums on the device, their
// counts on the host, and room for what changes and reads them.
type cellSums struct {
	y         []int32 // the caller's
	sums      *buffer[int64]
	regions   []int64
	predicted []int64
	moveBuffers
	normBuffers
}

// moveBuffers is room for examples that move from one cell to another.
type moveBuffers struct {
	list    *buffer[int32] // examples to move, by cell
	triples *buffer[int32] // (cell, from, to) of each cell of list

	moves []move // of the assignment under way
	usual int    // examples of a tile that moved lately
}

// normBuffers is room for update vectors and their norms. The norms of the regions that are not
// stale belong to inverse.
type normBuffers struct {
	inv     *buffer[float32]
	z       *buffer[float32]
	chosen  *buffer[int32]   // regions whose norms, or pairs whose vectors, are asked for
	squares *buffer[float32] // chunk results of their norms

	norms   []float32 // Q×Q
	inverse []float32
	stale   []bool // regions whose class sums changed since
}

func newCells(r *resident, y []int32) *cellSums {
	q, d, o, most := r.q, r.d, &r.own, r.e.maxAlloc
	c := &cellSums{y: y, regions: make([]int64, q*q), predicted: make([]int64, q*q),
		normBuffers: normBuffers{norms: make([]float32, q*q), stale: make([]bool, q)}}
	rowsOfZ, err := fit("an update vector", 1, 4*d, most)
	o.note(err)
	_, err = fit("class sums", q*q, 8*d, most)
	o.note(err)
	if o.err != nil {
		return c
	}
	rowsOfZ = min(rowsOfZ, vectorsAtOnce(d, q))
	c.sums = filled[int64](o, "class sums", q*q*d, 0)
	c.list = alloc[int32](o, "examples to move", 2*r.mostRows)
	c.triples = alloc[int32](o, "cells to move to", 3*min(q*q, 2*r.mostRows))
	c.chosen = alloc[int32](o, "pairs", max(q, 2*rowsOfZ))
	c.inv = alloc[float32](o, "inverse confusion matrix", q*q)
	c.z = alloc[float32](o, "update vectors", rowsOfZ*d)
	c.squares = alloc[float32](o, "norms", q*q*chunks(d))
	return c
}

func (r *resident) Assign(alpha float32) (engine.Assignment, error) {
	moved := 0
	for _, t := range r.tiles {
		moves, err := findMoves(r, t, alpha)
		if err != nil {
			return engine.Assignment{}, err
		}
		countMoves(r, t, moves)
		moved += len(r.cells.moves)
		if err := moveSums(r, t); err != nil {
			return engine.Assignment{}, err
		}
	}
	return engine.Assignment{
		Regions:   slices.Clone(r.cells.regions),
		Predicted: slices.Clone(r.cells.predicted),
		Moved:     moved,
	}, nil
}

// head is the number of counts at the beginning of the buffer of moved examples: how many they are.
const head = 1

// findMoves returns the examples of a tile whose place changed, as triples
// (example, old place, new place), and brings their places up to date.
func findMoves(r *resident, t *tile, alpha float32) ([]int32, error) {
	if err := r.ints.write(0, make([]int32, head)); err != nil {
		return nil, err
	}
	if err := r.e.assign.launch(r.e.blocks(t), 1, assignArgs{t.scores, t.place, r.ints, t.rows, r.q,
		alpha}); err != nil {
		return nil, err
	}
	// About as many move as in the step before: their triples come with their number.
	moves := make([]int32, min(head+3*(r.cells.usual+r.cells.usual/4+100), r.ints.n))
	if err := r.ints.read(moves, 0); err != nil {
		return nil, err
	}
	n := int(moves[0])
	r.cells.usual = min(max(n, 0), 1<<14)
	if n < 0 || n > t.rows {
		return nil, fmt.Errorf("kernel assign moved %d of %d examples, by buffer %q; the device is at "+
			"fault", n, t.rows, r.ints.name)
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
	return r.cells.sums.read(dst, p*r.q*r.d)
}
