package enginetest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// limits is a data set of one feature and two classes whose losses are at both sides of the
// largest that counts, 2^15, by the scores, the weights of examples or the targets.
type limits struct {
	name    string
	w       []float32
	targets engine.Targets
	refused int64 // -1 where the naive computation alone says
}

func checkLimits(e engine.Engine) error {
	var x dataset.Examples
	var weight, halves []float32
	for _, score := range []float32{0, 1, numerics.MostLoss, 0x1p15, 0x1.000002p15, 0x1.fffffep15,
		0x1p16} {
		x.X = append(x.X, score, score, score)
		weight = append(weight, 1, 0.5, 0)
		halves = append(halves, 0.5, 0.25, 0)
	}
	x.N, x.D = len(x.X), 1
	ninf, one, most := float32(math.Inf(-1)), []float32{1, 0}, float32(0x1.fffffep111)
	r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	likely := func(weight []float32, values ...float32) engine.Targets {
		return engine.Targets{Values: values, Weight: weight}
	}
	given := func(weight []float32, values ...float32) engine.Targets {
		return engine.Targets{Values: values, Weight: weight, Given: true}
	}
	for _, c := range []limits{
		// The scores are x and 0: the loss is x where class 1 is right, beyond the limit 4 times
		// at weight 1, once at a half.
		{"class 1 for sure", one, likely(weight, ninf, 0), 5},
		{"class 0 for sure", one, likely(weight, 0, ninf), 0},
		{"class 1 given", one, given(weight, 0, 1), 5},
		{"losses below 0", one, given(halves, 2, -1), 1},
		{"no weights", one, likely(nil, ninf, 0), 12},
		{"unlikely labels", []float32{0, 0}, likely(nil, -0x1.000002p15, -0x1.000002p15), 21},
		{"unlikely labels that count", []float32{0, 0}, likely(nil, -0x1.ffffep14, -0x1.ffffep14), 0},
		// Infinite scores, 3 of them: at weight 0 too.
		{"infinite scores", []float32{0x1p112, 0}, likely(weight, 0, ninf), 3},
		{"infinite scores below 0", []float32{0, -0x1p112}, likely(weight, 0, 0), 3},
		// Scores of both ends of float32, whose difference is infinite: 0·Inf is NaN.
		{"infinite differences", []float32{most, -most}, given(weight, 1, 0), 9},
		{"posterior of infinite differences", []float32{most, -most}, likely(weight, -3, 0), 0},
		{"sums that overflow", []float32{most, -most}, likely(weight, math.MaxFloat32, ninf), -1},
		{"sums that overflow below 0", []float32{most, -most}, likely(weight, ninf, -math.MaxFloat32),
			-1},
	} {
		c.targets.Row = make([]int32, x.N)
		v := newNaive(x, nil, 2)
		want := v.evaluate(engine.Weights{Q: 2, D: 1, W: c.w}, c.targets)
		if c.refused >= 0 && want.Refused != c.refused {
			return fmt.Errorf("%s: this case tests something else: %d examples are to be refused, not %d",
				c.name, want.Refused, c.refused)
		}
		if err := r.SetTargets(c.targets); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := sameEvaluation(r, engine.Weights{Q: 2, D: 1, W: c.w}, want); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return r.Close()
}

// checkTargets aims again and again at targets in the same memory, of which some have rows,
// weights, other values or another meaning than those before.
func checkTargets(e engine.Engine) error {
	k := evaluation{problem: problem{name: "targets", n: 261, d: 3, q: 3}}
	x, _, _, rng := k.build()
	v, w := newNaive(x.Examples, nil, k.q), engine.NewWeights(k.q, k.d)
	for j := range w.W {
		w.W[j] = normal(rng)
	}
	r, err := e.LoadEvaluator(x, k.q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	values := drawSoft(rng, k.n, k.q).Values
	row, weight := make([]int32, k.n), weights(rng, k.n)
	for round, t := range []engine.Targets{
		{Values: values, Given: true},
		{Values: values, Given: true, Weight: weight},
		{Values: values, Given: true, Weight: weight, Row: row},
		{Values: values, Weight: weight, Row: row},
		{Values: values, Row: row},
		{Values: values},
		{Values: values[:k.q], Row: row, Given: true},
		{Values: values},
	} {
		slices.Reverse(values)
		if t.Row != nil {
			rows := len(t.Values) / k.q
			for i := range row {
				row[i] = int32(rng.IntN(rows))
			}
		}
		slices.Reverse(weight)
		if err := r.SetTargets(t); err != nil {
			return fmt.Errorf("targets %d: %w", round, err)
		}
		if err := sameEvaluation(r, w, v.evaluate(w, t)); err != nil {
			return fmt.Errorf("targets %d: %w", round, err)
		}
	}
	return r.Close()
}

// checkEvaluatePlan asks for a plan for what LoadEvaluator takes, and for one of examples
// that it does not.
func checkEvaluatePlan(e engine.Engine) error {
	x, _ := small()
	p, err := e.PlanEvaluator(x, 2)
	if err != nil {
		return err
	}
	if p.ClassSums != 0 || p.Examples < 4*3*2 || p.Scores < 4*3*2 || p.Tiles < 1 {
		return fmt.Errorf("plan to evaluate for %s: %+v", e.Device().ID, p)
	}
	_, shape := e.PlanEvaluator(x, 0)
	_, value := e.PlanEvaluator(dataset.Examples{N: 1, D: 1, X: []float32{0x1.000002p118}}, 2)
	if !errors.Is(shape, engine.ErrShape) || !errors.Is(value, engine.ErrValue) {
		return fmt.Errorf("plan to evaluate no classes: %v, want %v; values above 2^118: %v, want %v",
			shape, engine.ErrShape, value, engine.ErrValue)
	}
	return nil
}
