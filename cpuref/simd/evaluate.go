package simd

import (
	"math/bits"
	"runtime"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// evaluator is a resident with targets.
//
// It goes through the examples in spans of 256, the blocks of clause 14. Of dense examples a
// worker computes scores, residuals and weighted sums of a span while it is in its cache,
// and adds the sums to its own. Where these would be large, and for sparse examples, the
// coefficients of all examples are held until tasks that own columns add them up.
type evaluator struct {
	*resident
	targets engine.Targets
	classes []int     // all of them
	columns []columns // of sparse examples

	held  []float32 // coefficients of all examples
	count int       // of them for each
	sums  []int64   // the caller's
}

func newEvaluator(r *resident) *evaluator {
	v := &evaluator{resident: r, classes: make([]int, r.q)}
	for c := range v.classes {
		v.classes[c] = c
	}
	if r.x.Sparse() {
		v.columns = newColumns(r.x)
	}
	return v
}

// evaluatorScratch is what an evaluation takes besides scores.
func (e *processor) evaluatorScratch(x dataset.Examples, classes int) (scratch int64) {
	// Residuals, targets and totals of a span.
	own := memory.Product(2*4*span, classes) + 4*int64(e.k.mostRows)*sumColumns
	if !x.Sparse() && ownSums(classes, x.D) {
		own += memory.Product(8, classes, x.D)
	} else {
		scratch = memory.Product(4, panels(x.N, span)*span, panels(classes, lanes)*lanes)
	}
	if x.Sparse() {
		scratch = memory.Sum(scratch, memory.Product(20, x.Size()), memory.Product(16, x.D))
		own += 8 * columnsPerTask * lanes
	}
	workers := min(runtime.GOMAXPROCS(0), panels(x.N, span))
	packed := memory.Product(4, panels(classes, lanes)*lanes, x.D) // weights
	return memory.Sum(scratch, packed, memory.Product(workers, int(own)))
}

func (v *evaluator) FixedPoint() numerics.FixedPoint { return v.fixed }

func (v *evaluator) SetTargets(t engine.Targets) error {
	v.targets = t
	return nil
}

// Evaluate: clauses 1, 15, 16 and 14.
func (v *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	v.prepare(w, v.classes)
	return v.sum(sums, v.q, func(own *worker, at int, a []float32) {
		v.score(at, own)
		v.residuals(at, &own.share, a)
	}), nil
}

func (v *evaluator) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / v.x.N
	v.read()
	v.sum(sums, count, func(_ *worker, at int, to []float32) {
		for i := range v.examples(at) {
			place := i/lanes*count*lanes + i%lanes
			for r, weight := range a[(at*span+i)*count : (at*span+i+1)*count] {
				to[place+r*lanes] = weight
			}
		}
	})
	return nil
}

// examples returns how many examples a span has.
func (v *evaluator) examples(at int) int { return min(span, v.x.N-at*span) }

// score computes the scores of a span.
func (v *evaluator) score(at int, own *worker) {
	const blocks = span / lanes
	from, to := at*blocks, min((at+1)*blocks, v.blocks)
	if v.x.Sparse() {
		v.scoreSparse(from, to, own.floats)
		return
	}
	for per := v.dense.blocksPerTask(); from < to; from += per {
		v.scoreDense(from, min(from+per, to), v.scores[from*v.q*lanes:], v.q*lanes)
	}
}

// residuals computes the residuals and losses of a span (clause 16); the residuals go to a.
func (v *evaluator) residuals(at int, s *share, a []float32) {
	first, n := at*span, v.examples(at)
	blocks := blocksOf(n)
	targets := v.targets
	for i := range n {
		row := first + i
		if targets.Row != nil {
			row = int(targets.Row[row])
		}
		s.rows[i], s.weight[i] = int64(row*v.q), 1
	}
	clear(s.rows[n:]) // lanes of no example
	v.k.spread(s.t, v.q, targets.Values, s.rows[:blocks*lanes])
	if targets.Weight != nil {
		copy(s.weight[:], targets.Weight[first:first+n])
	}
	kernel := v.k.posterior
	if targets.Given {
		kernel = v.k.given
	}
	refused := s.refusedOf[:blocks]
	kernel(v.scores[first*v.q:], v.q, s.t, a, s.weight[:], s.losses[:], refused)
	if rest := n % lanes; rest > 0 {
		refused[blocks-1] &= 1<<rest - 1
	}
	for _, lanes := range refused {
		s.refused += int64(bits.OnesCount16(lanes))
	}
	v.k.add(s.loss[:n], s.losses[:n], numerics.LossFormat(v.fixed.N).Scale(), s.losses[:])
}

