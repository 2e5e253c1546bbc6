package enginetest

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))

	errShape, errValue, errLabel = engine.ErrShape, engine.ErrValue, engine.ErrLabel
)

// misuse is something that an engine did not do, and what it should have said.
type misuse struct {
	what      string
	got, want error
}

// refused returns an error unless each misuse got the error that it should get.
func refused(what string, all ...misuse) error {
	for _, m := range all {
		if !errors.Is(m.got, m.want) {
			return fmt.Errorf("%s: %s: got %v, want %v", what, m.what, m.got, m.want)
		}
	}
	return nil
}

// small is a well-formed problem for the checks of misuse.
func small() (dataset.Examples, []int32) { return dense(3, 2, 1, 2, 3, 4, 5, 6), []int32{0, 1, 1} }

func smallTargets() engine.Targets {
	return engine.Targets{Values: []float32{0.5, 0.5, 1, 0, 0.25, 0.75}, Given: true}
}

func dense(n, d int, x ...float32) dataset.Examples { return dataset.Examples{N: n, D: d, X: x} }

func sparse(n, d int, starts []int64, columns []int32, values ...float32) dataset.Examples {
	return dataset.Examples{N: n, D: d, Starts: starts, Columns: columns, Values: values}
}

// scorer is an *engine.Scorer, or an *engine.Cells or *engine.Evaluator, which embed one.
type scorer interface {
	Shape() (n, d, q int)
	Rescore(w engine.Weights, classes []int) error
	Scores(dst []float32, from, to int) error
	Predict(dst []int32) error
	CountPredicted(counts []int64, y []int32) error
	Close() error
}

// loader is a way to load examples on an engine. Without labels it does not look at y.
type loader struct {
	name   string
	labels bool
	load   func(x dataset.Examples, y []int32, q int, f numerics.FixedPoint) (scorer, error)
}

func loaders(e *engine.Engine) []loader {
	return []loader{
		{"load cells", true, func(x dataset.Examples, y []int32, q int, f numerics.FixedPoint) (scorer,
			error) {
			return e.LoadCells(x, y, q, f)
		}},
		{"load", false, func(x dataset.Examples, _ []int32, q int, _ numerics.FixedPoint) (scorer,
			error) {
			return e.Load(x, q)
		}},
		{"load evaluator", false, func(x dataset.Examples, _ []int32, q int,
			f numerics.FixedPoint) (scorer,
			error) {
			return e.LoadEvaluator(x, q, f)
		}},
	}
}

// refuses returns an error unless loading fails as wanted.
func (l loader) refuses(what string, x dataset.Examples, y []int32, q int, f numerics.FixedPoint,
	want error) error {
	_, err := l.load(x, y, q, f)
	return refused(l.name, misuse{what, err, want})
}

