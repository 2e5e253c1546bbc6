package online

import "github.com/uma-gpu/uma-gpu/host/numerics"

// kernels are the inner loops with one set of instructions. What each does is said, and done, by
// its twin in Go below; a test compares all with it. Weights w and sums have lanes for each column:
// the length of out, tau and by, a multiple of 8.
type kernels struct {
	level string
	dots  func(columns []int32, values, w, out []float32)
	add   func(columns []int32, values, w, tau []float32)
	late  func(columns []int32, values []float32, sums, by []float64)
}

// fastest are the kernels that this processor and this build run fastest.
var fastest = func() *kernels {
	all := available()
	return all[len(all)-1]
}()

var portable = kernels{"Go", dotsGo, addGo, lateGo}

// dotsGo writes the scores of stored values (clause 1) to out.
func dotsGo(columns []int32, values, w, out []float32) {
	numerics.SparseDots(out, columns, values, w)
}

// addGo adds τ times stored values to w.
func addGo(columns []int32, values, w, tau []float32) {
	for k, j := range columns {
		for r, t := range tau {
			at := int(j)*len(tau) + r
			w[at] = numerics.FMA(t, values[k], w[at]) + 0
		}
	}
}

// lateGo adds stored values times by to the sums of all lanes in their columns, each product
// rounded before it is added.
func lateGo(columns []int32, values []float32, sums, by []float64) {
	for k, j := range columns {
		for r, b := range by {
			sums[int(j)*len(by)+r] += float64(b * float64(values[k]))
		}
	}
}