const (
	span = numerics.Block // examples
	// sumColumns are the columns that the kernel weighted is given at once: their totals
	// stay in a first-level cache.
	sumColumns = 512
	// sumRows are the rows of coefficients of a task that owns columns.
	sumRows = 56
	// ownSumBytes is the most that the sums of one worker take: about what a second-level
	// cache can spare.
	ownSumBytes = 4 << 20
)

// ownSums says whether each worker has sums of its own for count coefficients.
func ownSums(count, d int) bool { return count <= ownSumBytes/8/d }

// share is what one worker has of an evaluation.
type share struct {
	begun          bool
	a, t           []float32     // coefficients and targets of a span
	rows           [span]int64   // where the targets of each example of a span begin
	weight, losses [span]float32 // of the examples of a span
	refusedOf      [span / lanes]uint16
	loss           [span]int64 // sums of losses, as many as a span has examples
	refused        int64
	totals         []float32 // of the kernel weighted
	// of all rows and columns, or of 16 rows for some columns of sparse examples
	sums []int64
}

func (s *share) begin(v *evaluator) {
	s.begun, s.refused = true, 0
	clear(s.loss[:])
	s.a, s.t = resize(s.a, span*v.count), resize(s.t, span*v.q)
	s.totals = resize(s.totals, v.k.mostRows*sumColumns)
	switch {
	case v.x.Sparse():
		s.sums = resize(s.sums, columnsPerTask*lanes)
	case ownSums(v.count, v.x.D):
		s.sums = resize(s.sums, v.count*v.x.D)
		clear(s.sums)
	}
}

// each does all tasks by workers whose share has begun. Tasks that read all examples in order have
// some examples each, others none.
func (v *evaluator) each(tasks, examples, work int, do func(task int, own *worker)) {
	v.sweep(func(_ *resident, task int, own *worker) {
		if !own.share.begun {
			own.share.begin(v)
		}
		do(task, own)
	}, tasks, examples, work, lanes*sparseMost)
}

// sum computes the weighted sums of count coefficients of each example (clause 14), and
// returns what the shares have found. fill writes the coefficients of a span: row r of its
// example i is a[(i/16·count + r)·16 + i%16].
func (v *evaluator) sum(sums []int64, count int, fill func(own *worker, at int,
	a []float32)) engine.Evaluation {
	v.sums, v.count = sums, count
	for _, w := range v.workers {
		w.share.begun = false
	}
	spans, work := panels(v.x.N, span), v.x.Size()*count
	switch {
	case v.x.Sparse():
		v.held = resize(v.held, panels(count, lanes)*v.x.N*lanes)
		v.each(spans, 0, work*sparseCost, func(at int, own *worker) {
			fill(own, at, own.share.a)
			v.holdByExample(at, own.share.a)
		})
		v.each(len(v.columns)*panels(count, lanes), 0, work*sparseCost, v.sumColumns)
	case ownSums(count, v.x.D):
		v.each(spans, span, 2*work, func(at int, own *worker) {
			fill(own, at, own.share.a)
			v.sumSpan(at, own.share.a, own.share.sums, 0, count, 0, v.x.D, own.share.totals)
		})
		v.addShares()
	default:
		v.held = resize(v.held, spans*span*count)
		v.each(spans, span, work, func(at int, own *worker) {
			fill(own, at, v.held[at*span*count:(at+1)*span*count])
		})
		v.read()
		clear(sums)
		v.each(panels(v.x.D, sumColumns)*panels(count, sumRows), 0, work, v.sumStrip)
	}
	var e engine.Evaluation
	for _, w := range v.workers {
		if s := &w.share; s.begun {
			for _, loss := range s.loss {
				e.Loss += loss
			}
			e.Refused += s.refused
		}
	}
	return e
}

// sumSpan adds the weighted sums of a span to sums, for rows r..rEnd-1 of its coefficients and
// columns j..jEnd-1.
func (v *evaluator) sumSpan(at int, a []float32, sums []int64, r, rEnd, j, jEnd int,
	totals []float32) {
	d, n, scale := v.x.D, v.examples(at), v.fixed.Scale()
	passes := panels(rEnd-r, v.k.mostRows)
	per := panels(rEnd-r, passes) // as many in each, more or less
	for ; j < jEnd; j += sumColumns {
		columns := min(sumColumns, jEnd-j)
		for row := r; row < rEnd; row += per {
			rows := min(per, rEnd-row)
			v.k.weighted(v.x.X[at*span*d+j:], d, columns, n, a[row*lanes:], v.count*lanes, rows, totals,
				sumColumns)
			for k := range rows {
				total := totals[k*sumColumns:][:columns]
				v.k.add(sums[(row+k)*d+j:][:columns], total, scale, total)
			}
		}
	}
}

