package simd

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// cells is what an assignment needs and brings up to date.
type cells struct {
	// of each example: 2·prediction, plus 1 if it is in the region; -1 before the first assignment
	place   []int32
	now     []int32  // the same for the assignment under way
	changed []uint16 // one bit for each example: whether they differ
	alpha   float32  // of the assignment under way
	moved   int      // examples, in the assignment under way
	moves   []move   // examples whose values are still to be moved
	// tasks that share out the columns: few, because an example is in one piece in memory
	moveTasks int
	regions   []int64 // N, Q×Q
	predicted []int64 // N at α = 0, Q×Q
	sums      []int64 // Γ, Q×Q×d: [(p·Q+k)·d + j]
	norms     norms
}

func newCells(blocks, d, q int) *cells {
	c := &cells{
		place: make([]int32, blocks*lanes), now: make([]int32, blocks*lanes), changed: make([]uint16,
			blocks),
		regions: make([]int64, q*q), predicted: make([]int64, q*q),
		sums:  make([]int64, q*q*d),
		norms: newNorms(q),
	}
	for i := range c.place {
		c.place[i] = -1
	}
	return c
}

// noCell is the cell of an example in no region.
const noCell = -1

// move says that an example left one cell for another; either may be noCell.
type move struct {
	example  int32
	from, to int32
}

// Predict: clause 4.
func (r *resident) Predict(dst []int32) error {
	const per = 64 // blocks at a time
	if r.places == nil {
		r.places, r.changed = make([]int32, per*lanes), make([]uint16, per)
	}
	for from := 0; from < r.blocks; from += per {
		n := min(per, r.blocks-from)
		r.k.region(r.scores[from*r.q*lanes:], r.q, 0, r.places, r.places, r.changed[:n])
		for i, place := range r.places[:min(n*lanes, r.x.N-from*lanes)] {
			dst[from*lanes+i] = place >> 1
		}
	}
	return nil
}

// Assign: clauses 4 and 5. The class sums are kept up to date by moving only
// the examples whose cell changed; integer sums do not care in what order.
func (r labelled) Assign(alpha float32) (engine.Assignment, error) {
	c := r.cells
	c.alpha, c.moves, c.moved = alpha, c.moves[:0], 0
	r.run(placeTask, panels(r.blocks, placeBlocks), r.blocks*lanes*r.q*placeCost, 0)
	for i := range ones(c.changed, r.x.N) {
		followMove(r.resident, i, c.now[i])
	}
	moveClassSums(r.resident)
	return engine.Assignment{
		Regions:   slices.Clone(c.regions),
		Predicted: slices.Clone(c.predicted),
		Moved:     c.moved,
	}, nil
}

// ones yields the places below n, that is of lanes with an example, of the bits that are set in
// masks of 16.
func ones(masks []uint16, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for b, mask := range masks {
			for ; mask != 0; mask &= mask - 1 {
				if i := b*lanes + bits.TrailingZeros16(mask); i < n && !yield(i) {
					return
				}
			}
		}
	}
}

const (
	placeBlocks = 256 // blocks of a task that finds places
	placeCost   = 4   // of a score, beside the multiplication of a dense value
)

// placeTask finds the places of the examples of one task.
func placeTask(r *resident, task int, _ *worker) {
	c := r.cells
	from, to := task*placeBlocks, min((task+1)*placeBlocks, r.blocks)
	r.k.region(r.scores[from*r.q*lanes:], r.q, c.alpha, c.place[from*lanes:], c.now[from*lanes:],
		c.changed[from:to])
}

// followMove brings place and counts of an example up to date, and notes its move.
func followMove(r *resident, i int, now int32) {
	c, k := r.cells, int32(r.y[i])
	from, to := c.count(c.place[i], k, r.q, -1), c.count(now, k, r.q, +1)
	c.place[i] = now
	if from != to {
		c.moved++
		c.moves = append(c.moves, move{int32(i), from, to})
		c.norms.touch(from, r.q)
		c.norms.touch(to, r.q)
	}
}

