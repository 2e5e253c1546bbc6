// Package lanes stores weights by columns, the weights of all classes side by side, and computes
// with one example at a time: its scores, and adding it to the weights. Classes are the lanes of
// a vector, so that a column takes one fma, and four chunks of columns are under way at once. The
// sums have the bits of clause 1 on every processor.
package lanes

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

const (
	most   = 16             // lanes
	chunk  = numerics.Chunk // columns (clause 1)
	chains = 4              // chunks under way
)

// Row is an example: all its values or, if Columns is not nil, those in increasing columns.
type Row struct {
	Columns []int32
	Values  []float32
}

// Weights are Q×D weights. Of dense examples each group of classes has its own columns, with four
// chunks under way at once. Sparse examples find all classes of a column side by side, in
// the fewest cache lines possible.
type Weights struct {
	q, d int
	// in a column of a group: 4, 8 or 16, or for sparse examples a multiple of 4; idle ones stay 0
	lanes int
	v     []float32 // groups × d × lanes
	k     *kernels
	acc   [chains * most]float32
	line  []float32 // for a number of each lane, 16 at least
	all   []int32   // 0..d-1, if a dense example came to weights of more lanes than 16; else nil

	waiting []float32 // a dense row that Add was given and nobody has added; nil for none
	tau     []float32 // with it
}

// New returns weights that are 0, for dense or for sparse examples; either sort takes the other
// one too.
func New(q, d int, sparse bool) *Weights { return newWeights(q, d, sparse, fastest) }

func newWeights(q, d int, sparse bool, k *kernels) *Weights {
	w := &Weights{q: q, d: d, lanes: most, k: k}
	switch {
	case q <= 4:
		w.lanes = 4
	case q <= 8:
		w.lanes = 8
	case q > most && sparse:
		w.lanes = (q + 3) / 4 * 4
	}
	w.line = make([]float32, max(most, w.lanes))
	w.v = make([]float32, (q+w.lanes-1)/w.lanes*w.lanes*d)
	return w
}

// places calls f(laneIndex, rowMajorIndex) for each of q×d weights.
func places(q, d, lanes int, f func(laneIndex, rowMajorIndex int)) {
	for from := 0; from < d; from += strip {
		for r := range q {
			for j := from; j < min(d, from+strip); j++ {
				f((r/lanes*d+j)*lanes+r%lanes, r*d+j)
			}
		}
	}
}

// columnsOf returns 0 to d-1, in the memory of all if it holds them already.
func columnsOf(all []int32, d int) []int32 {
	for j := len(all); j < d; j++ {
		all = append(all, int32(j))
	}
	return all
}

// Set takes Q×D weights, row-major. A -0 becomes +0.
func (w *Weights) Set(rows []float32) {
	w.waiting = nil
	places(w.q, w.d, w.lanes, func(at, i int) { w.v[at] = rows[i] + 0 })
}

// Get writes the weights to rows, row-major.
func (w *Weights) Get(rows []float32) {
	w.Flush()
	places(w.q, w.d, w.lanes, func(at, i int) { rows[i] = w.v[at] })
}

// Copy takes the weights of other, which has the same sizes.
func (w *Weights) Copy(other *Weights) {
	other.Flush()
	w.waiting = nil
	copy(w.v, other.v)
}

// Scores writes the Q scores of x (clause 1).
func (w *Weights) Scores(dst []float32, x Row) {
	x = w.fitting(x)
	if x.Columns != nil || w.k.addDots == nil || w.lanes != most {
		w.Flush()
	}
	for from := 0; from < w.q; from += w.lanes {
		v, out := w.v[from*w.d:(from+w.lanes)*w.d], dst[from:min(w.q, from+w.lanes)]
		if x.Columns == nil {
			w.dense(out, v, x.Values, w.waitingFor(from))
			continue
		}
		w.k.sparse(x.Columns, x.Values, v, w.line[:w.lanes])
		copy(out, w.line)
	}
	w.waiting = nil
}

// fitting returns x as the kernels for these weights take it: weights of more than 16 lanes
// take stored values only.
func (w *Weights) fitting(x Row) Row {
	if x.Columns != nil || w.lanes <= most {
		return x
	}
	w.all = columnsOf(w.all, w.d)
	return Row{Columns: w.all, Values: x.Values}
}

