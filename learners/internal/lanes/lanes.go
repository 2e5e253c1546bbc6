// Package lanes has weights that lie side by side, those of all classes in one column after those
// in the one before, and what learners do with them and one example at a time: its scores, and
// adding it to the weights. Classes are the lanes of a vector, so that a column takes one fma, and
// four chunks of columns are under way at once: the sums are those of clause 1 all the same, on
// every processor.
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
// as few lines of a cache as there can be.
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

// places calls f with the place of each of q×d numbers, where groups of rows lie side by side, as
// many as lanes, and with its place row-major.
func places(q, d, lanes int, f func(at, rowMajor int)) {
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

// fitting returns x as the kernels for these weights take it: those of more than 16 lanes have
// stored values alone.
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

// setLine has line hold part, and 0 behind it.
func (w *Weights) setLine(part []float32) { clear(w.line[copy(w.line, part):]) }

// dense writes the scores of a dense row x for one group, to which it adds y before if that is not
// nil.
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
