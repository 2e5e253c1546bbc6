package simd

import (
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

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

// moveSums brings the class sums up to date (clauses 3 and 5). Tasks own columns of dense
// examples, and cells of sparse ones, whose values lie anywhere. Tasks that own columns do not get
// far from each other: of a file that is larger than memory each would read all by itself; and
// what they are about to read of it is brought before.
func (r *resident) moveSums() {
	moves := len(r.cells.moves)
	if r.x.Sparse() {
		stored := panels(r.x.Size(), r.x.N) // of one example
		r.run((*resident).moveSparseTask, sparseOwners, moves*stored*moveSparseCost, 0)
		return
	}
	r.cells.moveTasks = parallel.Workers(r.x.D, moveColumns)
	all, some := r.cells.moves, max(1, moveBytes/(4*r.x.D))
	if r.window > 0 {
		some = r.window
	}
	for from := 0; from < moves; from += some {
		r.cells.moves = all[from:min(from+some, moves)]
		if r.window > 0 {
			r.fetchMoves()
		}
		r.run((*resident).moveTask, r.cells.moveTasks, len(r.cells.moves)*r.x.D*moveCost, 0)
	}
	r.cells.moves = all
}

// fetchMoves brings the examples that are about to move.
func (r *resident) fetchMoves() {
	moves := r.cells.moves
	first, last := r.x.N, -1
	for _, m := range moves {
		first, last = min(first, int(m.example)), max(last, int(m.example))
	}
	r.x.Pages().FetchSome(first, last+1, len(moves), func(k int) int { return int(moves[k].example) })
}

// moveTask brings the class sums of some columns up to date.
func (r *resident) moveTask(task int, _ *worker) {
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
		switch {
		case m.from == noCell:
			r.k.add(r.sum(m.to)[from:to], x, scale, next)
		case m.to == noCell:
			r.k.sub(r.sum(m.from)[from:to], x, scale, next)
		default:
			r.k.transfer(r.sum(m.from)[from:to], r.sum(m.to)[from:to], x, scale, next)
		}
	}
}

// moveSparseTask brings the class sums of every sparseOwners-th cell up to date.
func (r *resident) moveSparseTask(task int, _ *worker) {
	scale := r.fixed.Scale()
	for _, m := range r.cells.moves {
		columns, values := r.x.SparseRow(int(m.example))
		if m.from != noCell && int(m.from)%sparseOwners == task {
			r.k.subSparse(r.sum(m.from), columns, values, scale)
		}
		if m.to != noCell && int(m.to)%sparseOwners == task {
			r.k.addSparse(r.sum(m.to), columns, values, scale)
		}
	}
}

// sum returns the class sum of a cell.
func (r *resident) sum(cell int32) []int64 {
	at := int(cell) * r.x.D
	return r.cells.sums[at : at+r.x.D]
}

func (r labelled) ClassSums(dst []int64, p int) error {
	copy(dst, r.cells.sums[p*r.q*r.x.D:])
	return nil
}
