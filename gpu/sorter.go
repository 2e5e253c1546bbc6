//go:build cgo && !noopencl

package gpu

import "slices"

// sorter groups moves by cell, in time and memory of the moves rather than of
// the Q² cells, of which a step touches few.
type sorter struct {
	size    []int32 // moves per cell, 0 for those not touched
	touched []int32 // cells with moves
	cells   []int32 // of each move
	entries []int32 // i to enter the cell, ^i to leave it
}

func newSorter(q int) sorter { return sorter{size: make([]int32, q*q)} }

// reset forgets all moves.
func (s *sorter) reset() {
	for _, c := range s.touched {
		s.size[c] = 0
	}
	s.touched, s.cells, s.entries = s.touched[:0], s.cells[:0], s.entries[:0]
}

// add notes a move.
func (s *sorter) add(cell int, entry int32) {
	if s.size[cell] == 0 {
		s.touched = append(s.touched, int32(cell))
	}
	s.size[cell]++
	s.cells = append(s.cells, int32(cell))
	s.entries = append(s.entries, entry)
}

// sorted returns the entries grouped by cell and the triples (cell, from, to)
// that delimit the groups, by increasing cell.
func (s *sorter) sorted() (list, triples []int32) {
	slices.Sort(s.touched)
	list = make([]int32, len(s.entries))
	triples = make([]int32, 0, 3*len(s.touched))
	at := int32(0)
	for _, c := range s.touched {
		triples = append(triples, c, at, at+s.size[c])
		at, s.size[c] = at+s.size[c], at // size becomes the place of the next entry
	}
	for i, c := range s.cells {
		list[s.size[c]] = s.entries[i]
		s.size[c]++
	}
	return list, triples
}
