package simd

import (
	"math/bits"
	"runtime"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// evaluator is a resident with targets.
//
// It goes through the examples in spans of 256, the blocks of clause 14. Of dense examples a
// worker computes scores, residuals and weighted sums of a span, part by part, while it is in
// its cache, fetches the next part meanwhile, in the order of memory and all the time evenly, and
// adds the sums to its own. Of sparse examples the coefficients of all are held until tasks that
// own columns add them up.
type evaluator struct {
	*resident
	targets engine.Targets
	classes []int     // all of them
	columns []columns // of sparse examples

	held  []float32 // coefficients of all sparse examples
	count int       // of them for each
	part  int       // of a span: examples whose coefficients are computed together
	whole bool      // the totals of a span are kept, and each part is added to them at once
	work  int       // classes of all scores and sums of a part, in which the next one is fetched
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
	own := memory.Product(2*4*span, classes)
	own += max(4*int64(e.k.mostRows)*sumColumns, totalBytes)
	workers := min(runtime.GOMAXPROCS(0), panels(x.N, span))
	if x.Sparse() {
		scratch = memory.Sum(memory.Product(4, panels(x.N, span)*span, panels(classes, lanes)*lanes),
			memory.Product(16, x.Size()), memory.Product(16, x.D))
		own += 8 * columnsPerTask * 2 * lanes
	} else {
		own += memory.Product(8, classes, x.D)
		workers = min(workers, mostOwn(classes, x.D))
	}
	packed := memory.Product(4, panels(classes, lanes)*lanes, x.D) // weights
	return memory.Sum(scratch, packed, memory.Product(workers, int(own)))
}

func (v *evaluator) SetTargets(t engine.Targets) error {
	v.targets = t
	return nil
}

// Evaluate: clauses 1, 15, 16 and 14.
func (v *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	preparePasses(v.resident, w, v.classes)
	v.work = 0
	for _, p := range v.passes {
		v.work += len(p.lines)
	}
	return v.sum(sums, v.q, func(own *worker, first, n int, a []float32) {
		scoreSpan(v, first, n, own)
		spanResiduals(v, first, n, &own.share, a)
	}), nil
}

func (v *evaluator) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / v.x.N
	v.work = 0
	v.sum(sums, count, func(_ *worker, first, n int, to []float32) {
		for i := range n {
			place := i/lanes*count*lanes + i%lanes
			for r, weight := range a[(first+i)*count : (first+i+1)*count] {
				to[place+r*lanes] = weight
			}
		}
	})
	return nil
}

// examples returns how many examples a span has.
func (v *evaluator) examples(at int) int { return min(span, v.x.N-at*span) }

// scoreSpan computes the scores of some examples.
func scoreSpan(v *evaluator, first, n int, own *worker) {
	from, to := first/lanes, blocksOf(first+n)
	if v.x.Sparse() {
		scoreSparse(v.resident, from, to, own.floats)
		return
	}
	d := v.dense.d
	for i := range v.passes {
		p := &v.passes[i]
		ahead, rate := own.share.fetch(from*lanes*d, n*d, len(p.lines))
		scoreDense(v.resident, p, from, to, v.scores[from*v.q*lanes:], v.q*lanes, ahead, rate)
	}
}

// spanResiduals computes the residuals and losses of some examples (clause 16); the residuals go
// to a.
func spanResiduals(v *evaluator, first, n int, s *share, a []float32) {
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
	// ownSumBytes is the most that the sums of all workers take, unless one worker's take more.
	ownSumBytes = 1 << 30
	// totalBytes is the most that the totals of a part of a span take.
	totalBytes = 256 << 10
	// nextColumns is how many bytes of a row the kernel weighted mostly takes at once.
	nextColumns = 4 * 32
	// spansPerTask are the spans of a task that has sums of its own, at most.
	spansPerTask = 8
)

// mostOwn returns the most workers that have sums of their own for count coefficients.
func mostOwn(count, d int) int { return max(1, ownSumBytes/8/d/count) }

// partOf returns how many examples are a part of a span: a second-level cache holds two parts.
func partOf(d int) int {
	blocks := max(1, taskBytes/(4*lanes*d))
	return min(span, lanes<<(bits.Len(uint(blocks))-1))
}

// share is what one worker has of an evaluation.
type share struct {
	begun          bool
	next, work     int           // which value of the examples to fetch next; of evaluator, or 0
	soon           int           // else how many bytes ahead to fetch in an example
	a, t           []float32     // coefficients and targets of a span
	rows           [span]int64   // where the targets of each example of a span begin
	weight, losses [span]float32 // of the examples of a span
	refusedOf      [span / lanes]uint16
	loss           [span]int64 // sums of losses, one per example of a span
	refused        int64
	totals         []float32 // of the kernel weighted
	// of all rows and columns, or of up to 32 rows for some columns of sparse examples
	sums []int64
}