func checkErrors(e, _ *engine.Engine) error {
	x, y := small()
	one, two := []int32{0}, []int32{0, 0}
	both := sparse(1, 1, []int64{0, 1}, one, 1)
	both.X = []float32{1}
	for _, c := range []struct {
		what string
		x    dataset.Examples
		y    []int32
		q    int
		want error
	}{
		{"no examples", dense(0, 2), nil, 2, errShape},
		{"no features", dense(3, 0), y, 2, errShape},
		{"no classes", x, y, 0, errShape},
		{"negative size", dense(-3, -2, x.X...), y, 2, errShape},
		{"too few values", dense(3, 2, x.X[:5]...), y, 2, errShape},
		{"too many values", dense(2, 2, x.X...), y[:2], 2, errShape},
		{"no labels", x, nil, 2, errShape},
		{"too few labels", x, y[:2], 2, errShape},
		{"label too large", x, []int32{0, 1, 2}, 2, engine.ErrLabel},
		{"label negative", x, []int32{0, 1, -1}, 2, engine.ErrLabel},
		{"NaN", dense(1, 2, 1, nan), one, 2, errValue},
		{"infinite", dense(1, 2, -inf, 1), one, 2, errValue},
		{"infinite, sparse", sparse(2, 2, []int64{0, 0, 1}, []int32{1}, -inf), two, 2, errValue},
		{"column beyond the width", sparse(1, 2, []int64{0, 1}, []int32{2}, 1), one, 2, errShape},
		{"columns not increasing", sparse(1, 3, []int64{0, 2}, []int32{1, 1}, 1, 1), one, 2, errShape},
		{"starts beyond the values", sparse(2, 3, []int64{0, 2, 1}, []int32{1}, 1), two, 2, errShape},
		{"a start missing", sparse(2, 3, []int64{0, 1}, []int32{1}, 1), two, 2, errShape},
		{"both forms", both, one, 2, errShape},
	} {
		s := c.x
		labels := s.N == x.N && s.Check() == nil && c.q == 2 // are at fault
		for _, l := range loaders(e) {
			if labels && !l.labels {
				continue
			}
			if err := l.refuses(c.what, c.x, c.y, c.q, numerics.FixedPoint{}, c.want); err != nil {
				return err
			}
		}
	}
	r, err := e.LoadCells(x, y, 2, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	w, f := engine.NewWeights(2, 2), make([]float32, 64)
	i32, i64 := make([]int32, 64), make([]int64, 64)
	pair := engine.Pair{P: 0, Q: 1}
	vectors := func(n int, inv []float32, pairs ...engine.Pair) error {
		return r.UpdateVectors(f[:n], pairs, inv)
	}
	if err := refused("cells",
		misuse{"rescore: class too large", r.Rescore(w, []int{2}), errShape},
		misuse{"rescore: class negative", r.Rescore(w, []int{-1}), errShape},
		misuse{"rescore: class twice", r.Rescore(w, []int{1, 0, 1}), errShape},
		misuse{"rescore: width", r.Rescore(engine.NewWeights(2, 3), []int{0}), errShape},
		misuse{"rescore: classes", r.Rescore(engine.NewWeights(3, 2), []int{0}), errShape},
		misuse{"rescore: values", r.Rescore(engine.Weights{Q: 2, D: 2, W: w.W[:3]}, []int{0}), errShape},
		misuse{"scores: length", r.Scores(f[:5], 0, 3), errShape},
		misuse{"scores: range", r.Scores(f[:8], 0, 4), errShape},
		misuse{"scores: negative", r.Scores(f[:8], -1, 3), errShape},
		misuse{"scores: reversed", r.Scores(f[:0], 2, 1), errShape},
		misuse{"predict: length", r.Predict(i32[:4]), errShape},
		misuse{"counts: length", r.CountPredicted(i64[:3], i32[:3]), errShape},
		misuse{"counts: labels", r.CountPredicted(i64[:4], i32[:4]), errShape},
		misuse{"counts: label too large", r.CountPredicted(i64[:4], []int32{0, 2, 1}), errLabel},
		misuse{"counts: label negative", r.CountPredicted(i64[:4], []int32{0, 1, -1}), errLabel},
		misuse{"class sums: length", r.ClassSums(i64[:3], 0), errShape},
		misuse{"class sums: region", r.ClassSums(i64[:4], 2), errShape},
		misuse{"norms: length", r.Norms(f[:3], f[:4]), errShape},
		misuse{"norms: inverse", r.Norms(f[:4], f[:5]), errShape},
		misuse{"update vectors: length", vectors(3, f[:4], pair), errShape},
		misuse{"update vectors: inverse", vectors(2, f[:3], pair), errShape},
		misuse{"update vectors: region", vectors(4, f[:4], pair, engine.Pair{P: 2, Q: 1}), errShape},
		misuse{"update vectors: class", vectors(2, f[:4], engine.Pair{P: 0, Q: -1}), errShape},
	); err != nil {
		return err
	}
	return checkClosed(r)
}

// checkClosed closes a data set of small.
func checkClosed(r scorer) error {
	return errors.Join(r.Close(), r.Close(), refuses(r, engine.ErrClosed))
}

// refuses asks for every operation on a data set of small and wants an error.
func refuses(r scorer, want error) error {
	w, f := engine.NewWeights(2, 2), make([]float32, 6)
	all := []misuse{
		{"rescore", r.Rescore(w, []int{0}), want}, {"scores", r.Scores(f, 0, 3), want},
		{"predict", r.Predict(make([]int32, 3)), want},
		{"counts", r.CountPredicted(make([]int64, 4), make([]int32, 3)), want},
	}
	switch r := r.(type) {
	case *engine.Cells:
		_, assign := r.Assign(0)
		all = append(all, misuse{"assign", assign, want},
			misuse{"class sums", r.ClassSums(make([]int64, 4), 0), want},
			misuse{"norms", r.Norms(f[:4], f[:4]), want},
			misuse{"update vectors", r.UpdateVectors(f[:2], []engine.Pair{{P: 0, Q: 1}}, f[:4]), want})
	case *engine.Evaluator:
		_, evaluate := r.Evaluate(make([]int64, 4), w)
		all = append(all, misuse{"evaluate", evaluate, want},
			misuse{"set targets", r.SetTargets(smallTargets()), want},
			misuse{"weighted sums", r.WeightedSums(make([]int64, 4), f), want})
	}
	return refused(fmt.Sprintf("after %q", want), all...)
}

// CheckFailed judges a data set of Small or SmallEvaluator after an operation failed: everything
// but Close returns engine.ErrFailed. A test of an engine makes the failure, which no case of the
// suite can.
func CheckFailed(r scorer) error {
	return errors.Join(refuses(r, engine.ErrFailed), r.Close())
}

// Small loads 3 examples of 2 features and 2 classes.
func Small(e *engine.Engine) (*engine.Cells, error) {
	x, y := small()
	return e.LoadCells(x, y, 2, numerics.FixedPoint{})
}

// SmallEvaluator loads the examples of Small, and sets targets.
func SmallEvaluator(e *engine.Engine) (*engine.Evaluator, error) {
	x, _ := small()
	r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
	if err != nil {
		return nil, err
	}
	return r, r.SetTargets(smallTargets())
}

// checkEvaluateErrors checks an evaluator's errors for misuse, and that it still works after them.
func checkEvaluateErrors(e, ref *engine.Engine) error {
	load := loaders(e)[2]
	for _, x := range []dataset.Examples{
		dense(1, 2, 1, 0x1.000002p118), sparse(2, 2, []int64{0, 0, 1}, []int32{1}, -0x1p119),
	} {
		if err := load.refuses("large values", x, nil, 2, numerics.FixedPoint{}, errValue); err != nil {
			return err
		}
	}
	x, _ := small()
	r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	w := engine.Weights{Q: 2, D: 2, W: []float32{1, 0, -1, 1}}
	_, before := r.Evaluate(make([]int64, 4), w)
	bad := targetErrors(r)
	_, after := r.Evaluate(make([]int64, 4), w)
	if err := errors.Join(bad, refused("evaluate", misuse{"before targets", before, errShape},
		misuse{"after targets that are refused", after, errShape})); err != nil {
		return err
	}
	want, err := SmallEvaluator(ref)
	if err != nil {
		return err
	}
	if err := r.SetTargets(smallTargets()); err != nil {
		return err
	}
	for range 2 {
		_, err := sameEvaluation(r, want, w)
		err = errors.Join(err, targetErrors(r), useErrors(r), sameScores(r, want, 2, 0, 3))
		if err != nil {
			return err
		}
	}
	return checkClosed(r)
}

// targetErrors sets invalid targets.
func targetErrors(r *engine.Evaluator) error {
	row, ones := []int32{0, 0, 0}, []float32{1, 1, 1}
	some := func(n int) []float32 { return make([]float32, n) }
	var all []misuse
	set := func(want error, given bool, what string, values []float32, row []int32,
		weight []float32) {
		t := engine.Targets{Values: values, Row: row, Weight: weight, Given: given}
		all = append(all, misuse{what, r.SetTargets(t), want})
	}
	set(errShape, false, "no values", nil, nil, nil)
	set(errShape, false, "no values but rows", nil, row, nil)
	set(errShape, false, "too few rows", some(4), nil, nil)
	set(errShape, false, "too many rows", some(8), nil, nil)
	set(errShape, false, "part of a row", some(7), nil, nil)
	set(errShape, false, "part of a row, and rows", some(3), row, nil)
	set(errShape, false, "too few examples", some(2), row[:2], nil)
	set(errShape, false, "a row too large", some(4), []int32{0, 1, 2}, nil)
	set(errShape, false, "a negative row", some(4), []int32{0, -1, 1}, nil)
	set(errShape, false, "too few weights", some(6), nil, ones[:2])
	set(errShape, false, "an empty slice of weights", some(6), nil, ones[:0])
	set(errShape, false, "an empty slice of rows", some(6), row[:0], nil)
	set(errValue, false, "a NaN", []float32{0, 0, nan, 0, 0, 0}, nil, nil)
	set(errValue, true, "a NaN given", []float32{0, 1, nan, 1, 0, 1}, nil, nil)
	set(errValue, false, "+Inf", []float32{0, 0, inf, 0, 0, 0}, nil, nil)
	set(errValue, true, "+Inf given", []float32{0, 1, inf, 1, 0, 1}, nil, nil)
	set(errValue, true, "-Inf given", []float32{0, 1, -inf, 1, 0, 1}, nil, nil)
	set(errValue, false, "a row without a finite value", []float32{0, 0, 0, 0, -inf, -inf}, nil, nil)
	set(errValue, false, "a weight below 0", some(6), nil, []float32{0, -0x1p-149, 0})
	set(errValue, false, "a weight above 1", some(6), nil, []float32{1, 1, 1.000001})
	set(errValue, false, "a weight of NaN", some(6), nil, []float32{1, nan, 1})
	set(errValue, true, "a value above 1 without weight", []float32{1.5, -0.5}, row, nil)
	set(errValue, true, "a value of 2 with a weight a little above 1/2", []float32{-1, 2}, row,
		[]float32{0.1, 0x1.00002p-1, 0.1})
	set(errValue, true, "a value below 0 with too large a weight", []float32{-1, 2}, row,
		[]float32{0.1, 0.6, 0.1})
	return refused("set targets", all...)
}

// useErrors asks an evaluator that has targets for what it cannot answer.
func useErrors(r *engine.Evaluator) error {
	w, sums, a := engine.NewWeights(2, 2), make([]int64, 64), make([]float32, 64)
	evaluate := func(sums []int64, w engine.Weights) error {
		_, err := r.Evaluate(sums, w)
		return err
	}
	bad := func(v float32) error { return r.WeightedSums(sums[:2], []float32{0, v, 0}) }
	short := engine.Weights{Q: 2, D: 2, W: w.W[:3]}
	return errors.Join(refused("evaluate",
		misuse{"too few sums", evaluate(sums[:3], w), errShape},
		misuse{"too many sums", evaluate(sums[:5], w), errShape},
		misuse{"width", evaluate(sums[:4], engine.NewWeights(2, 3)), errShape},
		misuse{"classes", evaluate(sums[:4], engine.NewWeights(3, 2)), errShape},
		misuse{"values", evaluate(sums[:4], short), errShape},
	), refused("weighted sums",
		misuse{"no coefficients", r.WeightedSums(nil, nil), errShape},
		misuse{"too few coefficients", r.WeightedSums(sums[:2], a[:2]), errShape},
		misuse{"another number for some", r.WeightedSums(sums[:2], a[:4]), errShape},
		misuse{"too few sums", r.WeightedSums(sums[:3], a[:6]), errShape},
		misuse{"too many sums", r.WeightedSums(sums[:4], a[:3]), errShape},
		misuse{"above 1", bad(0x1.000002p0), errValue}, misuse{"below -1", bad(-0x1.000002p0), errValue},
		misuse{"NaN", bad(nan), errValue}, misuse{"infinite", bad(-inf), errValue},
	), refused("evaluator",
		misuse{"rescore: class too large", r.Rescore(w, []int{2}), errShape},
		misuse{"scores: length", r.Scores(a[:5], 0, 3), errShape},
		misuse{"predict: length", r.Predict(make([]int32, 4)), errShape},
	), same("sums after errors", sums, make([]int64, len(sums))))
}

// checkProjectErrors judges what Project says to misuse.
func checkProjectErrors(e, _ *engine.Engine) error {
	x, _ := small()
	m := dense(2, 2, 1, 0, 0, 1)
	value := func(v float32) dataset.Examples { return sparse(2, 2, []int64{0, 0, 1}, []int32{1}, v) }
	rows := func(q, d int, w ...float32) engine.Weights { return engine.Weights{Q: q, D: d, W: w} }
	none, one := engine.Weights{}, rows(1, 2, 1, 2)
	unordered := sparse(2, 2, []int64{0, 2, 2}, []int32{1, 0}, 1, 1)
	var all []misuse
	try := func(want error, what string, dst int, x dataset.Examples, f kernel.Function,
		m dataset.Examples, axes engine.Weights, offset ...float32) {
		result := make([]float32, dst)
		p := engine.Projection{Function: f, Landmarks: m, Axes: axes, Offset: offset}
		all = append(all, misuse{what, e.Project(result, x, p), want},
			misuse{what, same("dst", result, make([]float32, dst)), nil})
	}
	try(errShape, "a short result", 2, x, linear, m, one)
	try(errShape, "a short result without axes", 3, x, linear, m, none)
	try(errShape, "no examples", 0, dense(0, 2), linear, m, none)
	try(errShape, "no landmarks", 0, x, linear, dense(0, 2), none)
	try(errShape, "no features", 6, dense(3, 0), linear, dense(2, 0), none)
	try(errShape, "landmarks of other features", 6, x, linear, dense(2, 1, 1, 2), none)
	try(errShape, "examples cut short", 6, dense(3, 2, x.X[:5]...), linear, m, none)
	try(errShape, "landmarks cut short", 6, x, linear, dense(2, 2, x.X[:3]...), none)
	try(errShape, "axes of another width", 3, x, linear, m, rows(1, 3, 1, 2, 3))
	try(errShape, "axes cut short", 6, x, linear, m, rows(2, 2, 1, 2, 3))
	try(errShape, "axes without number", 6, x, linear, m, rows(0, 2, 1, 2))
	try(errShape, "negative axes", 6, x, linear, m, rows(-1, 2))
	try(errShape, "too many offsets", 3, x, linear, m, one, 1, 2)
	try(errShape, "offset without axes", 6, x, linear, m, none, 1, 2)
	try(errShape, "columns out of order", 6, x, linear, unordered, none)
	try(errValue, "NaN in an example", 4, value(nan), linear, m, none)
	try(errValue, "an infinite landmark", 6, x, linear, value(inf), none)
	try(errValue, "NaN in a landmark", 6, x, linear, dense(2, 2, 1, 2, nan, 1), none)
	try(errValue, "NaN in an axis", 3, x, linear, m, rows(1, 2, 1, nan))
	try(errValue, "an infinite offset", 3, x, linear, m, one, -inf)
	try(errValue, "no function", 6, x, kernel.Function{}, m, none)
	try(errValue, "gamma 0", 6, x, kernel.Function{Kind: kernel.RBF}, m, none)
	try(errValue, "degree 0", 6, x, kernel.Function{Kind: kernel.Poly, Gamma: 1}, m, none)
	return refused("project", all...)
}

// checkFormats gives fixed-point formats that can hold the examples, and others.
func checkFormats(e, ref *engine.Engine) error { return formats(loaders(e)[0], loaders(ref)[0]) }

// formats loads small in such formats. Its largest value is 6, so s is at most 62 - 2 - 3.
func formats(l, ref loader) error {
	x, y := small()
	for _, f := range []numerics.FixedPoint{
		{S: 58, N: 3}, {S: 57, N: 4}, {S: 57, N: 2}, {S: -127, N: 3}, {S: 57}, {S: 3, N: -3},
		{S: 1, N: numerics.MostExamples + 1}, {S: 6, N: numerics.MostExamples},
	} {
		if err := l.refuses(fmt.Sprintf("format %+v", f), x, y, 2, f, errShape); err != nil {
			return err
		}
	}
	for _, f := range []numerics.FixedPoint{
		{}, {S: 57, N: 3}, {S: 56, N: 4}, {S: -126, N: 3}, {S: -2, N: 3}, // 6 is one and a half
		{S: 5, N: numerics.MostExamples},
	} {
		if err := inFormat(l, ref, x, y, f, numerics.FixedPoint{S: 57, N: 3}); err != nil {
			return err
		}
	}
	return nil
}

// inFormat loads x in a format, and compares weighted sums if there are any. The zero value means
// the finest format.
func inFormat(l, ref loader, x dataset.Examples, y []int32, f, finest numerics.FixedPoint) error {
	r, err := l.load(x, y, 2, f)
	if err != nil {
		return err
	}
	if f == (numerics.FixedPoint{}) {
		f = finest
	}
	if got := r.(interface{ FixedPoint() numerics.FixedPoint }).FixedPoint(); got != f {
		return fmt.Errorf("fixed point %+v, want %+v", got, f)
	}
	if r, ok := r.(*engine.Evaluator); ok {
		want, err := ref.load(x, nil, 2, f)
		if err != nil {
			return err
		}
		for _, a := range [][]float32{{1, 1, 1}, {1, -1, -1}, {-1, 0.5, 0.5}, {0x1p-60, 1, -0x1p-149}} {
			if err := sameWeightedSums(r, want.(*engine.Evaluator), a); err != nil {
				return fmt.Errorf("%v in %+v: %w", a, f, err)
			}
		}
	}
	return r.Close()
}

func checkEvaluateFormats(e, ref *engine.Engine) error {
	largest := dense(3, 2, 0x1p118, -0x1p118, 0x1p118, 1, 0x1p-126, -0x1p-149)
	l, want := loaders(e)[2], loaders(ref)[2]
	return errors.Join(formats(l, want), inFormat(l, want, largest, nil, numerics.FixedPoint{},
		numerics.FixedPoint{S: 62 - 2 - 119, N: 3}))
}

// checkPlan asks for a plan, with labels and without, and for the device.
func checkPlan(e, _ *engine.Engine) error {
	x, y := small()
	scorer, err := e.Plan(x, nil, 2)
	cells, err2 := e.Plan(x, y, 2)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if scorer.ClassSums != 0 || cells.ClassSums < 2*2*2*8 ||
		scorer.Examples != cells.Examples || scorer.Scratch > cells.Scratch {
		return fmt.Errorf("plans for %s: without labels %+v, with labels %+v", e.Device().ID, scorer,
			cells)
	}
	return nil
}

// checkEvaluatePlan asks for a plan for what LoadEvaluator takes, and for one of examples
// that it does not.
func checkEvaluatePlan(e, _ *engine.Engine) error {
	x, _ := small()
	p, err := e.PlanEvaluator(x, 2)
	if err != nil {
		return err
	}
	if p.ClassSums != 0 || p.Examples < 4*3*2 || p.Scores < 4*3*2 || p.Tiles < 1 {
		return fmt.Errorf("plan to evaluate for %s: %+v", e.Device().ID, p)
	}
	_, shape := e.PlanEvaluator(x, 0)
	_, value := e.PlanEvaluator(dense(1, 1, 0x1.000002p118), 2)
	return refused("plan to evaluate", misuse{"no classes", shape, errShape},
		misuse{"values above 2^118", value, errValue})
}

// checkMemory has class sums that no machine holds, of examples that are easily scored:
// cells are refused, before anything of their size is taken, and scores are not.
func checkMemory(e, _ *engine.Engine) error {
	x, y := dense(2, 500, make([]float32, 2*500)...), []int32{0, 1}
	for j := range x.D {
		x.Row(0)[j], x.Row(1)[j] = 1, -1
	}
	const q = 30000                                    // 3.6 TB
	wide := dense(1, 1<<21, make([]float32, 1<<21)...) // with 1<<15-1 classes 2^64 bytes and more
	_, plan := e.Plan(x, y, q)
	_, scores := e.Plan(x, nil, q)
	cells, none := loaders(e)[0], numerics.FixedPoint{}
	if err := errors.Join(scores,
		refused("plan", misuse{"cells of many classes", plan, engine.ErrMemory}),
		cells.refuses("many classes", x, y, q, none, engine.ErrMemory),
		cells.refuses("more", wide, y[:1], 1<<15-1, none, engine.ErrMemory)); err != nil {
		return err
	}
	r, err := e.Load(x, q)
	if err != nil {
		return err
	}
	w := engine.NewWeights(q, x.D)
	w.Row(q - 1)[0], w.Row(3)[1] = 1, -1
	if err := r.Rescore(w, []int{q - 1, 3}); err != nil {
		return err
	}
	return errors.Join(into("predict", []int32{q - 1, 3}, r.Predict), r.Close())
}
