package audit

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/enginetest"
)

// An audited engine is an engine.
func TestConformance(t *testing.T) {
	for _, level := range []string{Full, Sample} {
		enginetest.Run(t, Engine(simd.New(), cpuref.New(), level), enginetest.TinyCases())
	}
}

func TestClose(t *testing.T) {
	for _, level := range []string{Full, Sample} {
		enginetest.RunClose(t, func() engine.Engine { return Engine(simd.New(), cpuref.New(), level) })
	}
}

// broken is an engine that falsifies one operation, or what it remembers, when told to.
type broken struct {
	engine.Engine
	what string // "" for nothing
}

func (b *broken) Load(x dataset.Examples, classes int) (engine.Scorer, error) {
	r, err := b.Engine.Load(x, classes)
	return brokenScorer{r, b}, err
}

func (b *broken) LoadCells(x dataset.Examples, y []int32, classes int,
	f numerics.FixedPoint) (engine.Cells, error) {
	r, err := b.Engine.LoadCells(x, y, classes, f)
	return brokenCells{r, b}, err
}

func (b *broken) LoadEvaluator(x dataset.Examples, classes int,
	f numerics.FixedPoint) (engine.Evaluator, error) {
	r, err := b.Engine.LoadEvaluator(x, classes, f)
	return brokenEvaluator{r, b}, err
}

func (b *broken) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	err := b.Engine.Project(dst, x, p)
	turn(b, "projection", dst)
	return err
}

// turn turns the lowest bit of the last value, if that is what is broken.
func turn[T int32 | int64 | float32](b *broken, what string, values []T) {
	if b.what != what {
		return
	}
	switch v := any(values).(type) {
	case []float32:
		v[len(v)-1] = math.Float32frombits(math.Float32bits(v[len(v)-1]) ^ 1)
	case []int32:
		v[len(v)-1] ^= 1
	case []int64:
		v[len(v)-1] ^= 1
	}
}

type brokenScorer struct {
	engine.Scorer
	b *broken
}

func (r brokenScorer) Scores(dst []float32, from, to int) error {
	err := r.Scorer.Scores(dst, from, to)
	turn(r.b, "score of", dst)
	return err
}

func (r brokenScorer) Predict(dst []int32) error {
	err := r.Scorer.Predict(dst)
	turn(r.b, "prediction of", dst)
	return err
}

func (r brokenScorer) CountPredicted(counts []int64, y []int32) error {
	err := r.Scorer.CountPredicted(counts, y)
	turn(r.b, "count of prediction", counts)
	return err
}

type brokenCells struct {
	engine.Cells
	b *broken
}

func (r brokenCells) Assign(alpha float32) (engine.Assignment, error) {
	a, err := r.Cells.Assign(alpha)
	turn(r.b, "count of examples", a.Predicted)
	turn(r.b, "count of region", a.Regions)
	return a, err
}

func (r brokenCells) ClassSums(dst []int64, p int) error {
	err := r.Cells.ClassSums(dst, p)
	turn(r.b, "class sum", dst)
	return err
}

func (r brokenCells) Norms(dst, inv []float32) error {
	err := r.Cells.Norms(dst, inv)
	turn(r.b, "norm of", dst)
	return err
}

func (r brokenCells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	err := r.Cells.UpdateVectors(dst, pairs, inv)
	turn(r.b, "update vector", dst)
	return err
}

type brokenEvaluator struct {
	engine.Evaluator
	b *broken
}

func (r brokenEvaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	e, err := r.Evaluator.Evaluate(sums, w)
	turn(r.b, "weighted sum of", sums)
	if r.b.what == "sum of losses" {
		e.Loss++
	}
	if r.b.what == "count of refused" {
		e.Refused--
	}
	if r.b.what == "weighted sum over all" {
		sums[0] ^= 1 << 61
	}
	return e, err
}

func (r brokenEvaluator) WeightedSums(sums []int64, a []float32) error {
	err := r.Evaluator.WeightedSums(sums, a)
	turn(r.b, "weighted sum of", sums)
	return err
}

// examples are a small data set.
func examples() (x dataset.Examples, y []int32, w engine.Weights) {
	x = dataset.Examples{N: 5, D: 2, X: []float32{1, 2, -3, 1, 2, -1, 0.5, 0.25, -1, -1}}
	return x, []int32{0, 1, 1, 0, 1}, engine.Weights{Q: 2, D: 2, W: []float32{1, 0.5, -1, 0.75}}
}

