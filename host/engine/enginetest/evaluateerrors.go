package enginetest

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// SmallEvaluator loads the data set that CheckFailedEvaluator wants, and aims it.
func SmallEvaluator(e engine.Engine) (engine.Evaluator, error) {
	x, _ := small()
	r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
	if err != nil {
		return nil, err
	}
	return r, r.SetTargets(smallTargets())
}

func smallTargets() engine.Targets {
	return engine.Targets{Values: []float32{0.5, 0.5, 1, 0, 0.25, 0.75}, Given: true}
}

// CheckFailedEvaluator is CheckFailed for a data set of SmallEvaluator.
func CheckFailedEvaluator(r engine.Evaluator) error {
	if err := refusesEvaluator(r, engine.ErrFailed); err != nil {
		return fmt.Errorf("after a failure: %w", err)
	}
	return r.Close()
}

// refusesEvaluator asks for every operation on the data set of small and wants an error.
func refusesEvaluator(r engine.Evaluator, want error) error {
	w := engine.NewWeights(2, 2)
	_, evaluate := r.Evaluate(make([]int64, 4), w)
	for what, err := range map[string]error{
		"rescore": r.Rescore(w, []int{0}), "scores": r.Scores(make([]float32, 6), 0, 3),
		"predict": r.Predict(make([]int32, 3)), "set targets": r.SetTargets(smallTargets()),
		"evaluate":      evaluate,
		"weighted sums": r.WeightedSums(make([]int64, 4), make([]float32, 6)),
	} {
		if !errors.Is(err, want) {
			return fmt.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	return nil
}

// checkEvaluateErrors judges what an evaluator says to misuse, and that it is none the worse
// for it.
func checkEvaluateErrors(e engine.Engine) error {
	if err := loadErrors(e); err != nil {
		return err
	}
	x, _ := small()
	r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	w := engine.Weights{Q: 2, D: 2, W: []float32{1, 0, -1, 1}}
	sums := make([]int64, 64)
	_, before := r.Evaluate(sums[:4], w)
	if !errors.Is(before, engine.ErrShape) {
		return fmt.Errorf("evaluate before aim: %v, want %v", before, engine.ErrShape)
	}
	if err := targetErrors(r); err != nil {
		return err
	}
	if _, err := r.Evaluate(sums[:4], w); !errors.Is(err, engine.ErrShape) {
		return fmt.Errorf("evaluate after targets that are refused: %v, want %v", err, engine.ErrShape)
	}
	if err := r.SetTargets(smallTargets()); err != nil {
		return err
	}
	want := newNaive(x, nil, 2).evaluate(w, smallTargets())
	if err := sameEvaluation(r, w, want); err != nil {
		return err
	}
	if err := errors.Join(targetErrors(r), useErrors(r)); err != nil {
		return err
	}
	if err := into(want.scores, "score after errors", sameFloats, func(dst []float32) error {
		return r.Scores(dst, 0, 3)
	}); err != nil {
		return err
	}
	if err := sameEvaluation(r, w, want); err != nil {
		return fmt.Errorf("after errors: %w", err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	if err := refusesEvaluator(r, engine.ErrClosed); err != nil {
		return fmt.Errorf("after close: %w", err)
	}
	return nil
}

// loadErrors asks for values that cannot be evaluated; checkErrors asks for other bad examples.
func loadErrors(e engine.Engine) error {
	for _, x := range []dataset.Examples{
		{N: 1, D: 2, X: []float32{1, 0x1.000002p118}},
		{N: 2, D: 2, Starts: []int64{0, 0, 1}, Columns: []int32{1}, Values: []float32{-0x1p119}},
	} {
		r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
		if !errors.Is(err, engine.ErrValue) || r != nil {
			return fmt.Errorf("load evaluator with %+v: %v, want %v", x, err, engine.ErrValue)
		}
	}
	return nil
}

// targetErrors aims at what is no target.
func targetErrors(r engine.Evaluator) error {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	row, ones := []int32{0, 0, 0}, []float32{1, 1, 1}
	for _, c := range []struct {
		what string
		t    engine.Targets
		want error
	}{
		{"no values", engine.Targets{}, engine.ErrShape},
		{"no values but rows", engine.Targets{Row: row}, engine.ErrShape},
		{"too few rows", engine.Targets{Values: make([]float32, 4)}, engine.ErrShape},
		{"too many rows", engine.Targets{Values: make([]float32, 8)}, engine.ErrShape},
		{"part of a row", engine.Targets{Values: make([]float32, 7)}, engine.ErrShape},
		{"part of a row, and rows", engine.Targets{Values: make([]float32, 3), Row: row},
			engine.ErrShape},
		{"too few examples", engine.Targets{Values: make([]float32, 2), Row: row[:2]}, engine.ErrShape},
		{"a row too large", engine.Targets{Values: make([]float32, 4), Row: []int32{0, 1, 2}},
			engine.ErrShape},
		{"a negative row", engine.Targets{Values: make([]float32, 4), Row: []int32{0, -1, 1}},
			engine.ErrShape},
		{"too few weights", engine.Targets{Values: make([]float32, 6), Weight: ones[:2]},
			engine.ErrShape},
		{"an empty slice of weights", engine.Targets{Values: make([]float32, 6), Weight: ones[:0]},
			engine.ErrShape},
		{"an empty slice of rows", engine.Targets{Values: make([]float32, 6), Row: row[:0]},
			engine.ErrShape},
		{"a NaN", engine.Targets{Values: []float32{0, 0, nan, 0, 0, 0}}, engine.ErrValue},
		{"a NaN given", engine.Targets{Values: []float32{0, 1, nan, 1, 0, 1}, Given: true},
			engine.ErrValue},
		{"+Inf", engine.Targets{Values: []float32{0, 0, inf, 0, 0, 0}}, engine.ErrValue},
		{"+Inf given", engine.Targets{Values: []float32{0, 1, inf, 1, 0, 1}, Given: true},
			engine.ErrValue},
		{"-Inf given", engine.Targets{Values: []float32{0, 1, -inf, 1, 0, 1}, Given: true},
			engine.ErrValue},
		{"a row without a finite value", engine.Targets{Values: []float32{0, 0, 0, 0, -inf, -inf}},
			engine.ErrValue},
		{"a weight below 0", engine.Targets{Values: make([]float32, 6), Weight: []float32{0, -0x1p-149,
			0}}, engine.ErrValue},
		{"a weight above 1", engine.Targets{Values: make([]float32, 6), Weight: []float32{1, 1,
			1.000001}}, engine.ErrValue},
		{"a weight of NaN", engine.Targets{Values: make([]float32, 6), Weight: []float32{1, nan, 1}},
			engine.ErrValue},
		{"a value above 1 without weight", engine.Targets{Values: []float32{1.5, -0.5}, Row: row,
			Given: true}, engine.ErrValue},
		{"a value of 2 with a weight a little above 1/2", engine.Targets{Values: []float32{-1, 2},
			Row: row, Weight: []float32{0.1, 0x1.00002p-1, 0.1}, Given: true}, engine.ErrValue},
		{"a value below 0 with too large a weight", engine.Targets{Values: []float32{-1, 2}, Row: row,
			Weight: []float32{0.1, 0.6, 0.1}, Given: true}, engine.ErrValue},
	} {
		if err := r.SetTargets(c.t); !errors.Is(err, c.want) {
			return fmt.Errorf("aim at %s: %v, want %v", c.what, err, c.want)
		}
	}
	return nil
}

// useErrors asks an evaluator that has targets for what it cannot answer.
func useErrors(r engine.Evaluator) error {
	w, sums, a := engine.NewWeights(2, 2), make([]int64, 64), make([]float32, 64)
	evaluate := func(sums []int64, w engine.Weights) error {
		_, err := r.Evaluate(sums, w)
		return err
	}
	bad := func(v float32) error { return r.WeightedSums(sums[:2], []float32{0, v, 0}) }
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"evaluate: too few sums", evaluate(sums[:3], w), engine.ErrShape},
		{"evaluate: too many sums", evaluate(sums[:5], w), engine.ErrShape},
		{"evaluate: width", evaluate(sums[:4], engine.NewWeights(2, 3)), engine.ErrShape},
		{"evaluate: classes", evaluate(sums[:4], engine.NewWeights(3, 2)), engine.ErrShape},
		{"evaluate: values", evaluate(sums[:4], engine.Weights{Q: 2, D: 2, W: w.W[:3]}), engine.ErrShape},
		{"weighted sums: no coefficients", r.WeightedSums(nil, nil), engine.ErrShape},
		{"weighted sums: too few coefficients", r.WeightedSums(sums[:2], a[:2]), engine.ErrShape},
		{"weighted sums: another number for some", r.WeightedSums(sums[:2], a[:4]), engine.ErrShape},
		{"weighted sums: too few sums", r.WeightedSums(sums[:3], a[:6]), engine.ErrShape},
		{"weighted sums: too many sums", r.WeightedSums(sums[:4], a[:3]), engine.ErrShape},
		{"weighted sums: above 1", bad(0x1.000002p0), engine.ErrValue},
		{"weighted sums: below -1", bad(-0x1.000002p0), engine.ErrValue},
		{"weighted sums: NaN", bad(float32(math.NaN())), engine.ErrValue},
		{"weighted sums: infinite", bad(float32(math.Inf(-1))), engine.ErrValue},
		{"rescore: class too large", r.Rescore(w, []int{2}), engine.ErrShape},
		{"scores: length", r.Scores(a[:5], 0, 3), engine.ErrShape},
		{"predict: length", r.Predict(make([]int32, 4)), engine.ErrShape},
	} {
		if !errors.Is(c.err, c.want) {
			return fmt.Errorf("%s: %v, want %v", c.what, c.err, c.want)
		}
	}
	for at, v := range sums {
		if v != 0 {
			return fmt.Errorf("an evaluator wrote %d to sums[%d] though it returned an error", v, at)
		}
	}
	return nil
}