// sumStrip computes the weighted sums of some columns for some rows of coefficients.
func (v *evaluator) sumStrip(task int, own *worker) {
	strips := panels(v.x.D, sumColumns)
	j, r := task%strips*sumColumns, task/strips*sumRows
	for at := range panels(v.x.N, span) {
		a := v.held[at*span*v.count : (at+1)*span*v.count]
		v.sumSpan(at, a, v.sums, r, min(r+sumRows, v.count), j, min(j+sumColumns, v.x.D),
			own.share.totals)
	}
}

// addShares adds up the sums of all workers.
func (v *evaluator) addShares() {
	clear(v.sums)
	for _, w := range v.workers {
		if w.share.begun {
			for k, sum := range w.share.sums {
				v.sums[k] += sum
			}
		}
	}
}

const (
	columnsPerTask = 256     // at most: their sums stay in a first-level cache
	valuesPerTask  = 1 << 14 // at most, but for one column
)

// columns are some columns of sparse examples, in order of the examples.
type columns struct {
	first, last int       // from first to last-1
	rows        []int32   // the example of each value
	values      []float32 // column by column
	// see columnSumsGo; short ones before long ones, so that the processor foresees where one ends
	runs []int32
}

// newColumns returns all columns, as many together as a task takes.
func newColumns(x dataset.Examples) []columns {
	starts, next := make([]int64, x.D+1), make([]int64, x.D)
	rows, values := make([]int32, len(x.Values)), make([]float32, len(x.Values))
	for _, j := range x.Columns {
		starts[j+1]++
	}
	for j := range x.D {
		starts[j+1] += starts[j]
	}
	copy(next, starts)
	for i := range x.N {
		columns, stored := x.SparseRow(i)
		for k, j := range columns {
			rows[next[j]], values[next[j]] = int32(i), stored[k]
			next[j]++
		}
	}
	var all []columns
	for first, j := 0, 1; j <= x.D; j++ {
		if j == x.D || j-first == columnsPerTask || starts[j+1]-starts[first] > valuesPerTask {
			from, to := starts[first], starts[j]
			all = append(all, columns{first: first, last: j, rows: rows[from:to], values: values[from:to]})
			first = j
		}
	}
	parallel.Tasks(len(all), func(task int) {
		c := &all[task]
		c.cut(starts[c.first : c.last+1])
	})
	return all
}

// cut makes the runs of columns that start there.
func (c *columns) cut(starts []int64) {
	// each calls f for all runs.
	each := func(f func(first, values, column int)) {
		for j := range c.last - c.first {
			at, end := int(starts[j]-starts[0]), int(starts[j+1]-starts[0])
			for at < end {
				first, last := at, c.rows[at]|(span-1)
				for at++; at < end && c.rows[at] <= last; at++ {
				}
				f(first, at-first, j)
			}
		}
	}
	var next [span + 2]int // where the next run of so many values goes
	each(func(_, values, _ int) { next[values+1]++ })
	for values := range next[1:] {
		next[values+1] += next[values]
	}
	c.runs = make([]int32, 3*next[span+1])
	each(func(first, values, column int) {
		run := c.runs[3*next[values]:]
		run[0], run[1], run[2] = int32(first), int32(values), int32(column)
		next[values]++
	})
}

// holdByExample keeps the coefficients of a span, 16 rows of each example side by side.
func (v *evaluator) holdByExample(at int, a []float32) {
	for r := range v.count {
		held := v.held[(r/lanes*v.x.N+at*span)*lanes+r%lanes:]
		for i := range v.examples(at) {
			held[i*lanes] = a[(i/lanes*v.count+r)*lanes+i%lanes]
		}
	}
}

// sumColumns computes the weighted sums of some columns for 16 rows of coefficients.
func (v *evaluator) sumColumns(task int, own *worker) {
	c, group := &v.columns[task%len(v.columns)], task/len(v.columns)
	sums := own.share.sums[:(c.last-c.first)*lanes]
	clear(sums)
	held := v.held[group*v.x.N*lanes : (group+1)*v.x.N*lanes]
	v.k.columnSums(c.runs, c.rows, c.values, held, v.fixed.Scale(), sums)
	for r := group * lanes; r < min((group+1)*lanes, v.count); r++ {
		for j, sum := 0, v.sums[r*v.x.D+c.first:r*v.x.D+c.last]; j < len(sum); j++ {
			sum[j] = sums[j*lanes+r%lanes]
		}
	}
}