// use asks everything of an audited engine whose b is broken beforehand, and returns the
// error of what comes.
func use(e engine.Engine, b *broken, what string, cells, evaluations bool) (used any, err error) {
	x, y, w := examples()
	both := []int{0, 1}
	switch {
	case cells:
		r, err := e.LoadCells(x, y, 2, numerics.FixedPoint{})
		if err == nil {
			_, err = r.Assign(0)
		}
		if b.what = what; err == nil {
			err = r.Rescore(w, both)
		}
		if err == nil {
			_, err = r.Assign(0)
		}
		f := make([]float32, 4)
		for _, ask := range []func() error{
			func() error { return r.ClassSums(make([]int64, 4), 1) },
			func() error { return r.Norms(f, []float32{1, 0.5, 0.5, 1}) },
			func() error { return r.UpdateVectors(f[:2], []engine.Pair{{P: 1, Q: 1}}, f) },
		} {
			if err == nil {
				err = ask()
			}
		}
		return r, err
	case evaluations:
		r, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
		if err == nil {
			err = r.SetTargets(engine.Targets{Values: []float32{0, -1, -2, 0}, Row: y})
		}
		if b.what = what; err == nil {
			_, err = r.Evaluate(make([]int64, 4), w)
		}
		if err == nil {
			err = r.WeightedSums(make([]int64, 4), make([]float32, 10))
		}
		return r, err
	}
	b.what = what
	if what == "projection" {
		return nil, e.Project(make([]float32, 25), x,
			engine.Projection{Function: kernel.Function{Kind: kernel.Linear}, Landmarks: x})
	}
	r, err := e.Load(x, 2)
	if err == nil {
		err = r.Rescore(w, both)
	}
	if err == nil {
		err = r.Scores(make([]float32, 6), 2, 5)
	}
	if err == nil {
		err = r.Predict(make([]int32, 5))
	}
	if err == nil {
		err = r.CountPredicted(make([]int64, 4), y)
	}
	return r, err
}

// Whatever comes back wrong is noticed when all is audited, and is the end of a data set; and so
// it is in a sample for which there is time.
func TestNotices(t *testing.T) {
	for _, level := range []string{Full, Sample} {
		for what, kind := range map[string]string{"score of": "", "prediction of": "", "projection": "",
			"count of prediction": "",
			"count of examples":   "cells", "count of region": "cells", "class sum": "cells",
			"norm of":       "cells",
			"update vector": "cells", "weighted sum of": "evaluations", "sum of losses": "evaluations",
			"count of refused": "evaluations", "weighted sum over all": "evaluations"} {
			b := &broken{Engine: cpuref.New()}
			e := Engine(b, simd.New(), level)
			used, err := use(e, b, what, kind == "cells", kind == "evaluations")
			if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), what) ||
				!strings.Contains(err.Error(), "found") || !strings.Contains(err.Error(), "wanted") {
				t.Errorf("%s, %s: found %v", level, what, err)
				continue
			}
			switch r := used.(type) {
			case engine.Cells:
				err = enginetest.CheckFailed(r)
			case engine.Scorer:
				if err = r.Scores(make([]float32, 2), 0, 1); errors.Is(err, engine.ErrFailed) {
					err = r.Close()
				}
			default:
				err = nil
			}
			if err != nil {
				t.Errorf("%s, %s: %v", level, what, err)
			}
		}
	}
}

// Without time for anything else, what is wrong in the end is noticed when a data set is closed,
// and counts that do not add up at once.
func TestLast(t *testing.T) {
	for what, kind := range map[string]string{"class sum": "cells",
		"weighted sum of": "evaluations", "sum of losses": "evaluations"} {
		b := &broken{Engine: cpuref.New()}
		a := &auditedEngine{e: b, by: simd.New(), budget: newBudget(false)}
		a.budget.rate = 1 // no time for more than one operation
		used, err := use(checked(a), b, what, kind == "cells", kind == "evaluations")
		if err != nil {
			t.Errorf("%s: %v before the end", what, err)
		}
		a.budget.rate = 0
		if err := used.(engine.Scorer).Close(); !errors.Is(err, ErrDiffers) ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("%s: found %v", what, err)
		}
	}
	b := &broken{Engine: cpuref.New()}
	a := &auditedEngine{e: b, by: simd.New(), budget: newBudget(false)}
	a.budget.rate = 1
	if _, err := use(checked(a), b, "count of examples", true, false); !errors.Is(err, ErrDiffers) {
		t.Errorf("counts: found %v", err)
	}
}

// Class sums that have to add up to a known total are added up when there is no time for more.
func TestAddUp(t *testing.T) {
	b := &broken{Engine: cpuref.New()}
	a := &auditedEngine{e: b, by: simd.New(), budget: newBudget(false)}
	x, y, w := examples()
	r, err := checked(a).LoadCells(x, y, 2, numerics.FixedPoint{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Assign(0); err != nil {
		t.Fatal(err)
	}
	b.what = "class sum"
	if err := r.Rescore(w, []int{0, 1}); err != nil {
		t.Fatal(err)
	}
	// There are 32 operations of adding up, and 100 of everything.
	a.budget.spent, a.budget.rate = 0, sums.free.Seconds()/35
	_, err = r.Assign(0)
	if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(),
		"class sum over all regions of label") {
		t.Errorf("found %v", err)
	}
}
