package judge

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// The most examples that are divided without C: more tells nothing more.
const (
	mostDivided   = 20000   // examples
	leastDivided  = 1000    // examples, whatever dividedValues says
	dividedValues = 1 << 24 // values, which are copied
)

// unexplainedLabels returns the doubt that the labels raise of C, none or one. Examples are
// divided in two ways, and C must explain the labels of each part, whatever its true classes are.
// The first way is by prediction, unless the labels may have been learned by heart. The second is
// by the nearest mean of the examples with each label, which knows no C. A learner that believes a
// wrong C may find parts that this C explains: mixtures of classes, as UMA does where the axes are
// exchanged.
func unexplainedLabels(ctx context.Context, r *Ended, byPrediction bool) ([]learners.Doubt, error) {
	noise := r.Problem.Noise
	part := "predicted as %.60q"
	e, counts := confusion.Explanation{P: 1}, r.Counts
	if byPrediction {
		e = noise.Explain(counts)
	}
	if !contradicted(&e) && ctx.Err() == nil {
		part = "nearest to the mean of those labelled %.60q"
		var err error
		if counts, err = divide(r.Problem); err != nil {
			return nil, fmt.Errorf("dividing the examples to judge the confusion matrix: %w", err)
		}
		e = noise.Explain(counts)
	}
	if !contradicted(&e) {
		return nil, nil
	}
	classes, w := r.Classes, e.Worst
	d := learners.Doubt{Code: UnexplainedLabels, Finding: fmt.Sprintf(
		"the confusion matrix does not explain %.1f %% of the labels: of the examples "+
			""+part+", %.0f are labelled %.60q, and %.0f by the matrix at its best; is it of other labels, "+
			"is it turned (rows for columns), does it claim too much or too little noise?",
		100*e.Unexplained, classes[w.Predicted], w.Found, classes[w.Label], w.Explained),
		Advice: "try `uma-gpu confusion check`"}
	if v := turned(noise).Explain(counts); !contradicted(&v) {
		d.Advice = "with its axes exchanged the matrix explains them: --confusion-axes true-rows reads " +
			"it so"
	}
	return []learners.Doubt{d}, nil
}

// divide counts examples by the label whose examples' mean is the nearest, and by their own label.
// Means are those of the other half of the examples.
func divide(p *learners.Problem) ([]int64, error) {
	n := len(p.Y)
	m := min(n, mostDivided, max(leastDivided, dividedValues/max(1, p.X.D)))
	var halves [2][]int
	for k := range m {
		halves[k%2] = append(halves[k%2], k*n/m)
	}
	q := p.Q
	counts := make([]int64, q*q)
	for k, half := range halves {
		if len(half) == 0 {
			continue
		}
		means, offset := meansOf(Pick(p.Rows(), p.Y, halves[1-k]), q)
		to := Pick(p.Rows(), p.Y, half)
		scores, err := engine.Scores(p.Engine, means, to.X)
		if err != nil {
			return nil, err
		}
		for i, label := range to.Y {
			nearest, best := 0, math.Inf(-1)
			for r, v := range offset {
				if s := float64(scores[i*q+r]) + v; s > best {
					nearest, best = r, s
				}
			}
			counts[nearest*q+int(label)]++
		}
	}
	return counts, nil
}

// meansOf returns the mean of the examples with each label, and what is added to their products
// with an example, so that the largest is that of the nearest mean; -Inf of a label without
// examples.
func meansOf(of Labelled, q int) (w engine.Weights, offset []float64) {
	d := of.X.D
	w, offset = engine.NewWeights(q, d), make([]float64, q)
	sums, n := make([]float64, q*d), make([]float64, q)
	for i, y := range of.Y {
		to := sums[int(y)*d : (int(y)+1)*d]
		n[y]++
		if of.X.Sparse() {
			columns, values := of.X.SparseRow(i)
			for k, c := range columns {
				to[c] += float64(values[k])
			}
			continue
		}
		for c, v := range of.X.Row(i) {
			to[c] += float64(v)
		}
	}
	for r := range q {
		if n[r] == 0 {
			offset[r] = math.Inf(-1)
			continue
		}
		for c, v := range sums[r*d : (r+1)*d] {
			w.W[r*d+c] = float32(v / n[r])
			offset[r] -= float64(v/n[r]*v/n[r]) / 2
		}
	}
	return w, offset
}
