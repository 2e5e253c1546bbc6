package engine

import (
	"errors"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// askEvaluations puts the questions of clauses 14 to 16: evaluations of w, Q×x.D, and of
// weights so large that examples are refused, for noisy labels y and for soft labels, and
// weighted sums.
func askEvaluations(
	e Engine, rows dataset.Rows, y []int32, w Weights, judge func(op string, got []byte,
		width int) error) (err error) {
	x := rows.Stored()
	r, err := e.LoadEvaluator(x, w.Q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	steep := w.Clone()
	for k := range steep.W {
		steep.W[k] *= 0x1p13
	}
	known, soft := selfTestTargets(x.N, y)
	scores, sums := make([]float32, x.N*w.Q), make([]int64, w.Q*w.D)
	coefficients := make([]float32, x.N*w.Q) // full mantissas, halves and zeros
	for i := range coefficients {
		if coefficients[i] = w.W[i%len(w.W)]; i%16 == 5 {
			coefficients[i] = float32(i%48/16-1) / 2
		}
	}
	var found Evaluation
	evaluate := func(w Weights, t Targets) func() error {
		return func() (err error) {
			if err := r.SetTargets(t); err != nil {
				return err
			}
			found, err = r.Evaluate(sums, w)
			return err
		}
	}
	answer := func() any { return append([]int64{found.Loss, found.Refused}, sums...) }
	return put([]question{
		{"evaluate", evaluate(w, known), answer},
		{"evaluate soft labels", evaluate(w, soft), answer},
		{"evaluate large losses", evaluate(steep, known), answer},
		{"score to evaluate", func() error { return r.Scores(scores, 0, x.N) },
			func() any { return scores }},
		{"weighted sums", func() error { return r.WeightedSums(sums, coefficients) },
			func() any { return sums }},
	}, judge)
}

// selfTestTargets returns targets of n examples: how likely their noisy labels y are with each
// true class, and soft labels with weights.
func selfTestTargets(n int, y []int32) (known, soft Targets) {
	ninf := float32(math.Inf(-1))
	known = Targets{Row: y, Values: []float32{-0.3, -2.6, ninf, -3.7, -0.1, -1.9, ninf, -4.3, -0.2}}
	soft = Targets{Given: true, Weight: make([]float32, n)}
	for i := range n {
		a, b := float32(i%7)/7, float32(i%11)/77 // 1 at most together
		soft.Values = append(soft.Values, a, b, 1-a-b)
		soft.Weight[i] = float32(i%13) / 13
	}
	return known, soft
}