// waitingFor returns the row that has to be added to the group whose first class is from, nil for
// none, and has its τ in line.
func (w *Weights) waitingFor(from int) []float32 {
	if w.waiting == nil {
		return nil
	}
	part := w.tau[from:min(w.q, from+w.lanes)]
	if !slices.ContainsFunc(part, func(t float32) bool { return t != 0 }) {
		return nil
	}
	w.setLine(part)
	return w.waiting
}

// setLine has line hold part, and 0 after it.
func (w *Weights) setLine(part []float32) { clear(w.line[copy(w.line, part):]) }

// dense writes the scores of a dense row x for one group, to which it adds y before if that is
// not nil.
func (w *Weights) dense(dst, v, x, y []float32) {
	clear(dst)
	for len(x) > 0 {
		here := x[:min(len(x), chains*chunk)]
		if y == nil {
			w.chunks(dst, v, here, nil)
		} else {
			w.chunks(dst, v, here, y[:len(here)])
			y = y[len(here):]
		}
		x, v = x[len(here):], v[len(here)*w.lanes:]
	}
}

// chunks adds the results of up to four chunks, and the last may be shorter, to dst. All
// run side by side: first as far as the last one goes, then without it. The kernel has four
// chains always; where there are less chunks, the first one is run again, for nothing.
func (w *Weights) chunks(dst, v, x, y []float32) {
	full, rest := len(x)/chunk, len(x)%chunk
	var at [chains]int
	var last [most]float32 // of the shorter chunk
	run := func(present, from, columns int) {
		for c := range at {
			if at[c] = from; c < present {
				at[c] += c * chunk
			}
		}
		if y != nil {
			w.k.addDots(x, y, v, &at, present, columns, &w.acc, (*[most]float32)(w.line))
			return
		}
		w.k.dots(w.lanes, x, v, &at, columns, &w.acc)
	}
	w.acc = [chains * most]float32{}
	if rest > 0 {
		run(full+1, 0, rest)
		copy(last[:], w.acc[full*most:])
	}
	if full > 0 {
		run(full, rest, chunk-rest)
	}
	for c := range full {
		for r := range dst {
			dst[r] += w.acc[c*most+r]
		}
	}
	if rest > 0 {
		for r := range dst {
			dst[r] += last[r]
		}
	}
}

// Add adds τ_r·x to the weights of each class r, by one fma each; a result of -0 becomes +0, so
// that zeros of x and of τ change nothing. A dense x has to stay as it is until the next call,
// which adds it where it reads the weights anyway, or Flush.
func (w *Weights) Add(tau []float32, x Row) {
	w.Flush()
	if x = w.fitting(x); x.Columns == nil {
		w.waiting, w.tau = x.Values, append(w.tau[:0], tau...)
		return
	}
	for from := 0; from < w.q; from += w.lanes {
		w.setLine(tau[from:min(w.q, from+w.lanes)])
		w.k.addSparse(x.Columns, x.Values, w.v[from*w.d:(from+w.lanes)*w.d], w.line[:w.lanes])
	}
}

// Flush adds what waits to be added.
func (w *Weights) Flush() {
	for from := 0; w.waiting != nil && from < w.q; from += w.lanes {
		if y := w.waitingFor(from); y != nil {
			w.k.add(w.lanes, y, w.v[from*w.d:(from+w.lanes)*w.d], (*[most]float32)(w.line))
		}
	}
	w.waiting = nil
}

// Prefetch says that x will be needed soon.
func Prefetch(x Row) { fastest.prefetch(x) }

// strip is how many columns of sums are visited before the next class, so that the
// examples' part of them stays in the cache.
const strip = 64

// mostWaiting is how many examples may wait.
const mostWaiting = 64

// term is a number times an example that waits, whose columns of a strip begin at a place.
type term struct {
	t  float64
	at int
}

