package engine_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))

	errShape, errValue = engine.ErrShape, engine.ErrValue
)

// wants reports an error that is not the wanted one.
func wants(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func dense(n, d int, x ...float32) dataset.Examples { return dataset.Examples{N: n, D: d, X: x} }

func sparse(n, d int, starts []int64, columns []int32, values ...float32) dataset.Examples {
	return dataset.Examples{N: n, D: d, Starts: starts, Columns: columns, Values: values}
}

// loads calls every way to load examples, or LoadCells alone, and returns the errors by name.
func loads(e *engine.Engine, x dataset.Examples, y []int32, q int, f numerics.FixedPoint,
	cells bool) map[string]error {
	_, err := e.LoadCells(x, y, q, f)
	errs := map[string]error{"load cells": err}
	if !cells {
		_, errs["load"] = e.Load(x, q)
		_, errs["load evaluator"] = e.LoadEvaluator(x, q, f)
	}
	return errs
}

func TestLoadErrors(t *testing.T) {
	e := cpuref.New()
	x, y := dense(3, 2, 1, 2, 3, 4, 5, 6), []int32{0, 1, 1}
	one, two := []int32{0}, []int32{0, 0}
	both := sparse(1, 1, []int64{0, 1}, one, 1)
	both.X = []float32{1}
	for _, c := range []struct {
		what  string
		x     dataset.Examples
		y     []int32
		q     int
		cells bool // the labels are at fault
		want  error
	}{
		{"no examples", dense(0, 2), nil, 2, false, errShape},
		{"no features", dense(3, 0), y, 2, false, errShape},
		{"no classes", x, y, 0, false, errShape},
		{"negative size", dense(-3, -2, x.X...), y, 2, false, errShape},
		{"too few values", dense(3, 2, x.X[:5]...), y, 2, false, errShape},
		{"too many values", dense(2, 2, x.X...), y[:2], 2, false, errShape},
		{"no labels", x, nil, 2, true, errShape},
		{"too few labels", x, y[:2], 2, true, errShape},
		{"label too large", x, []int32{0, 1, 2}, 2, true, engine.ErrLabel},
		{"label negative", x, []int32{0, 1, -1}, 2, true, engine.ErrLabel},
		{"NaN", dense(1, 2, 1, nan), one, 2, false, errValue},
		{"infinite", dense(1, 2, -inf, 1), one, 2, false, errValue},
		{"infinite, sparse", sparse(2, 2, []int64{0, 0, 1}, []int32{1}, -inf), two, 2, false, errValue},
		{"column beyond the width", sparse(1, 2, []int64{0, 1}, []int32{2}, 1), one, 2, false, errShape},
		{"columns not increasing", sparse(1, 3, []int64{0, 2}, []int32{1, 1}, 1, 1), one, 2, false,
			errShape},
		{"starts beyond the values", sparse(2, 3, []int64{0, 2, 1}, []int32{1}, 1), two, 2, false,
			errShape},
		{"a start missing", sparse(2, 3, []int64{0, 1}, []int32{1}, 1), two, 2, false, errShape},
		{"both forms", both, one, 2, false, errShape},
	} {
		for name, err := range loads(e, c.x, c.y, c.q, numerics.FixedPoint{}, c.cells) {
			wants(t, name+": "+c.what, err, c.want)
		}
	}
	for _, x := range []dataset.Examples{
		dense(1, 2, 1, 0x1.000002p118), sparse(2, 2, []int64{0, 0, 1}, []int32{1}, -0x1p119),
	} {
		errs := loads(e, x, two[:x.N], 2, numerics.FixedPoint{}, false)
		wants(t, "load evaluator: large values", errs["load evaluator"], errValue)
		wants(t, "load cells: large values", errs["load cells"], nil)
	}
}

// The largest value is 6, so s is at most 62 - 2 - 3.
func TestFormats(t *testing.T) {
	e := cpuref.New()
	x, y := dense(3, 2, 1, 2, 3, 4, 5, 6), []int32{0, 1, 1}
	for _, f := range []numerics.FixedPoint{
		{S: 58, N: 3}, {S: 57, N: 4}, {S: 57, N: 2}, {S: -127, N: 3}, {S: 57}, {S: 3, N: -3},
		{S: 1, N: numerics.MostExamples + 1}, {S: 6, N: numerics.MostExamples},
	} {
		errs := loads(e, x, y, 2, f, false)
		wants(t, "cells in a format", errs["load cells"], errShape)
		wants(t, "evaluator in a format", errs["load evaluator"], errShape)
	}
	for _, f := range []numerics.FixedPoint{
		{}, {S: 57, N: 3}, {S: 56, N: 4}, {S: -126, N: 3}, {S: 5, N: numerics.MostExamples},
	} {
		r, err := e.LoadCells(x, y, 2, f)
		v, err2 := e.LoadEvaluator(x, 2, f)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if f == (numerics.FixedPoint{}) {
			f = numerics.FixedPoint{S: 57, N: 3}
		}
		if r.FixedPoint() != f || v.FixedPoint() != f {
			t.Errorf("got formats %+v and %+v, want %+v", r.FixedPoint(), v.FixedPoint(), f)
		}
	}
}

func TestCellsErrors(t *testing.T) {
	r, err := enginetest.Small(cpuref.New())
	if err != nil {
		t.Fatal(err)
	}
	w, f := engine.NewWeights(2, 2), make([]float32, 64)
	i32, i64 := make([]int32, 64), make([]int64, 64)
	pair := engine.Pair{P: 0, Q: 1}
	vectors := func(n int, inv []float32, pairs ...engine.Pair) error {
		return r.UpdateVectors(f[:n], pairs, inv)
	}
	for what, err := range map[string]error{
		"rescore: class too large": r.Rescore(w, []int{2}),
		"rescore: class negative":  r.Rescore(w, []int{-1}),
		"rescore: class twice":     r.Rescore(w, []int{1, 0, 1}),
		"rescore: width":           r.Rescore(engine.NewWeights(2, 3), []int{0}),
		"rescore: classes":         r.Rescore(engine.NewWeights(3, 2), []int{0}),
		"rescore: values":          r.Rescore(engine.Weights{Q: 2, D: 2, W: w.W[:3]}, []int{0}),
		"scores: length":           r.Scores(f[:5], 0, 3),
		"scores: range":            r.Scores(f[:8], 0, 4),
		"scores: negative":         r.Scores(f[:8], -1, 3),
		"scores: reversed":         r.Scores(f[:0], 2, 1),
		"predict: length":          r.Predict(i32[:4]),
		"counts: length":           r.CountPredicted(i64[:3], i32[:3]),
		"counts: labels":           r.CountPredicted(i64[:4], i32[:4]),
		"class sums: length":       r.ClassSums(i64[:3], 0),
		"class sums: region":       r.ClassSums(i64[:4], 2),
		"norms: length":            r.Norms(f[:3], f[:4]),
		"norms: inverse":           r.Norms(f[:4], f[:5]),
		"update vectors: length":   vectors(3, f[:4], pair),
		"update vectors: inverse":  vectors(2, f[:3], pair),
		"update vectors: region":   vectors(4, f[:4], pair, engine.Pair{P: 2, Q: 1}),
		"update vectors: class":    vectors(2, f[:4], engine.Pair{P: 0, Q: -1}),
	} {
		wants(t, what, err, errShape)
	}
	for _, y := range [][]int32{{0, 2, 1}, {0, 1, -1}} {
		wants(t, "counts: labels out of range", r.CountPredicted(i64[:4], y), engine.ErrLabel)
	}
	if _, err := r.Assign(0); err != nil { // it still works
		t.Error(err)
	}
}

func TestEvaluatorErrors(t *testing.T) {
	r, err := cpuref.New().LoadEvaluator(dense(3, 2, 1, 2, 3, 4, 5, 6), 2, numerics.FixedPoint{})
	if err != nil {
		t.Fatal(err)
	}
	w, sums, a := engine.NewWeights(2, 2), make([]int64, 64), make([]float32, 64)
	evaluate := func(sums []int64, w engine.Weights) error {
		_, err := r.Evaluate(sums, w)
		return err
	}
	wants(t, "evaluate before targets", evaluate(sums[:4], w), errShape)
	checkTargetErrors(t, r)
	wants(t, "evaluate after targets that are refused", evaluate(sums[:4], w), errShape)
	if err := r.SetTargets(engine.Targets{Values: a[:6]}); err != nil {
		t.Fatal(err)
	}
	checkTargetErrors(t, r)
	weighted := func(v float32) error { return r.WeightedSums(sums[:2], []float32{0, v, 0}) }
	for what, c := range map[string]struct{ got, want error }{
		"evaluate: too few sums":               {evaluate(sums[:3], w), errShape},
		"evaluate: too many sums":              {evaluate(sums[:5], w), errShape},
		"evaluate: width":                      {evaluate(sums[:4], engine.NewWeights(2, 3)), errShape},
		"evaluate: classes":                    {evaluate(sums[:4], engine.NewWeights(3, 2)), errShape},
		"weighted sums: no coefficients":       {r.WeightedSums(nil, nil), errShape},
		"weighted sums: too few coefficients":  {r.WeightedSums(sums[:2], a[:2]), errShape},
		"weighted sums: other number for some": {r.WeightedSums(sums[:2], a[:4]), errShape},
		"weighted sums: too few sums":          {r.WeightedSums(sums[:3], a[:6]), errShape},
		"weighted sums: too many sums":         {r.WeightedSums(sums[:4], a[:3]), errShape},
		"weighted sums: above 1":               {weighted(0x1.000002p0), errValue},
		"weighted sums: below -1":              {weighted(-0x1.000002p0), errValue},
		"weighted sums: NaN":                   {weighted(nan), errValue},
		"weighted sums: infinite":              {weighted(-inf), errValue},
	} {
		wants(t, what, c.got, c.want)
	}
	for k, sum := range sums {
		if sum != 0 {
			t.Errorf("sum %d is %d after errors", k, sum)
		}
	}
	wants(t, "evaluate after errors", evaluate(sums[:4], w), nil)
}

// checkTargetErrors sets invalid targets.
func checkTargetErrors(t *testing.T, r *engine.Evaluator) {
	t.Helper()
	row, ones := []int32{0, 0, 0}, []float32{1, 1, 1}
	zeros := make([]float32, 8)
	for _, c := range []struct {
		want   error
		given  bool
		what   string
		values []float32
		row    []int32
		weight []float32
	}{
		{errShape, false, "no values", nil, nil, nil},
		{errShape, false, "no values but rows", nil, row, nil},
		{errShape, false, "too few rows", zeros[:4], nil, nil},
		{errShape, false, "too many rows", zeros, nil, nil},
		{errShape, false, "part of a row", zeros[:7], nil, nil},
		{errShape, false, "part of a row, and rows", zeros[:3], row, nil},
		{errShape, false, "too few examples", zeros[:2], row[:2], nil},
		{errShape, false, "a row too large", zeros[:4], []int32{0, 1, 2}, nil},
		{errShape, false, "a negative row", zeros[:4], []int32{0, -1, 1}, nil},
		{errShape, false, "too few weights", zeros[:6], nil, ones[:2]},
		{errShape, false, "an empty slice of weights", zeros[:6], nil, ones[:0]},
		{errShape, false, "an empty slice of rows", zeros[:6], row[:0], nil},
		{errValue, false, "a NaN", []float32{0, 0, nan, 0, 0, 0}, nil, nil},
		{errValue, true, "a NaN given", []float32{0, 1, nan, 1, 0, 1}, nil, nil},
		{errValue, false, "+Inf", []float32{0, 0, inf, 0, 0, 0}, nil, nil},
		{errValue, true, "+Inf given", []float32{0, 1, inf, 1, 0, 1}, nil, nil},
		{errValue, true, "-Inf given", []float32{0, 1, -inf, 1, 0, 1}, nil, nil},
		{errValue, false, "a row without a finite value", []float32{0, 0, 0, 0, -inf, -inf}, nil, nil},
		{errValue, false, "a weight below 0", zeros[:6], nil, []float32{0, -0x1p-149, 0}},
		{errValue, false, "a weight above 1", zeros[:6], nil, []float32{1, 1, 1.000001}},
		{errValue, false, "a weight of NaN", zeros[:6], nil, []float32{1, nan, 1}},
		{errValue, true, "a value above 1 without weight", []float32{1.5, -0.5}, row, nil},
		{errValue, true, "a value of 2 with a weight a little above 1/2", []float32{-1, 2}, row,
			[]float32{0.1, 0x1.00002p-1, 0.1}},
		{errValue, true, "a value below 0 with too large a weight", []float32{-1, 2}, row,
			[]float32{0.1, 0.6, 0.1}},
	} {
		err := r.SetTargets(engine.Targets{Values: c.values, Row: c.row, Weight: c.weight,
			Given: c.given})
		wants(t, c.what, err, c.want)
	}
}

func TestProjectErrors(t *testing.T) {
	e := cpuref.New()
	x, m := dense(3, 2, 1, 2, 3, 4, 5, 6), dense(2, 2, 1, 0, 0, 1)
	value := func(v float32) dataset.Examples { return sparse(2, 2, []int64{0, 0, 1}, []int32{1}, v) }
	rows := func(q, d int, w ...float32) engine.Weights { return engine.Weights{Q: q, D: d, W: w} }
	none, one := engine.Weights{}, rows(1, 2, 1, 2)
	linear := kernel.Function{Kind: kernel.Linear}
	for _, c := range []struct {
		want   error
		what   string
		dst    int
		x      dataset.Examples
		f      kernel.Function
		m      dataset.Examples
		axes   engine.Weights
		offset []float32
	}{
		{errShape, "a short result", 2, x, linear, m, one, nil},
		{errShape, "a short result without axes", 3, x, linear, m, none, nil},
		{errShape, "no examples", 0, dense(0, 2), linear, m, none, nil},
		{errShape, "no landmarks", 0, x, linear, dense(0, 2), none, nil},
		{errShape, "no features", 6, dense(3, 0), linear, dense(2, 0), none, nil},
		{errShape, "landmarks of other features", 6, x, linear, dense(2, 1, 1, 2), none, nil},
		{errShape, "examples cut short", 6, dense(3, 2, x.X[:5]...), linear, m, none, nil},
		{errShape, "landmarks cut short", 6, x, linear, dense(2, 2, x.X[:3]...), none, nil},
		{errShape, "axes of another width", 3, x, linear, m, rows(1, 3, 1, 2, 3), nil},
		{errShape, "axes cut short", 6, x, linear, m, rows(2, 2, 1, 2, 3), nil},
		{errShape, "axes without number", 6, x, linear, m, rows(0, 2, 1, 2), nil},
		{errShape, "negative axes", 6, x, linear, m, rows(-1, 2), nil},
		{errShape, "too many offsets", 3, x, linear, m, one, []float32{1, 2}},
		{errShape, "offset without axes", 6, x, linear, m, none, []float32{1, 2}},
		{errShape, "columns out of order", 6, x, linear,
			sparse(2, 2, []int64{0, 2, 2}, []int32{1, 0}, 1, 1), none, nil},
		{errValue, "NaN in an example", 4, value(nan), linear, m, none, nil},
		{errValue, "an infinite landmark", 6, x, linear, value(inf), none, nil},
		{errValue, "NaN in a landmark", 6, x, linear, dense(2, 2, 1, 2, nan, 1), none, nil},
		{errValue, "NaN in an axis", 3, x, linear, m, rows(1, 2, 1, nan), nil},
		{errValue, "an infinite offset", 3, x, linear, m, one, []float32{-inf}},
		{errValue, "no function", 6, x, kernel.Function{}, m, none, nil},
		{errValue, "gamma 0", 6, x, kernel.Function{Kind: kernel.RBF}, m, none, nil},
		{errValue, "degree 0", 6, x, kernel.Function{Kind: kernel.Poly, Gamma: 1}, m, none, nil},
	} {
		dst := make([]float32, c.dst)
		err := e.Project(dst, c.x, engine.Projection{Function: c.f, Landmarks: c.m, Axes: c.axes,
			Offset: c.offset})
		wants(t, c.what, err, c.want)
		for k, v := range dst {
			if v != 0 {
				t.Errorf("%s: number %d is %v", c.what, k, v)
			}
		}
	}
}

func TestBinsErrors(t *testing.T) {
	e := cpuref.New()
	good := dataset.Binned{N: 3, F: 2, Bins: []uint8{0, 1, 1, 0, 2, 1}, Counts: []int{2, 3}}
	load := func(change func(*dataset.Binned)) error {
		b := good
		b.Bins, b.Counts = slices.Clone(b.Bins), slices.Clone(b.Counts)
		change(&b)
		_, err := e.LoadBins(b, 2)
		return err
	}
	wants(t, "no examples", load(func(b *dataset.Binned) { b.N = 0 }), errShape)
	wants(t, "a bin missing", load(func(b *dataset.Binned) { b.Bins = b.Bins[1:] }), errShape)
	wants(t, "a count missing", load(func(b *dataset.Binned) { b.Counts = b.Counts[1:] }), errShape)
	wants(t, "257 bins", load(func(b *dataset.Binned) { b.Counts[0] = 257 }), errShape)
	wants(t, "a bin beyond", load(func(b *dataset.Binned) { b.Bins[4] = 3 }), errValue)
	fresh, err := e.LoadBins(good, 2)
	r, err2 := enginetest.SmallBins(e)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	_, err = fresh.Gradients()
	wants(t, "gradients without targets", err, errShape)
	wants(t, "start without gradients", r.Start(engine.Growth{}), errShape)
	wants(t, "histogram before start", r.Histogram(make([]int64, 4), 0, []int{0}), errShape)
	if _, err := r.Gradients(); err != nil {
		t.Fatal(err)
	}
	wants(t, "class", r.Start(engine.Growth{Class: 2}), errShape)
	wants(t, "times", r.Start(engine.Growth{Times: []uint8{1}}), errShape)
	wants(t, "label", r.Start(engine.Growth{Labels: []int32{0, 1, 2}}), engine.ErrLabel)
	wants(t, "start", r.Start(engine.Growth{Class: 1}), nil)
	split := func(node, feature, a, b int) error {
		_, err := r.Split(node, feature, engine.BinSet{1}, [2]int{a, b})
		return err
	}
	wants(t, "split of no node", split(3, 0, 1, 2), errShape)
	wants(t, "split by no feature", split(0, 2, 1, 2), errShape)
	wants(t, "children alike", split(0, 0, 1, 1), errShape)
	wants(t, "child known", split(0, 0, 0, 1), errShape)
	wants(t, "child too large", split(0, 0, 1, engine.MostNodes), errShape)
	wants(t, "split", split(0, 0, 1, 7), nil)
	wants(t, "split twice", split(0, 0, 3, 4), errShape)
	wants(t, "histogram of a split node", r.Histogram(make([]int64, 4), 0, []int{0}), errShape)
	wants(t, "histogram, length", r.Histogram(make([]int64, 5), 1, []int{0}), errShape)
	wants(t, "histogram, feature", r.Histogram(make([]int64, 4), 1, []int{-1}), errShape)
	_, err = r.Gradients()
	wants(t, "gradients", err, nil)
	wants(t, "histogram of new gradients", r.Histogram(make([]int64, 4), 1, []int{0}), errShape)
	node := func(f, a, b int32) engine.Tree {
		return engine.Tree{Values: []float32{1, 2},
			Nodes: []engine.Node{{Feature: f, Children: [2]int32{a, b}}}}
	}
	for what, tree := range map[string]engine.Tree{
		"no leaf": {}, "feature": node(2, ^0, ^1), "itself": node(0, 0, ^1), "beyond": node(0, ^0, 1),
		"leaf beyond": node(0, ^0, ^2),
	} {
		wants(t, "add: "+what, r.Add(tree, 0), errShape)
	}
	wants(t, "add: class", r.Add(node(0, ^0, ^1), 2), errShape)
	wants(t, "add: values", r.Add(engine.Tree{Values: []float32{nan}}, 0), errValue)
	wants(t, "add", r.Add(node(0, ^0, ^1), 0), nil)
}
