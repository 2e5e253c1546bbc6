package simd

import "github.com/uma-gpu/uma-gpu/host/numerics"

// evaluateKernels are the inner loops of an Evaluator.
type evaluateKernels struct {
	weighted         weightedKernel
	mostRows         int // of weighted
	spread           func(t []float32, q int, values []float32, rows []int64)
	posterior, given residualKernel
	columnSums       func(starts []int64, rows []int32, values, a []float32, scale float32,
		sums []int64)
}

type (
	weightedKernel func(x []float32, stride, columns, examples int, a []float32, step, rows int,
		totals []float32, width int)
	residualKernel func(scores []float32, q int, t, a, weight, losses []float32, refused []uint16)
)

// weightedGo computes Σ a[i][r]·x_i of up to 256 examples, one block of clause 14, for some
// columns and for rows 0..rows-1 of coefficients. Example i has its columns from
// x[i·stride] and its coefficient of row r at a[i/16·step + r·16 + i%16]; the sums of row r
// go to totals from r·width.
func weightedGo(
	x []float32, stride, columns, examples int, a []float32, step, rows int, totals []float32,
	width int) {
	for r := range rows {
		total := totals[r*width : r*width+columns]
		clear(total)
		for i := range examples {
			weight := a[i/lanes*step+r*lanes+i%lanes]
			for j, v := range x[i*stride : i*stride+columns] {
				total[j] = numerics.FMA(weight, v, total[j])
			}
		}
	}
}

// spreadGo brings the targets of len(rows) examples, a multiple of 16, into lanes: q values
// from values[rows[i]] become those of lane i%16 in the q·16 of block i/16 of t.
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

// columnSumsGo computes weighted sums of len(starts)-1 columns of sparse examples (clause
// 14). Stored values starts[j] to starts[j+1]-1 of rows and values are those of column j, in
// order of their examples; example i has 16 coefficients from a[i·16]. The 16 sums of
// column j go to sums from j·16.
func columnSumsGo(starts []int64, rows []int32, values, a []float32, scale float32, sums []int64) {
	for j := range len(starts) - 1 {
		sum := sums[j*lanes : (j+1)*lanes]
		clear(sum)
		for at := starts[j]; at < starts[j+1]; {
			var acc [lanes]float32
			for end := rows[at] | (numerics.Block - 1); at < starts[j+1] && rows[at] <= end; at++ {
				for r, weight := range a[int(rows[at])*lanes : (int(rows[at])+1)*lanes] {
					acc[r] = numerics.FMA(weight, values[at], acc[r])
				}
			}
			for r, v := range acc {
				sum[r] += numerics.Quantize(v, scale)
			}
		}
	}
}
