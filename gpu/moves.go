//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"math/bits"
	"slices"
)

// move says that example i of a tile leaves one cell for another, p·Q+k; either may
// be noCell.
type move struct{ i, from, to int32 }

// noCell is the cell of an example in no region.
const noCell = -1

// countMoves brings the counts up to date and notes which examples change their cell, from
// triples (example, old place, new place).
func countMoves(r *resident, t *tile, places []int32) {
	c := r.cells
	c.moves = c.moves[:0]
	for m := 0; m < len(places); m += 3 {
		i, before, now := places[m], places[m+1], places[m+2]
		k := int(c.y[t.example(int(i))])
		from, to := c.countPlace(before, k, r.q, -1), c.countPlace(now, k, r.q, +1)
		if from != to {
			c.moves = append(c.moves, move{i, int32(from), int32(to)})
			for _, cell := range []int{from, to} {
				if cell != noCell {
					c.stale[cell/r.q] = true
				}
			}
		}
	}
}

// countPlace adds by to the counts of a place of an example with label k, as kernel assign encodes
// it, and returns the cell.
func (c *cellSums) countPlace(place int32, k, q int, by int64) (cell int) {
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

// moveSums brings the class sums up to date with the moves of a tile.
func moveSums(r *resident, t *tile) error {
	c := r.cells
	if len(c.moves) == 0 {
		return nil
	}
	list, triples := byCell(c.moves)
	// By clause 3 integers stay below 2^62 / 2^bits.
	small := bits.Len(uint(r.fixed.N)) >= 62-51
	n := len(triples) / 3
	if err := errors.Join(c.list.write(0, list), c.triples.write(0, triples)); err != nil {
		return err
	}
	return r.onDevice(t, func(x arrays) error {
		if t.sparse != nil {
			k := r.e.moveSumsSparse
			return k.launch(n*k.local, 1, moveSumsSparseArgs{x.sparseRows, c.list, c.triples, c.sums,
				r.fixed.Scale(), r.d})
		}
		return r.e.dense.moveSums.launch(sumItems(r.e, r.d), n, moveSumsArgs{x.dense, c.list, c.triples,
			c.sums, r.fixed.Scale(), r.d, small})
	})
}

// sumItems returns how many work-items take d columns of sums.
func sumItems(e *deviceEngine, d int) int {
	return (d + e.sumColumns() - 1) / e.sumColumns()
}

// byCell lists the examples of moves by cell, ^example where it leaves the cell, and the triples
// (cell, from, to) that delimit the cells, in increasing order.
func byCell(moves []move) (list, triples []int32) {
	entries := make([]int64, 0, 2*len(moves)) // the cell in the upper half
	for _, m := range moves {
		if m.from != noCell {
			entries = append(entries, int64(m.from)<<32|int64(uint32(^m.i)))
		}
		if m.to != noCell {
			entries = append(entries, int64(m.to)<<32|int64(m.i))
		}
	}
	slices.Sort(entries)
	list = make([]int32, len(entries))
	for k, entry := range entries {
		cell := int32(entry >> 32)
		if last := len(triples) - 3; last < 0 || triples[last] != cell {
			triples = append(triples, cell, int32(k), int32(k))
		}
		triples[len(triples)-1]++
		list[k] = int32(entry)
	}
	return list, triples
}
