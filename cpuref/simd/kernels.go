package simd

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/kernel"
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
	sparseWidths []int
	fewer        bool // the sparse kernels also take fewer classes than their widths

	region func(scores []float32, q int, alpha float32, before, now []int32,
		changed []uint16)
	add     func(sum []int64, x []float32, scale float32, next []float32)
	toFloat func(dst []float32, src []int64)
	combine func(z, g, b []float32, unit float32)
	norms   func(g []float32, columns int, bt []float32, unit float32, norm []float32)

	binKernels
	projectKernels
	evaluateKernels
}

// available lists the levels that this processor and this build can use, slowest first.
func available() []*kernels { return append([]*kernels{&portable}, assembly()...) }

type (
	denseKernel func(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step,
		ahead, rate int)
	sparseKernel func(starts []int64, columns []int32, values, w []float32, n int, out []float32)
)

var portable = kernels{
	level: "Go",
	dense: []denseKernel{denseGo, denseGo}, widths: []int{2, 8},
	sparse: []sparseKernel{sparseGo}, sparseWidths: []int{32}, fewer: true,
	region: regionGo,
	add:    addGo, toFloat: toFloatGo, combine: combineGo, norms: normsGo,
	binKernels:     binGo,
	projectKernels: projectKernels{product: productGo, rbf: rbfGo},
	evaluateKernels: evaluateKernels{weighted: weightedGo, mostRows: 1, spread: spreadGo,
		posterior: posteriorGo, given: givenGo, columnSums: []columnsKernel{columnSumsGo(lanes)}},
}