func (s *share) begin(v *evaluator) {
	s.begun, s.refused = true, 0
	clear(s.loss[:])
	s.a, s.t = resize(s.a, span*v.count), resize(s.t, span*v.q)
	s.totals = resize(s.totals, v.k.mostRows*sumColumns)
	if v.whole {
		s.totals = resize(s.totals, v.count*v.x.D)
	}
	if v.x.Sparse() {
		s.sums = resize(s.sums, columnsPerTask*2*lanes)
		return
	}
	s.sums = resize(s.sums, v.count*v.x.D)
	clear(s.sums)
}

// each does all tasks by workers whose share has begun.
func (v *evaluator) each(tasks, work int, do func(task int, own *worker)) {
	v.run(func(_ *resident, task int, own *worker) {
		if !own.share.begun {
			own.share.begin(v)
		}
		do(task, own)
	}, tasks, work, lanes*sparseMost)
}

// classSum computes the weighted sums of count coefficients of each example (clause 14), and
// returns what the shares have found. fill writes the coefficients of n examples, the first of a
// block and those after it: row r of example i of them is a[(i/16·count + r)·16 + i%16].
func (v *evaluator) sum(sums []int64, count int, fill func(own *worker, first, n int,
	a []float32)) engine.Evaluation {
	v.sums, v.count, v.part = sums, count, partOf(v.x.D)
	v.whole = count*v.x.D <= totalBytes/4
	for _, w := range v.workers {
		w.share.begun = false
	}
	spans, work := panels(v.x.N, span), v.x.Size()*count
	if v.x.Sparse() {
		v.held = resize(v.held, panels(count, lanes)*v.x.N*lanes)
		v.each(spans, work*sparseCost, func(at int, own *worker) {
			fill(own, at*span, v.examples(at), own.share.a)
			holdByExample(v, at, own.share.a)
		})
		v.each(len(v.columns)*panels(count, rowsOfColumns(v)), work*sparseCost, func(task int,
			own *worker) {
			sumSomeColumns(v, task, own)
		})
	} else {
		if v.whole {
			v.work += count
		}
		per := max(1, min(spansPerTask, spans/(16*runtime.GOMAXPROCS(0))),
			panels(spans, mostOwn(count, v.x.D)))
		v.each(panels(spans, per), 2*work, func(task int, own *worker) {
			for at := task * per; at < min((task+1)*per, spans); at++ {
				sumOwn(v, at, at+1 == min((task+1)*per, spans), own, fill)
			}
		})
		addShares(v)
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

// fill has the coefficients of a span computed, part by part. last says that it does not know which
// span comes next.
func (v *evaluator) fill(at int, last bool, own *worker, fill func(own *worker, first, n int,
	a []float32)) {
	s := &own.share
	for first, end := at*span, at*span+v.examples(at); first < end; first += v.part {
		n, a := min(v.part, end-first), s.a[(first-at*span)*v.count:]
		if s.next, s.work = (first+v.part)*v.x.D, v.work; last && first+n == end {
			s.work = 0
		}
		fill(own, first, n, a)
		if v.whole {
			weightedPart(v, first, n, a, 0, v.count, 0, v.x.D, s.totals, v.x.D, s)
		}
	}
	s.work = 0
}

// fetch returns what a kernel is told that reads some values, from value at on, for some classes:
// it fetches its share of the next part.
func (s *share) fetch(at, values, classes int) (ahead, rate int) {
	if s.work == 0 {
		return s.soon, 0
	}
	ahead, rate = 4*(s.next-at), wholeRate*classes/s.work
	s.next += values * rate / wholeRate
	return ahead, rate
}

// sumOwn adds the weighted sums of a span to the sums of a worker.
func sumOwn(v *evaluator, at int, last bool, own *worker, fill func(own *worker, first, n int,
	a []float32)) {
	s := &own.share
	if !v.whole {
		v.fill(at, last, own, fill)
		sumSpan(v, at, s)
		return
	}
	clear(s.totals)
	v.fill(at, last, own, fill)
	v.k.add(s.sums, s.totals, v.fixed.Scale(), s.totals)
}

// weightedPart continues the weighted sums of n examples from the first on, for rows r..rEnd-1
// of their coefficients and columns j..jEnd-1.
func weightedPart(v *evaluator, first, n int, a []float32, r, rEnd, j, jEnd int, totals []float32,
	width int, s *share) {
	d, per := v.x.D, rowsAtOnce(v, rEnd-r)
	for from := j; from < jEnd; from += sumColumns {
		columns := min(sumColumns, jEnd-from)
		for row := r; row < rEnd; row += per {
			x, rows := first*d+from, min(per, rEnd-row)
			ahead, rate := s.fetch(x, n*columns, rows)
			v.k.weighted(v.x.X[x:], d, columns, n, a[row*lanes:], v.count*lanes, rows,
				totals[(row-r)*width+from-j:], width, ahead, rate)
		}
	}
}

// rowsAtOnce returns how many rows the kernel weighted takes at once, in about equal portions.
func rowsAtOnce(v *evaluator, rows int) int { return panels(rows, panels(rows, v.k.mostRows)) }

// sumSpan adds the weighted sums of a span to the sums of a worker, some rows of coefficients and
// columns at a time.
func sumSpan(v *evaluator, at int, s *share) {
	d, n, scale, per := v.x.D, v.examples(at), v.fixed.Scale(), rowsAtOnce(v, v.count)
	for j := 0; j < d; j += sumColumns {
		columns := min(sumColumns, d-j)
		for row := 0; row < v.count; row += per {
			rows := min(per, v.count-row)
			totals := s.totals[:rows*columns]
			clear(totals)
			if s.soon = 0; row == 0 {
				s.soon = nextColumns
			}
			for first := 0; first < n; first += v.part {
				weightedPart(v, at*span+first, min(v.part, n-first), s.a[first*v.count:], row, row+rows, j,
					j+columns, totals, columns, s)
			}
			for k := range rows {
				total := totals[k*columns:][:columns]
				v.k.add(s.sums[(row+k)*d+j:][:columns], total, scale, total)
			}
		}
	}
}

// addShares adds up the sums of all workers.
func addShares(v *evaluator) {
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
	columnsPerTask = 128     // at most: their sums stay in a first-level cache
	valuesPerTask  = 1 << 14 // at most, but for one column
)

// columns are some columns of sparse examples.
type columns struct {
	first, last int // from first to last-1
	// see columnSumsGo; short ones before long ones, so that the processor foresees where one ends,
	// runs of one length in order of columns and examples
	runs   []int32
	rows   []int32   // the example of each value
	values []float32 // run by run
}

// newColumns returns all columns in groups, one group per task.
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

// cut makes the runs of columns that start there, and brings their values into the order of runs.
func (c *columns) cut(starts []int64) {
	// each calls f for all runs.
	each := func(f func(first, n, column int)) {
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
	var next [span + 2]int // by number of values: where the next run of these goes
	each(func(_, n, _ int) { next[n+1]++ })
	var to [span + 2]int // and where its values go
	for n := range next[1:] {
		to[n+1] = to[n] + n*next[n+1]
		next[n+1] += next[n]
	}
	c.runs = make([]int32, 2*next[span+1])
	rows, values := slices.Clone(c.rows), slices.Clone(c.values)
	each(func(first, n, column int) {
		c.runs[2*next[n]], c.runs[2*next[n]+1] = int32(n), int32(column)
		copy(rows[to[n]:], c.rows[first:first+n])
		copy(values[to[n]:], c.values[first:first+n])
		next[n]++
		to[n] += n
	})
	copy(c.rows, rows)
	copy(c.values, values)
}

// rowsOfColumns returns how many rows the kernels columnSums take at once.
func rowsOfColumns(v *evaluator) int { return lanes * len(v.k.columnSums) }

// heldFrom returns the coefficients of the rows from r on that are taken at once, the coefficients
// of each example side by side, and how many these are.
func heldFrom(v *evaluator, r int) (held []float32, n int) {
	n = min(rowsOfColumns(v), panels(v.count-r, lanes)*lanes)
	return v.held[r*v.x.N : (r+n)*v.x.N], n
}

// holdByExample keeps the coefficients of a span.
func holdByExample(v *evaluator, at int, a []float32) {
	for r := range v.count {
		first := r / rowsOfColumns(v) * rowsOfColumns(v)
		held, n := heldFrom(v, first)
		held = held[at*span*n+r-first:]
		for i := range v.examples(at) {
			held[i*n] = a[(i/lanes*v.count+r)*lanes+i%lanes]
		}
	}
}

// sumSomeColumns computes the weighted sums of some columns for the rows of coefficients that are
// taken at once.
func sumSomeColumns(v *evaluator, task int, own *worker) {
	c, first := &v.columns[task%len(v.columns)], task/len(v.columns)*rowsOfColumns(v)
	held, n := heldFrom(v, first)
	sums := own.share.sums[:(c.last-c.first)*n]
	clear(sums)
	v.k.columnSums[n/lanes-1](c.runs, c.rows, c.values, held, v.fixed.Scale(), sums)
	for r := first; r < min(first+n, v.count); r++ {
		for j, sum := 0, v.sums[r*v.x.D+c.first:r*v.x.D+c.last]; j < len(sum); j++ {
			sum[j] = sums[j*n+r-first]
		}
	}
}