// Late are Q×D sums, to whose rows examples are added, each product rounded before it is added.
// By rows, dense examples wait until Flush, or until there are many, so that a sum that takes
// several of them is read and written once; each sum takes them in their order. By columns, those
// of all classes lie side by side, as suits sparse examples.
type Late struct {
	q, d    int
	lanes   int         // by columns, in each of them: a multiple of 4, idle ones are 0; else 1
	sums    []float64   // Q×D or, by columns, D×lanes; without what waits
	waiting [][]term    // of each class
	rows    [][]float32 // the dense examples that wait
	part    []float64   // a strip of them
	by      []float64   // by columns, how often an example is added to each lane
	all     []int32     // 0..d-1, if a dense example came to sums by columns; else nil
	k       *kernels
}

// NewLate returns sums that are 0, by columns if they are for sparse examples; they take others
// too.
func NewLate(q, d int, byColumns bool) *Late { return newLate(q, d, byColumns, fastest) }

func newLate(q, d int, byColumns bool, k *kernels) *Late {
	l := &Late{q: q, d: d, lanes: 1, waiting: make([][]term, q), sums: make([]float64, q*d), k: k}
	if byColumns {
		l.lanes = (q + 3) / 4 * 4
		l.by, l.sums = make([]float64, l.lanes), make([]float64, l.lanes*d)
	}
	return l
}

// Copy takes the sums of from, of the same sizes, 0 if that is nil.
func (l *Late) Copy(from *Late) {
	l.drop()
	if from == nil {
		clear(l.sums)
		return
	}
	from.Flush()
	copy(l.sums, from.sums)
}

func (l *Late) drop() {
	l.rows = l.rows[:0]
	for r := range l.waiting {
		l.waiting[r] = l.waiting[r][:0]
	}
}

// Get writes the sums to rows, row-major.
func (l *Late) Get(rows []float64) {
	l.Flush()
	places(l.q, l.d, l.lanes, func(at, i int) { rows[i] = l.sums[at] })
}

// Set takes sums, row-major. A -0 becomes +0.
func (l *Late) Set(rows []float64) {
	l.drop()
	places(l.q, l.d, l.lanes, func(at, i int) { l.sums[at] = rows[i] + 0 })
}

// Average subtracts sums/n from the weights w, row-major, in float64.
func (l *Late) Average(w []float32, n float64) {
	l.Flush()
	places(l.q, l.d, l.lanes, func(at, i int) { w[i] = float32(float64(w[i]) - l.sums[at]/n) })
}

// Add adds t·τ_r·x to each row r. A dense x has to stay as it is until Flush.
func (l *Late) Add(t float64, tau []float32, x Row) {
	if l.lanes > 1 {
		l.addColumns(t, tau, x)
		return
	}
	if x.Columns != nil {
		l.Flush()
	}
	waits := false
	for r, v := range tau {
		by := t * float64(v)
		switch {
		case v == 0:
		case x.Columns == nil:
			l.waiting[r] = append(l.waiting[r], term{by, strip * len(l.rows)})
			waits = true
		default:
			sums := l.sums[r*l.d : (r+1)*l.d]
			for i, j := range x.Columns {
				sums[j] += float64(by * float64(x.Values[i]))
			}
		}
	}
	if waits {
		l.rows = append(l.rows, x.Values)
	}
	if len(l.rows) == mostWaiting {
		l.Flush()
	}
}

func (l *Late) addColumns(t float64, tau []float32, x Row) {
	if x.Columns == nil {
		l.all = columnsOf(l.all, l.d)
		x.Columns = l.all
	}
	for r, v := range tau {
		l.by[r] = t * float64(v) // if 0 no sum changes: none is ever -0
	}
	l.k.lateSparse(x.Columns, x.Values, l.sums, l.by)
}

// Flush adds what waits.
func (l *Late) Flush() {
	if len(l.rows) == 0 {
		return
	}
	if l.part == nil {
		l.part = make([]float64, strip*mostWaiting)
	}
	for from := 0; from < l.d; from += strip {
		to := min(l.d, from+strip)
		for i, x := range l.rows {
			l.k.widen(l.part[i*strip:i*strip+to-from], x[from:to])
		}
		for r, terms := range l.waiting {
			if len(terms) > 0 {
				l.k.late(l.sums[r*l.d+from:r*l.d+to], terms, l.part)
			}
		}
	}
	l.drop()
}
