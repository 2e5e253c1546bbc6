package simd

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// evaluationMutants are ways to break the evaluation kernels k of the fastest level. Each must turn
// the conformance suite red.
var evaluationMutants = []struct {
	name   string
	change func(k *kernels)
}{
	{"the scores of the first class those of the last", func(k *kernels) {
		k.dense = slices.Clone(k.dense)
		for i, dense := range k.dense {
			k.dense[i] = func(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step,
				ahead, rate int) {
				lines = slices.Clone(lines)
				lines[0] = lines[len(lines)-1]
				dense(x, d, blocks, w, lines, scores, step, ahead, rate)
			}
		}
	}},
	{"the second half of a block scored as the first", func(k *kernels) {
		k.dense = slices.Clone(k.dense)
		for i, dense := range k.dense {
			k.dense[i] = func(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step,
				ahead, rate int) {
				dense(x, d, blocks, w, lines, scores, step, ahead, rate)
				for at := 0; at < blocks*step; at += step {
					for _, line := range lines {
						copy(scores[at+line+lanes/2:][:lanes/2], scores[at+line:])
					}
				}
			}
		}
	}},
	{"the last value of sparse examples left out", func(k *kernels) {
		k.sparse = slices.Clone(k.sparse)
		for i, sparse := range k.sparse {
			k.sparse[i] = func(starts []int64, columns []int32, values, w []float32, n int, out []float32) {
				values = slices.Clone(values)
				values[len(values)-1] = 0
				sparse(starts, columns, values, w, n, out)
			}
		}
	}},
	{"the totals of a part forgotten", func(k *kernels) {
		weighted := k.weighted
		k.weighted = func(x []float32, stride, columns, examples int, a []float32, step, rows int,
			totals []float32, width, ahead, rate int) {
			for r := range rows {
				clear(totals[r*width:][:columns])
			}
			weighted(x, stride, columns, examples, a, step, rows, totals, width, ahead, rate)
		}
	}},
	{"the last example of a span left out", func(k *kernels) {
		weighted := k.weighted
		k.weighted = func(x []float32, stride, columns, examples int, a []float32, step, rows int,
			totals []float32, width, ahead, rate int) {
			weighted(x, stride, columns, max(1, examples-1), a, step, rows, totals, width, ahead, rate)
		}
	}},
	{"the last column left out", func(k *kernels) {
		weighted := k.weighted
		k.weighted = func(x []float32, stride, columns, examples int, a []float32, step, rows int,
			totals []float32, width, ahead, rate int) {
			weighted(x, stride, columns, examples, a, step, rows, totals, width, ahead, rate)
			totals[columns-1] = 0
		}
	}},
	{"the coefficients of the second block those of the first", func(k *kernels) {
		weighted := k.weighted
		k.weighted = func(x []float32, stride, columns, examples int, a []float32, step, rows int,
			totals []float32, width, ahead, rate int) {
			if a = slices.Clone(a); examples > lanes {
				copy(a[step:], a[:rows*lanes])
			}
			weighted(x, stride, columns, examples, a, step, rows, totals, width, ahead, rate)
		}
	}},
	{"the last value of a run left out", func(k *kernels) {
		k.changeRuns(func(runs []int32) []int32 {
			runs[len(runs)-2] = max(1, runs[len(runs)-2]-1)
			return runs
		})
	}},
	{"two blocks in one run", func(k *kernels) {
		k.changeRuns(func(runs []int32) []int32 {
			for i := 0; i+2 < len(runs); i += 2 {
				if runs[i+1] == runs[i+3] {
					runs[i] += runs[i+2]
					runs = slices.Delete(runs, i+2, i+4)
				}
			}
			return runs
		})
	}},
	{"the last run left out", func(k *kernels) {
		k.changeRuns(func(runs []int32) []int32 { return runs[:max(0, len(runs)-2)] })
	}},
	{"the second half of the rows of coefficients the first", func(k *kernels) {
		k.columnSums = slices.Clone(k.columnSums)
		for i, sums := range k.columnSums {
			k.columnSums[i] = func(runs, rows []int32, values, a []float32, scale float32, out []int64) {
				sums(runs, rows, values, a, scale, out)
				for n := (i + 1) * lanes; len(out) > 0; out = out[n:] {
					copy(out[n/2:n], out)
				}
			}
		}
	}},
	{"targets of lane 0 in lane 15", func(k *kernels) {
		spread := k.spread
		k.spread = func(t []float32, q int, values []float32, rows []int64) {
			rows = slices.Clone(rows)
			for i := lanes - 1; i < len(rows); i += lanes {
				rows[i] = rows[i-lanes+1]
			}
			spread(t, q, values, rows)
		}
	}},
	{"weights ignored", func(k *kernels) {
		k.posterior = judged(k.posterior, func(weight []float32) {
			for i := range weight {
				weight[i] = 1
			}
		}, nil)
	}},
	{"nobody refused", func(k *kernels) {
		k.posterior = judged(k.posterior, nil, func(_, _ []float32, refused []uint16) { clear(refused) })
	}},
	{"one more refused", func(k *kernels) {
		k.given = judged(k.given, nil, func(_, _ []float32, refused []uint16) { refused[0] |= 1 })
	}},
	{"residuals of refused examples kept", func(k *kernels) {
		k.posterior = judged(k.posterior, nil, func(a, _ []float32, refused []uint16) {
			for b, bits := range refused {
				if bits != 0 {
					a[b*len(a)/len(refused)] += 0x1p-10
				}
			}
		})
	}},
	{"the loss of one lane lost", func(k *kernels) {
		k.given = judged(k.given, nil, func(_, losses []float32, _ []uint16) { losses[lanes-1] = 0 })
	}},
}

// changeRuns changes the runs of all kernels columnSums.
func (k *kernels) changeRuns(change func(runs []int32) []int32) {
	k.columnSums = slices.Clone(k.columnSums)
	for i, sums := range k.columnSums {
		k.columnSums[i] = func(runs, rows []int32, values, a []float32, scale float32, out []int64) {
			sums(change(slices.Clone(runs)), rows, values, a, scale, out)
		}
	}
}

// judged changes what a kernel is told and what it answers.
func judged(kernel residualKernel, before func(weight []float32), after func(a, losses []float32,
	refused []uint16)) residualKernel {
	return func(scores []float32, q int, t, a, weight, losses []float32, refused []uint16) {
		weight = slices.Clone(weight)
		if before != nil {
			before(weight)
		}
		kernel(scores, q, t, a, weight, losses, refused)
		if after != nil {
			after(a[:len(refused)*q*lanes], losses, refused)
		}
	}
}

func TestEvaluationMutantsAreCaught(t *testing.T) {
	levels := available()
	for _, m := range evaluationMutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			broken := *levels[len(levels)-1]
			m.change(&broken)
			e := engine.New(&processor{k: &broken})
			for _, c := range enginetest.EvaluationCases() {
				if err := c.Check(e); err != nil {
					t.Logf("caught by %s: %v", c.Name, err)
					return
				}
			}
			t.Errorf("the conformance suite does not notice this broken engine")
		})
	}
}
