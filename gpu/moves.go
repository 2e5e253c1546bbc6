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

// moveRoomFor is what moving examples takes: the length of the list, the groups summed at
// once (dense examples only), and the terms that they and the list come to.
type moveRoom struct{ list, groups, terms int }

func moveRoomFor(e *deviceEngine, sparse bool, d, rows int) (moveRoom, error) {
	if sparse {
		return moveRoom{list: 2 * rows, terms: 2 * rows}, nil
	}
	most, err := fit("the sums of a group", d, 8, e.maxAlloc)
	if err != nil {
		return moveRoom{}, err
	}
	bytes := min(4<<20, e.q.memory/32)
	groups := min(most, max(1, int(bytes)/(8*d)), rows)
	return moveRoom{list: rows, groups: groups, terms: 2 * groups}, nil
}

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

// moveSums brings the class sums up to date with the moves of a tile. Of a tile that
// is streamed it brings the moved examples alone, unless they are many.
func moveSums(r *resident, t *tile) error {
	if len(r.cells.moves) == 0 {
		return nil
	}
	r.e.q.work.ExampleBytes += int64(len(r.cells.moves)) * (t.bytes(r.d) / int64(t.rows))
	if t.sparse != nil {
		return moveSparse(r, t)
	}
	list, groups := r.cells.sorter.group(r.cells.moves, sumRows)
	if err := r.cells.list.write(0, list); err != nil {
		return err
	}
	err := r.onListed(t, list, func(x arrays, local bool) error {
		for some := range slices.Chunk(groups, r.cells.groups.n/2) {
			if err := sumGroups(r, t, x, some, local); err != nil {
				return err
			}
			if err := addGroupSums(r, some); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, r.drain())
}

// sumGroups enqueues the sums of some groups.
func sumGroups(r *resident, t *tile, x arrays, groups []group, local bool) error {
	c := r.cells
	index := make([]int32, 0, 2*len(groups))
	for _, g := range groups {
		index = append(index, g.begin, g.end)
	}
	if err := c.groups.write(0, index); err != nil {
		return err
	}
	// By clause 3 integers stay below 2^62 / 2^bits.
	small := bits.Len(uint(r.fixed.N)) >= 62-51
	return r.e.dense.sumGroups.launch(sumItems(r.e, r.d), len(groups), sumGroupsArgs{x.dense, c.list,
		c.groups, c.partial, r.fixed.Scale(), r.d, small, local})
}

// sumItems returns how many work-items take the d columns of a sum.
func sumItems(e *deviceEngine, d int) int {
	return (d + e.sumColumns() - 1) / e.sumColumns()
}

// addParts is how many work-items share the groups of a column on a GPU, if a work-group has them.
const addParts = 8

// addItems returns how many work-items of add_groups take the d columns of a sum.
func addItems(e *deviceEngine, d int) int {
	if e.cpu {
		return sumItems(e, d)
	}
	wide := e.group / min(e.group, addParts)
	return (d + wide - 1) / wide * e.group
}

// addGroupSums adds the sums of groups to the class sums.
func addGroupSums(r *resident, groups []group) error {
	c := r.cells
	c.sorter.reset()
	for g, group := range groups {
		c.sorter.addMove(group.from, group.to, int32(g))
	}
	terms, triples := c.sorter.sorted()
	if err := c.terms.write(0, terms); err != nil {
		return err
	}
	return eachSums(r, triples, func(n int, sums *buffer[int64]) error {
		return r.e.addGroups.launch(addItems(r.e, r.d), n, addGroupsArgs{c.partial, c.terms, c.triples,
			sums, r.d})
	})
}

// eachSums calls f for each buffer of class sums that triples concern, with their
// number, when it has brought them to the device.
func eachSums(r *resident, triples []int32, f func(n int, sums *buffer[int64]) error) error {
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
			return err
		}
		if err := f(n/3, c.sums[b]); err != nil {
			return err
		}
		triples = triples[n:]
	}
	return nil
}

// moveSparse is moveSums for sparse examples, which are added and taken off one by one.
func moveSparse(r *resident, t *tile) error {
	c := r.cells
	c.sorter.reset()
	for _, m := range c.moves {
		c.sorter.addMove(m.from, m.to, m.i)
	}
	list, triples := c.sorter.sorted()
	on := r.onDevice
	if t.streamed() {
		if rows, local := localRows(list); len(rows) <= t.rows/4 {
			list = local
			on = func(t *tile, f func(arrays) error) error { return r.gather(t, rows, f) }
		}
	}
	if err := c.list.write(0, list); err != nil {
		return err
	}
	err := on(t, func(x arrays) error {
		return eachSums(r, triples, func(n int, sums *buffer[int64]) error {
			return r.e.moveSumsSparse.launch(n*r.e.moveSumsSparse.local, 1, moveSumsSparseArgs{
				x.sparseRows, c.list, c.triples, sums, r.fixed.Scale(), r.d})
		})
	})
	return errors.Join(err, r.drain())
}

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
