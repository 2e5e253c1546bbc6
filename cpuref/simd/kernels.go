package simd

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

const (
	lanes = 16             // examples in a block, classes in a group of norms
	chunk = numerics.Chunk // columns (clause 1)
)

// kernels are the inner loops of a level, that is with one set of instructions. What
// each does is said, and done, by its twin in Go below; tests compare all levels with it.
type kernels struct {
	level string

	dense  []denseKernel // one for each of widths
	widths []int         // numbers of classes, increasing

	sparse       []sparseKernel // one for each of sparseWidths
	sparseWidths []int          // 2, 8 and perhaps more

	region func(scores []float32, q int, alpha float32, before, now []int32,
		changed []uint16)
	add, sub             func(sum []int64, x []float32, scale float32, next []float32)
	transfer             func(from, to []int64, x []float32, scale float32, next []float32)
	addSparse, subSparse func(sum []int64, columns []int32, values []float32, scale float32)
	toFloat              func(dst []float32, src []int64)
	combine              func(z, g, b []float32, unit float32)
	norms                func(g []float32, columns int, bt []float32, unit float32, norm []float32)

	projectKernels
	evaluateKernels
}

// available lists the levels that this processor and this build can use, slowest first.
func available() []*kernels { return append([]*kernels{&portable}, assembly()...) }

type (
	denseKernel func(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step,
		ahead int)
	sparseKernel func(starts []int64, columns []int32, values, w, out []float32)
)

var portable = kernels{
	level: "Go",
	dense: []denseKernel{denseGo, denseGo}, widths: []int{2, 8},
	sparse: []sparseKernel{sparseGo, sparseGo}, sparseWidths: []int{2, 8},
	region: regionGo,
	add:    addGo, sub: subGo, transfer: transferGo,
	addSparse: addSparseGo, subSparse: subSparseGo,
	toFloat: toFloatGo, combine: combineGo, norms: normsGo,
	projectKernels: projectKernels{product: productGo, rbf: rbfGo, poly: polyGo},
	evaluateKernels: evaluateKernels{weighted: weightedGo, mostRows: 1, spread: spreadGo,
		posterior: posteriorGo, given: givenGo, columnSums: columnSumsGo},
}

// denseGo computes the scores of n = len(lines) classes for 16·blocks examples
// (clause 1). x are their rows of d values, d at least 4; the scores of class c
// for block b go to the 16 lanes from scores[b·step + lines[c]]. w are packed
// weights (see pack). ahead says how many bytes before its use the assembly
// fetches x.
func denseGo(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step,
	ahead int) {
	n := len(lines)
	shift := (4 - d%4) % 4 // columns by which the last group begins too early
	for i := range lanes * blocks {
		row := x[i*d : (i+1)*d]
		for c, line := range lines {
			var total, acc float32
			for j := 0; j < d+shift; j++ {
				if j > 0 && j%chunk == 0 {
					total, acc = total+acc, 0
				}
				at := j
				if j >= (d+3)/4*4-4 {
					at -= shift
				}
				acc = numerics.FMA(row[at], w[j*n+c], acc)
			}
			scores[i/lanes*step+line+i%lanes] = total + acc
		}
	}
}

// sparseGo computes the scores of n classes for len(starts)-1 examples (clause
// 1). Stored values starts[i] to starts[i+1]-1 of columns and values are those
// of example i, the weight of class c in column j is w[j·n + c], and the score
// goes to out[i·n + c]. n is len(out) divided by the examples.
func sparseGo(starts []int64, columns []int32, values, w, out []float32) {
	rows := len(starts) - 1
	n := len(out) / rows
	for i := range rows {
		from, to := starts[i], starts[i+1]
		numerics.SparseDots(out[i*n:(i+1)*n], columns[from:to], values[from:to], w)
	}
}

// regionGo finds the places of the examples of len(changed) blocks (clause 4):
// 2·prediction, plus 1 if the margin reaches alpha. The scores of class c for
// block b are the 16 lanes from scores[(b·q + c)·16]. Places are written to now;
// bit l of changed[b] says that lane l differs from before.
func regionGo(scores []float32, q int, alpha float32, before, now []int32, changed []uint16) {
	for b := range changed {
		changed[b] = 0
		for l := range lanes {
			best, second := float32(math.Inf(-1)), float32(math.Inf(-1))
			place, i := int32(0), b*lanes+l
			for c := range q {
				switch s := scores[(b*q+c)*lanes+l]; {
				case s > best:
					second, best, place = best, s, int32(2*c)
				case s > second:
					second = s
				}
			}
			if best-second >= alpha {
				place++
			}
			if now[i] = place; place != before[i] {
				changed[b] |= 1 << l
			}
		}
	}
}

// addGo adds the integers of x (clause 3) to sum; both have the same length. The
// assembly fetches as many values of next meanwhile, which will be x soon.
func addGo(sum []int64, x []float32, scale float32, next []float32) {
	for j, v := range x {
		sum[j] += numerics.Quantize(v, scale)
	}
}

// subGo subtracts them: the integer of -x is that of x with the other sign.
func subGo(sum []int64, x []float32, scale float32, next []float32) { addGo(sum, x, -scale, next) }

// transferGo subtracts them from one sum and adds them to another.
func transferGo(from, to []int64, x []float32, scale float32, next []float32) {
	subGo(from, x, scale, next)
	addGo(to, x, scale, next)
}

// addSparseGo adds the integer of each value to the sum of its column.
func addSparseGo(sum []int64, columns []int32, values []float32, scale float32) {
	for i, j := range columns {
		sum[j] += numerics.Quantize(values[i], scale)
	}
}

// subSparseGo subtracts them.
func subSparseGo(sum []int64, columns []int32, values []float32, scale float32) {
	addSparseGo(sum, columns, values, -scale)
}

// toFloatGo converts src to the nearest float32, ties to even (clause 6). dst has
// the same length.
func toFloatGo(dst []float32, src []int64) {
	for j, v := range src {
		dst[j] = float32(v)
	}
}

// combineGo computes len(z) values of an update vector (clause 6): row k of g, 256
// values long, holds the class sums of label k. len(z) is a multiple of 32.
func combineGo(z, g, b []float32, unit float32) {
	for j := range z {
		var acc float32
		for k, bk := range b {
			acc = numerics.FMA(bk, g[k*chunk+j], acc)
		}
		z[j] = acc * unit
	}
}

// normsGo computes the squared norms, over the first columns of one chunk, of
// the update vectors of 16 classes (clauses 6 and 1). g is that of combineGo, bt
// holds 16 values for each label k: B[q][k] for each of the classes q.
func normsGo(g []float32, columns int, bt []float32, unit float32, norm []float32) {
	for q := range lanes {
		var acc float32
		for j := range columns {
			var z float32
			for k := 0; k < len(bt)/lanes; k++ {
				z = numerics.FMA(bt[k*lanes+q], g[k*chunk+j], z)
			}
			z *= unit
			acc = numerics.FMA(z, z, acc)
		}
		norm[q] = acc
	}
}