// denseGo computes the scores of n = len(lines) classes for 16·blocks examples
// (clause 1). x are their rows of d values, d at least 4; the scores of class c
// for block b go to the 16 lanes from scores[b·step + lines[c]]. w are packed
// weights (see pack). The assembly fetches memory from ahead bytes after x on, rate bytes for 256
// that it reads.
func denseGo(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step,
	ahead, rate int) {
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
// goes to out[i·n + c].
func sparseGo(starts []int64, columns []int32, values, w []float32, n int, out []float32) {
	for i := range len(starts) - 1 {
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

// addGo adds the integers of x (clause 3) to sum; both have the same length. With -scale they are
// taken off it: the integer of -x is the integer of x with the other sign. The assembly fetches the
// same number of values of next meanwhile, which will be x soon.
func addGo(sum []int64, x []float32, scale float32, next []float32) {
	for j, v := range x {
		sum[j] += numerics.Quantize(v, scale)
	}
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
// the update vectors of 16 classes (clauses 6 and 1). g is as in combineGo, bt
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

// evaluateKernels are the inner loops of an Evaluator.
type evaluateKernels struct {
	weighted         weightedKernel
	mostRows         int // of weighted
	spread           func(t []float32, q int, values []float32, rows []int64)
	posterior, given residualKernel
	columnSums       []columnsKernel // for 16 rows of coefficients, 32
}

type (
	weightedKernel func(x []float32, stride, columns, examples int, a []float32, step, rows int,
		totals []float32, width, ahead, rate int)
	columnsKernel  func(runs, rows []int32, values, a []float32, scale float32, sums []int64)
	residualKernel func(scores []float32, q int, t, a, weight, losses []float32, refused []uint16)
)

// weightedGo continues Σ a[i][r]·x_i, one block of clause 14, for some examples, some columns
// and rows 0..rows-1 of coefficients. Example i has its columns from x[i·stride] and its
// coefficient of row r at a[i/16·step + r·16 + i%16]; the sums of row r are those from
// totals[r·width]. ahead and rate are as in denseGo; if rate is 0, ahead is where columns of the
// same example lie.
func weightedGo(
	x []float32, stride, columns, examples int, a []float32, step, rows int, totals []float32,
	width, ahead, rate int) {
	for r := range rows {
		total := totals[r*width : r*width+columns]
		for i := range examples {
			weight := a[i/lanes*step+r*lanes+i%lanes]
			for j, v := range x[i*stride : i*stride+columns] {
				total[j] = numerics.FMA(weight, v, total[j])
			}
		}
	}
}

// spreadGo brings the targets of len(rows) examples, a multiple of 16, into lanes: q values
// from values[rows[i]] become the values of lane i%16 in the q·16 of block i/16 of t.
func spreadGo(t []float32, q int, values []float32, rows []int64) {
	for i, from := range rows {
		for k, v := range values[from : from+int64(q)] {
			t[(i/lanes*q+k)*lanes+i%lanes] = v
		}
	}
}

// residualsGo computes the residuals and losses of len(refused) blocks of 16 examples whose
// targets are given, or posteriors (clause 16). Class k of block b has its 16 values from
// (b·q + k)·16: scores, targets t, and residuals a, 0 where the example is refused.
// Weights and losses are 16 for each block; bit l of refused[b] says that lane l is
// refused, and then its loss is 0. t is overwritten.
func residualsGo(given bool) residualKernel {
	return func(scores []float32, q int, t, a, weight, losses []float32, refused []uint16) {
		var few [3 * 64]float32
		own := few[:]
		if q > 64 {
			own = make([]float32, 3*q)
		}
		s, target, residual := own[:q], own[q:2*q], own[2*q:3*q]
		for i, u := range weight[:len(refused)*lanes] {
			b, l := i/lanes, i%lanes
			at := b*q*lanes + l
			for k := range q {
				s[k], target[k] = scores[at+k*lanes], t[at+k*lanes]
			}
			loss, counts := numerics.Residuals(residual, target, s, target, u, given)
			for k, v := range residual {
				a[at+k*lanes] = v
			}
			losses[i] = loss
			if l == 0 {
				refused[b] = 0
			}
			if !counts {
				refused[b] |= 1 << l
			}
		}
	}
}

var posteriorGo, givenGo = residualsGo(false), residualsGo(true)

// columnSumsGo adds to weighted sums of columns of sparse examples (clause 14). A run is two
// numbers: the first is how many stored values, at least one, belong to one block of the column
// that the second names; run follows run. Value k is of example rows[k], which has n
// coefficients from a[rows[k]·n]. Column j has its n sums from sums[j·n].
func columnSumsGo(n int) columnsKernel {
	return func(runs, rows []int32, values, a []float32, scale float32, sums []int64) {
		for ; len(runs) > 0; runs = runs[2:] {
			var acc [2 * lanes]float32
			for k, i := range rows[:runs[0]] {
				for r, weight := range a[int(i)*n : (int(i)+1)*n] {
					acc[r] = numerics.FMA(weight, values[k], acc[r])
				}
			}
			rows, values = rows[runs[0]:], values[runs[0]:]
			for r, v := range acc[:n] {
				sums[int(runs[1])*n+r] += numerics.Quantize(v, scale)
			}
		}
	}
}

const (
	productRows    = 12 // rows of a block
	productColumns = 32 // columns of a panel
)

// projectKernels are the inner loops of Project.
type projectKernels struct {
	product func(x []float32, stride, blocks, columns int, w, totals []float32, step int, first bool)
	rbf     func(values []float32, xx, gamma float32, yy []float32)
}

// productGo adds one chunk to dot products of 12·blocks rows and the 32 columns of a panel
// (clause 1). Row i of x has columns values from x[i·stride]; w has the 32 values of the
// panel for each of them; the totals of row i are the 32 from totals[i·step], counted as 0 if
// this is the first chunk.
func productGo(x []float32, stride, blocks, columns int, w, totals []float32, step int,
	first bool) {
	for i := range productRows * blocks {
		var acc [productColumns]float32
		for j, v := range x[i*stride : i*stride+columns] {
			for c, weight := range w[j*productColumns : (j+1)*productColumns] {
				acc[c] = numerics.FMA(v, weight, acc[c])
			}
		}
		for c, total := range totals[i*step : i*step+productColumns] {
			if first {
				total = 0
			}
			totals[i*step+c] = total + acc[c]
		}
	}
}

// rbfGo replaces dot products of an example with landmarks by kernel values (clause 13): xx is
// ⟨x,x⟩, yy has ⟨y,y⟩ of each landmark. len(values) is a multiple of 16.
func rbfGo(values []float32, xx, gamma float32, yy []float32) {
	f := kernel.Function{Kind: kernel.RBF, Gamma: gamma}
	for l, v := range values {
		values[l] = f.Value(v, xx, yy[l])
	}
}
