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

// checkLimits has one feature and two classes, and losses at both sides of the largest that
// counts, 2^15, by the scores, the weights of examples or the targets.
func checkLimits(e, ref *engine.Engine) error {
	var x dataset.Examples
	var weight, halves []float32
	for _, score := range []float32{0, 1, numerics.MostLoss, 0x1p15, 0x1.000002p15, 0x1.fffffep15,
		0x1p16} {
		x.X = append(x.X, score, score, score)
		weight = append(weight, 1, 0.5, 0)
		halves = append(halves, 0.5, 0.25, 0)
	}
	x.N, x.D = len(x.X), 1
	const biggest = math.MaxFloat32
	ninf, most := float32(math.Inf(-1)), float32(0x1.fffffep111)
	one, none, far := []float32{1, 0}, []float32{0, 0}, []float32{most, -most}
	got, want, err := evaluators(e, ref, x, x, 2, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name    string
		w       []float32
		given   bool
		weight  []float32
		values  [2]float32
		refused int64 // -1 where the reference alone says
	}{
		// The scores are x and 0: the loss is x where class 1 is right, beyond the limit 4 times
		// at weight 1, once at a half.
		{"class 1 for sure", one, false, weight, [2]float32{ninf, 0}, 5},
		{"class 0 for sure", one, false, weight, [2]float32{0, ninf}, 0},
		{"class 1 given", one, true, weight, [2]float32{0, 1}, 5},
		{"losses below 0", one, true, halves, [2]float32{2, -1}, 1},
		{"no weights", one, false, nil, [2]float32{ninf, 0}, 12},
		{"unlikely labels", none, false, nil, [2]float32{-0x1.000002p15, -0x1.000002p15}, 21},
		{"unlikely labels that count", none, false, nil, [2]float32{-0x1.ffffep14, -0x1.ffffep14}, 0},
		// Infinite scores, 3 of them: at weight 0 too.
		{"infinite scores", []float32{0x1p112, 0}, false, weight, [2]float32{0, ninf}, 3},
		{"infinite scores below 0", []float32{0, -0x1p112}, false, weight, [2]float32{0, 0}, 3},
		// Scores of both ends of float32, whose difference is infinite: 0·Inf is NaN.
		{"infinite differences", far, true, weight, [2]float32{1, 0}, 9},
		{"posterior of infinite differences", far, false, weight, [2]float32{-3, 0}, 0},
		{"sums that overflow", far, false, weight, [2]float32{biggest, ninf}, -1},
		{"sums that overflow below 0", far, false, weight, [2]float32{ninf, -biggest}, -1},
	} {
		t := engine.Targets{Values: c.values[:], Weight: c.weight, Given: c.given,
			Row: make([]int32, x.N)}
		w := engine.Weights{Q: 2, D: 1, W: c.w}
		v, err := evaluateBoth(got, want, t, w)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if c.refused >= 0 && v.Refused != c.refused {
			return fmt.Errorf("%s: this case tests something else: %d examples are to be refused, not %d",
				c.name, v.Refused, c.refused)
		}
	}
	return got.Close()
}

