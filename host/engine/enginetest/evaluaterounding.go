package enginetest

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// halves are the coefficients of checkEvaluateRounding that make sums of an integer and a half.
var halves = []float32{0.5, 0.25, 0.125, 0.75}

// checkEvaluateRounding has sums that are wrong if one of their roundings is. Evaluations come
// by the same coefficients: the only class has probability 1, so with target 0 the residual of
// an example is its weight.
func checkEvaluateRounding(e engine.Engine) error {
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
	for at := range 4 {
		some[at*100] = halves[at]
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
			if err := sameRounding(e, form, c.x, c.a, c.f); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	// The one reciprocal of clause 15 that is not the nearest, of e^0 + e^(-2^-23) = 2 - 2^-23.
	x, w := dataset.Examples{N: 1, D: 1, X: []float32{1}}, engine.Weights{Q: 2, D: 1, W: []float32{0,
		-0x1p-23}}
	t := engine.Targets{Given: true, Values: []float32{0, 1}}
	r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
	if err == nil {
		err = r.SetTargets(t)
	}
	if err != nil {
		return err
	}
	if err := sameEvaluation(r, w, newNaive(x, nil, 2).evaluate(w, t)); err != nil {
		return fmt.Errorf("a reciprocal: %w", err)
	}
	return r.Close()
}

// sameRounding compares weighted sums, and those of an evaluation, of x in some form.
func sameRounding(e engine.Engine, form, x dataset.Examples, a []float32,
	f numerics.FixedPoint) error {
	r, err := e.LoadEvaluator(form, 1, f)
	if err != nil {
		return err
	}
	v, w := newNaive(x, nil, 1), engine.NewWeights(1, x.D)
	v.s = r.FixedPoint().S
	t := engine.Targets{Given: true, Values: []float32{0}, Row: make([]int32, x.N), Weight: a}
	if err := r.SetTargets(t); err != nil {
		return err
	}
	want := v.evaluate(w, t)
	if err := sameEvaluation(r, w, want); err != nil {
		return err
	}
	if err := into(want.sums, "weighted sum", same[int64], func(sums []int64) error {
		return r.WeightedSums(sums, a)
	}); err != nil {
		return err
	}
	return r.Close()
}
