package simd

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

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

// posteriorGo computes the residuals and losses of len(refused) blocks of 16 examples whose
// targets are posteriors (clause 16). Class k of block b has its 16 values from
// (b·q + k)·16: scores, logarithms t, and residuals a, 0 where the example is refused.
// Weights and losses are 16 for each block; bit l of refused[b] says that lane l is
// refused, and then its loss is 0. t is overwritten.
func posteriorGo(scores []float32, q int, t, a, weight, losses []float32, refused []uint16) {
	for b := range refused {
		refused[b] = 0
		for l := range lanes {
			at := b*q*lanes + l
			s, t, a, u := scores[at:], t[at:], a[at:], weight[b*lanes+l]
			var odd float32
			for k := 0; k < q*lanes; k += lanes {
				odd += s[k] - s[k]
				t[k] += s[k]
			}
			m, l1, r1 := softmaxGo(a, s, q)
			m2, l2, r2 := softmaxGo(t, t, q)
			odd += m2 - m2
			loss := ((m - m2) + (l1 - l2)) * u
			counts := odd == 0 && math.Abs(float64(loss)) <= numerics.MostLoss
			for k := 0; k < q*lanes; k += lanes {
				a[k] = (float32(a[k]*r1) - float32(t[k]*r2)) * u
			}
			judgeGo(counts, loss, a, q, losses, refused, b, l)
		}
	}
}

// givenGo is posteriorGo for targets t that are given.
func givenGo(scores []float32, q int, t, a, weight, losses []float32, refused []uint16) {
	for b := range refused {
		refused[b] = 0
		for l := range lanes {
			at := b*q*lanes + l
			s, t, a, u := scores[at:], t[at:], a[at:], weight[b*lanes+l]
			var odd float32
			for k := 0; k < q*lanes; k += lanes {
				odd += s[k] - s[k]
			}
			m, loss, r := softmaxGo(a, s, q)
			for k := 0; k < q*lanes; k += lanes {
				loss = numerics.FMA(-t[k], s[k]-m, loss)
				a[k] = (float32(a[k]*r) - t[k]) * u
			}
			loss *= u
			judgeGo(odd == 0 && math.Abs(float64(loss)) <= numerics.MostLoss, loss, a, q, losses, refused, b,
				l)
		}
	}
}

// judgeGo notes what became of lane l of block b, whose residuals are every 16th of a.
func judgeGo(counts bool, loss float32, a []float32, q int, losses []float32, refused []uint16, b,
	l int) {
	if !counts {
		refused[b] |= 1 << l
		loss = 0
		for k := 0; k < q*lanes; k += lanes {
			a[k] = 0
		}
	}
	losses[b*lanes+l] = loss
}

// softmaxGo takes every 16th of q scores and writes e^(s_k - m) to e likewise, which may be
// s. It returns m, L and 1/S of clause 15.
func softmaxGo(e, s []float32, q int) (m, l, r float32) {
	m = float32(math.Inf(-1))
	for k := 0; k < q*lanes; k += lanes {
		if s[k] > m {
			m = s[k]
		}
	}
	var sum float32
	for k := 0; k < q*lanes; k += lanes {
		e[k] = numerics.Exp(s[k] - m)
		sum += e[k]
	}
	return m, numerics.Log(sum), numerics.Reciprocal(sum)
}

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
