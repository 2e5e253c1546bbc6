package cpuref

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// evaluator is a resident with targets.
type evaluator struct {
	resident
	fixed     numerics.FixedPoint
	targets   engine.Targets
	residuals []float32 // n×Q
	losses    []int64   // of each example, in fixed point; refused for one that is
}

// refused marks the loss of an example that does not count.
const refused = math.MinInt64

func (r *evaluator) SetTargets(t engine.Targets) error {
	r.targets = t
	return nil
}

// Evaluate: clauses 1, 15, 16 and 14.
func (r *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	format := numerics.LossFormat(r.fixed.N).Scale()
	parallel.Ranges(r.x.N, 64, func(from, to int) {
		t := make([]float32, r.q)
		for i := from; i < to; i++ {
			scores := r.scores[i*r.q : (i+1)*r.q]
			for c := range scores {
				scores[c] = dot(r.x, i, w.Row(c))
			}
			a := r.residuals[i*r.q : (i+1)*r.q]
			target, weight := targetOf(r.targets, i, r.q)
			loss, counts := numerics.Residuals(a, t, scores, target, weight, r.targets.Given)
			if r.losses[i] = numerics.Quantize(loss, format); !counts {
				r.losses[i] = refused
			}
		}
	})
	var e engine.Evaluation
	for _, loss := range r.losses {
		if loss == refused {
			e.Refused++
		} else {
			e.Loss += loss
		}
	}
	r.weightedSums(sums, r.residuals, r.q)
	return e, nil
}

// targetOf returns the target and the weight of example i.
func targetOf(t engine.Targets, i, q int) ([]float32, float32) {
	row, weight := i, float32(1)
	if t.Row != nil {
		row = int(t.Row[i])
	}
	if t.Weight != nil {
		weight = t.Weight[i]
	}
	return t.Values[row*q : (row+1)*q], weight
}

func (r *evaluator) WeightedSums(sums []int64, a []float32) error {
	r.weightedSums(sums, a, len(a)/r.x.N)
	return nil
}

// weightedSums: clause 14, with count coefficients for each example.
func (r *evaluator) weightedSums(sums []int64, a []float32, count int) {
	clear(sums)
	scale := r.fixed.Scale()
	parallel.Ranges(count, 1, func(first, last int) {
		acc := make([]float32, r.x.D)
		for c := first; c < last; c++ {
			for from := 0; from < r.x.N; from += numerics.Block {
				clear(acc)
				for i := from; i < min(from+numerics.Block, r.x.N); i++ {
					r.addTo(acc, a[i*count+c], i)
				}
				for j, v := range acc {
					sums[c*r.x.D+j] += numerics.Quantize(v, scale)
				}
			}
		}
	})
}

// addTo adds a·x_i to acc.
func (r *evaluator) addTo(acc []float32, a float32, i int) {
	if !r.x.Sparse() {
		for j, v := range r.x.Row(i) {
			acc[j] = numerics.FMA(a, v, acc[j])
		}
		return
	}
	columns, values := r.x.SparseRow(i)
	for k, j := range columns {
		acc[j] = numerics.FMA(a, values[k], acc[j])
	}
}