// checkTargets sets targets again and again that lie in the same memory, some with rows, weights,
// other values or another meaning than those before.
func checkTargets(e, ref *engine.Engine) error {
	p := problem{n: 261, d: 3, q: 3}
	x, _, _, rng := p.build()
	w := engine.NewWeights(p.q, p.d)
	draw(rng, w.W, normal)
	got, want, err := evaluators(e, ref, x, x, p.q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	values := soft(rng, p.n, p.q).Values
	row, weight := make([]int32, p.n), weights(rng, p.n)
	for round, t := range []engine.Targets{
		{Values: values, Given: true},
		{Values: values, Given: true, Weight: weight},
		{Values: values, Given: true, Weight: weight, Row: row},
		{Values: values, Weight: weight, Row: row},
		{Values: values, Row: row},
		{Values: values},
		{Values: values[:p.q], Row: row, Given: true},
		{Values: values},
	} {
		slices.Reverse(values)
		if t.Row != nil {
			rows := len(t.Values) / p.q
			for i := range row {
				row[i] = int32(rng.IntN(rows))
			}
		}
		slices.Reverse(weight)
		if _, err := evaluateBoth(got, want, t, w); err != nil {
			return fmt.Errorf("targets %d: %w", round, err)
		}
	}
	return got.Close()
}

// checkEvaluateRounding has sums that are wrong if one of their roundings is. Evaluations come
// by the same coefficients: the only class has probability 1, so with target 0 the residual of
// an example is its weight.
func checkEvaluateRounding(e, ref *engine.Engine) error {
	// Wrong if a product is added in float64 and the sum rounded to float32 afterwards:
	// a·x = u/2·(1 - 2^-46), u the unit of the last place of the sum so far, ±(1 + 2^-23). It is
	// rounded away, but rounded to u/2 first if float64 has to hold the sum, and then to even.
	twice := dataset.Examples{N: 515, D: 3}
	var small []float32
	for i := range twice.N {
		small = append(small, 0x1p-24*(1-0x1p-23))
		if i%64 == 0 {
			small[i] = 1
		}
		for j := range twice.D {
			sign := float32(1 - 2*((i*i+j)/3%2))
			twice.X = append(twice.X, sign*(1+0x1p-23))
		}
	}
	// Wrong if a sum of an integer and a half is not rounded to the even neighbour.
	ties := dataset.Examples{N: 512, D: 8, X: make([]float32, 512*8)}
	some := make([]float32, ties.N)
	for at, half := range []float32{0.5, 0.25, 0.125, 0.75} {
		some[at*100] = half
		for j := range ties.D {
			ties.X[at*100*ties.D+j] = float32(2*j - 7)
		}
	}
	for _, c := range []struct {
		name string
		x    dataset.Examples
		a    []float32
		f    numerics.FixedPoint
	}{
		{"rounded once", twice, small, numerics.FixedPoint{}},
		{"ties of halves", ties, some, numerics.FixedPoint{S: 0, N: ties.N}},
		{"ties of integers", ties, some, numerics.FixedPoint{S: 2, N: ties.N}},
		{"all lost", ties, some, numerics.FixedPoint{S: -10, N: ties.N}},
	} {
		for _, form := range []dataset.Examples{c.x, c.x.Compressed()} {
			if err := sameRounding(e, ref, form, c.x, c.a, c.f); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	// The one reciprocal of clause 15 that is not the nearest, of e^0 + e^(-2^-23) = 2 - 2^-23.
	x := dataset.Examples{N: 1, D: 1, X: []float32{1}}
	w := engine.Weights{Q: 2, D: 1, W: []float32{0, -0x1p-23}}
	t := engine.Targets{Given: true, Values: []float32{0, 1}}
	got, want, err := evaluators(e, ref, x, x, 2, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	if _, err := evaluateBoth(got, want, t, w); err != nil {
		return fmt.Errorf("a reciprocal: %w", err)
	}
	return got.Close()
}

// sameRounding compares the weighted sums of x in some form, computed alone and by an evaluation.
func sameRounding(e, ref *engine.Engine, form, x dataset.Examples, a []float32,
	f numerics.FixedPoint) error {
	got, want, err := evaluators(e, ref, form, x, 1, f)
	if err != nil {
		return err
	}
	t := engine.Targets{Given: true, Values: []float32{0}, Row: make([]int32, x.N), Weight: a}
	if _, err := evaluateBoth(got, want, t, engine.NewWeights(1, x.D)); err != nil {
		return err
	}
	return errors.Join(sameWeightedSums(got, want, a), got.Close())
}

// evaluators loads examples in some form on the engine, and dense ones on the reference.
func evaluators(e, ref *engine.Engine, form, x dataset.Examples, q int, f numerics.FixedPoint,
) (got, want *engine.Evaluator, err error) {
	if want, err = ref.LoadEvaluator(x, q, f); err == nil {
		got, err = e.LoadEvaluator(form, q, f)
	}
	return got, want, err
}

// evaluateBoth sets targets and compares evaluations of w.
func evaluateBoth(got, want *engine.Evaluator, t engine.Targets, w engine.Weights,
) (engine.Evaluation, error) {
	if err := errors.Join(want.SetTargets(t), got.SetTargets(t)); err != nil {
		return engine.Evaluation{}, err
	}
	return sameEvaluation(got, want, w)
}
