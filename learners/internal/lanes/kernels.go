package lanes

import "github.com/uma-gpu/uma-gpu/host/numerics"

// kernels are the inner loops of a level, that is with one set of instructions. What each does is
// said, and done, by its twin in Go below; tests compare all levels with it. Weights w and sums
// have lanes for each column: 4, 8 or 16, and of sparse examples any multiple of 4, which
// is the length of out, tau and by.
type kernels struct {
	level string

	dots func(lanes int, x, w []float32, at *[chains]int, columns int,
		acc *[chains * most]float32)
	sparse     func(columns []int32, values, w, out []float32)
	add        func(lanes int, x, w []float32, tau *[most]float32)
	addSparse  func(columns []int32, values, w, tau []float32)
	late       func(sums []float64, terms []term, x []float64)
	widen      func(dst []float64, src []float32)
	lateSparse func(columns []int32, values []float32, sums, by []float64)
	prefetch   func(x Row)

	// addDots is add of y and then dots of x, of 16 lanes, but for each column at once, and of the
	// first chains alone that are present. Nil where it is no faster.
	addDots func(x, y, w []float32, at *[chains]int, present, columns int, acc *[chains * most]float32,
		tau *[most]float32)
}

// available lists the levels that this processor and this build can use, slowest first.
func available() []*kernels { return append([]*kernels{&portable}, assembly()...) }

// fastest is the last of them.
var fastest = func() *kernels {
	all := available()
	return all[len(all)-1]
}()

var portable = kernels{
	level: "Go", dots: dotsGo, sparse: sparseGo, add: addGo, addSparse: addSparseGo, late: lateGo,
	widen:      widenGo,
	lateSparse: lateSparseGo, prefetch: func(Row) {},
}

// dotsGo continues four chains of fma, the first lanes of 16 in acc each: chain c over columns
// numbers from at[c].
func dotsGo(lanes int, x, w []float32, at *[chains]int, columns int, acc *[chains * most]float32) {
	for c, from := range at {
		for j := from; j < from+columns; j++ {
			for r := range lanes {
				acc[c*most+r] = numerics.FMA(x[j], w[j*lanes+r], acc[c*most+r])
			}
		}
	}
}

// sparseGo writes the scores of stored values (clause 1) to out.
func sparseGo(columns []int32, values, w, out []float32) {
	numerics.SparseDots(out, columns, values, w)
}

// addGo adds τ times a dense row to w.
func addGo(lanes int, x, w []float32, tau *[most]float32) {
	for j, v := range x {
		for r := range lanes {
			w[j*lanes+r] = numerics.FMA(tau[r], v, w[j*lanes+r]) + 0
		}
	}
}

// addSparseGo adds τ times stored values to w.
func addSparseGo(columns []int32, values, w, tau []float32) {
	for k, j := range columns {
		for r, t := range tau {
			at := int(j)*len(tau) + r
			w[at] = numerics.FMA(t, values[k], w[at]) + 0
		}
	}
}

// lateGo adds terms, at least one, to sums, one after another, each product rounded
// before it is added: t times the numbers of x that begin at the term's place.
func lateGo(sums []float64, terms []term, x []float64) {
	for j := range sums {
		for _, e := range terms {
			sums[j] += float64(e.t * x[e.at+j])
		}
	}
}

// widenGo writes src to dst, which is as long.
func widenGo(dst []float64, src []float32) {
	for j, v := range src {
		dst[j] = float64(v)
	}
}

// lateSparseGo adds stored values times by to the sums of all lanes in their columns, each product
// rounded before it is added.
func lateSparseGo(columns []int32, values []float32, sums, by []float64) {
	for k, j := range columns {
		for r, b := range by {
			sums[int(j)*len(by)+r] += float64(b * float64(values[k]))
		}
	}
}