// cell returns the cell of an example of label k at a place.
func (c *cells) cell(place, k int32, q int) int32 {
	if place < 0 || place&1 == 0 {
		return noCell // before the first assignment, or short of the margin
	}
	return place>>1*int32(q) + k
}

// count counts an example of label k at a place, or takes it off the counts, and
// returns its cell.
func (c *cells) count(place, k int32, q int, by int64) (cell int32) {
	if place < 0 {
		return noCell
	}
	c.predicted[place>>1*int32(q)+k] += by
	if cell = c.cell(place, k, q); cell != noCell {
		c.regions[cell] += by
	}
	return cell
}

const (
	moveAhead = 4 // how many moves before its own an example is fetched
	// columns of a task that moves dense examples, at least if there are as many
	moveColumns = 128
	// of examples that tasks move before they wait for each other; see moveSums
	moveBytes      = 64 << 20
	moveCost       = 4  // of a dense value that moves, beside the multiplication of one
	moveSparseCost = 16 // of a stored one

	// sparseOwners are the tasks that move sparse examples: a prime, so that they share
	// out rows and columns of the table alike.
	sparseOwners = 31
)

// moveClassSums brings the class sums up to date (clauses 3 and 5). Tasks own columns of dense
// examples, and cells of sparse ones, whose values lie anywhere. Tasks that own columns do not get
// far from each other: of a file that is larger than memory each would read all by itself.
func moveClassSums(r *resident) {
	moves := len(r.cells.moves)
	if r.x.Sparse() {
		stored := panels(r.x.Size(), r.x.N) // of one example
		r.run(moveSparseTask, sparseOwners, moves*stored*moveSparseCost, 0)
		return
	}
	r.cells.moveTasks = parallel.Workers(r.x.D, moveColumns)
	all, some := r.cells.moves, max(1, moveBytes/(4*r.x.D))
	for from := 0; from < moves; from += some {
		r.cells.moves = all[from:min(from+some, moves)]
		r.run(moveTask, r.cells.moveTasks, len(r.cells.moves)*r.x.D*moveCost, 0)
	}
	r.cells.moves = all
}

// moveTask brings the class sums of some columns up to date.
func moveTask(r *resident, task int, _ *worker) {
	const line = 16 // values
	tasks := r.cells.moveTasks
	from, to := task*r.x.D/tasks/line*line, (task+1)*r.x.D/tasks
	if task+1 < tasks {
		to = to / line * line
	}
	scale, moves := r.fixed.Scale(), r.cells.moves
	for i, m := range moves {
		x := r.x.Row(int(m.example))[from:to]
		next := r.x.Row(int(moves[min(i+moveAhead, len(moves)-1)].example))[from:to]
		if m.from != noCell {
			r.k.add(classSum(r, m.from)[from:to], x, -scale, next)
		}
		if m.to != noCell {
			r.k.add(classSum(r, m.to)[from:to], x, scale, next)
		}
	}
}

// moveSparseTask brings the class sums of every sparseOwners-th cell up to date.
func moveSparseTask(r *resident, task int, _ *worker) {
	scale := r.fixed.Scale()
	for _, m := range r.cells.moves {
		columns, values := r.x.SparseRow(int(m.example))
		if m.from != noCell && int(m.from)%sparseOwners == task {
			addSparse(classSum(r, m.from), columns, values, -scale)
		}
		if m.to != noCell && int(m.to)%sparseOwners == task {
			addSparse(classSum(r, m.to), columns, values, scale)
		}
	}
}

// addSparse adds the integer of each value to the sum of its column.
func addSparse(sum []int64, columns []int32, values []float32, scale float32) {
	for i, j := range columns {
		sum[j] += numerics.Quantize(values[i], scale)
	}
}

// classSum returns the class sum of a cell.
func classSum(r *resident, cell int32) []int64 {
	at := int(cell) * r.x.D
	return r.cells.sums[at : at+r.x.D]
}

func (r labelled) ClassSums(dst []int64, p int) error {
	copy(dst, r.cells.sums[p*r.q*r.x.D:])
	return nil
}
