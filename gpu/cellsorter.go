//go:build cgo && !noopencl

package gpu

import "slices"

// cellSorter groups moves by cell, in time and memory of the moves rather than of
// the Q² cells: a step touches few.
type cellSorter struct {
	size    []int32 // entries per cell, 0 for those not touched; the last is noCell's
	touched []int32 // cells with entries
	cells   []int32 // of each entry
	entries []int32
	spare   []move
}

func newCellSorter(q int) cellSorter { return cellSorter{size: make([]int32, q*q+1)} }

// reset forgets all entries.
func (s *cellSorter) reset() {
	s.clear()
	s.cells, s.entries = s.cells[:0], s.entries[:0]
}

func (s *cellSorter) clear() {
	for _, c := range s.touched {
		s.size[c] = 0
	}
	s.touched = s.touched[:0]
}

// addMove notes that a thing leaves a cell, as entry ^thing, and enters another, as
// entry thing.
func (s *cellSorter) addMove(from, to, thing int32) {
	for _, e := range []struct{ cell, entry int32 }{{from, ^thing}, {to, thing}} {
		if e.cell != noCell {
			s.touch(e.cell)
			s.cells = append(s.cells, e.cell)
			s.entries = append(s.entries, e.entry)
		}
	}
}

func (s *cellSorter) touch(cell int32) {
	if s.size[cell] == 0 {
		s.touched = append(s.touched, cell)
	}
	s.size[cell]++
}

// sorted returns the entries grouped by cell and the triples (cell, from, to)
// that delimit the groups, by increasing cell.
func (s *cellSorter) sorted() (list, triples []int32) {
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

// group is a number of moves from one cell to another: list[begin..end-1] of what
// cellSorter.group returns.
type group struct{ begin, end, from, to int32 }

// group returns the examples of moves, equal moves together, and the groups of at most the
// given number of rows that they make. It reorders the moves.
func (s *cellSorter) group(moves []move, rows int) (list []int32, groups []group) {
	s.spare = slices.Grow(s.spare[:0], len(moves))[:len(moves)]
	s.by(func(m move) int32 { return m.to }, moves, s.spare)
	s.by(func(m move) int32 { return m.from }, s.spare, moves)
	list = make([]int32, len(moves))
	for k, m := range moves {
		list[k] = m.i
		last := len(groups) - 1
		if last < 0 || groups[last].from != m.from || groups[last].to != m.to ||
			k-int(groups[last].begin) == rows {
			groups = append(groups, group{int32(k), int32(k), m.from, m.to})
			last++
		}
		groups[last].end++
	}
	return list, groups
}

// by puts moves into sorted, by a cell of theirs, and otherwise in their order.
func (s *cellSorter) by(cell func(move) int32, moves, sorted []move) {
	s.clear()
	none := int32(len(s.size) - 1)
	at := func(m move) int32 {
		if c := cell(m); c != noCell {
			return c
		}
		return none
	}
	for _, m := range moves {
		s.touch(at(m))
	}
	slices.Sort(s.touched)
	total := int32(0)
	for _, c := range s.touched {
		total, s.size[c] = total+s.size[c], total
	}
	for _, m := range moves {
		c := at(m)
		sorted[s.size[c]] = m
		s.size[c]++
	}
}
