package audit

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

func audited(d, by engine.Driver, level string) *engine.Engine {
	return engine.New(Driver(d, by, level))
}

// An audited engine is an engine.
func TestConformance(t *testing.T) {
	for _, level := range []string{Full, Sample} {
		enginetest.Run(t, audited(simd.NewDriver(), cpuref.Driver{}, level), enginetest.TinyCases())
	}
}

func TestClose(t *testing.T) {
	for _, level := range []string{Full, Sample} {
		enginetest.RunClose(t, func() *engine.Engine {
			return audited(simd.NewDriver(), cpuref.Driver{},
				level)
		})
	}
}

// broken is a driver that falsifies one operation, or what it remembers, when told to.
type broken struct {
	engine.Driver
	what string // "" for nothing
}

func (b *broken) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	r, err := b.Driver.Load(x, t)
	switch t.Use {
	case engine.UseCells:
		return brokenCells{r.(engine.LoadedCells), b}, err
	case engine.UseEvaluator:
		return brokenEvaluator{r.(engine.LoadedEvaluator), b}, err
	}
	return brokenScorer{r, b}, err
}

func (b *broken) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	err := b.Driver.Project(dst, x, p)
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
	engine.Loaded
	b *broken
}

func (r brokenScorer) Scores(dst []float32, from, to int) error {
	err := r.Loaded.Scores(dst, from, to)
	turn(r.b, "scores of", dst)
	return err
}

func (r brokenScorer) Predict(dst []int32) error {
	err := r.Loaded.Predict(dst)
	turn(r.b, "predictions of", dst)
	return err
}

type brokenCells struct {
	engine.LoadedCells
	b *broken
}

func (r brokenCells) Assign(alpha float32) (engine.Assignment, error) {
	a, err := r.LoadedCells.Assign(alpha)
	turn(r.b, "count of examples", a.Predicted)
	turn(r.b, "counts of regions", a.Regions)
	return a, err
}

func (r brokenCells) ClassSums(dst []int64, p int) error {
	err := r.LoadedCells.ClassSums(dst, p)
	turn(r.b, "class sums", dst)
	return err
}

func (r brokenCells) Norms(dst, inv []float32) error {
	err := r.LoadedCells.Norms(dst, inv)
	turn(r.b, "norms", dst)
	return err
}

func (r brokenCells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	err := r.LoadedCells.UpdateVectors(dst, pairs, inv)
	turn(r.b, "update vectors", dst)
	return err
}

type brokenEvaluator struct {
	engine.LoadedEvaluator
	b *broken
}

func (r brokenEvaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	e, err := r.LoadedEvaluator.Evaluate(sums, w)
	turn(r.b, "weighted sums", sums)
	if r.b.what == "sum of losses" {
		e.Loss++
	}
	if r.b.what == "count of refused" {
		e.Refused--
	}
	return e, err
}

func (r brokenEvaluator) WeightedSums(sums []int64, a []float32) error {
	err := r.LoadedEvaluator.WeightedSums(sums, a)
	turn(r.b, "weighted sums", sums)
	return err
}

// examples are a small data set.
func examples() (x dataset.Examples, y []int32, w engine.Weights) {
	x = dataset.Examples{N: 5, D: 2, X: []float32{1, 2, -3, 1, 2, -1, 0.5, 0.25, -1, -1}}
	return x, []int32{0, 1, 1, 0, 1}, engine.Weights{Q: 2, D: 2, W: []float32{1, 0.5, -1, 0.75}}
}

// use asks everything of an audited engine whose b is broken beforehand, and returns the
// error of what comes.
func use(e *engine.Engine, b *broken, what string, cells, evaluations bool) (used any, err error) {
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
	return r, err
}

// Whatever comes back wrong is noticed when all is audited, and is the end of a data set; and so
// it is in a sample for which there is time.
func TestNotices(t *testing.T) {
	for _, level := range []string{Full, Sample} {
		for what, kind := range map[string]string{"scores of": "", "predictions of": "", "projection": "",
			"count of examples": "cells", "counts of regions": "cells", "class sums": "cells",
			"norms":          "cells",
			"update vectors": "cells", "weighted sums": "evaluations", "sum of losses": "evaluations",
			"count of refused": "evaluations"} {
			b := &broken{Driver: cpuref.Driver{}}
			e := audited(b, simd.NewDriver(), level)
			used, err := use(e, b, what, kind == "cells", kind == "evaluations")
			if !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), what) ||
				!strings.Contains(err.Error(), "found") || !strings.Contains(err.Error(), "wanted") {
				t.Errorf("%s, %s: found %v", level, what, err)
				continue
			}
			switch r := used.(type) {
			case *engine.Cells:
				err = enginetest.CheckFailed(r)
			case *engine.Scorer:
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
	for what, kind := range map[string]string{"class sums": "cells",
		"weighted sums": "evaluations", "sum of losses": "evaluations"} {
		b := &broken{Driver: cpuref.Driver{}}
		a := newDriver(b, simd.NewDriver(), false)
		a.rate = 1 // no time for more than one operation
		used, err := use(engine.New(a), b, what, kind == "cells", kind == "evaluations")
		if err != nil {
			t.Errorf("%s: %v before the end", what, err)
		}
		a.rate = 0
		if err := used.(io.Closer).Close(); !errors.Is(err, ErrDiffers) ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("%s: found %v", what, err)
		}
	}
	b := &broken{Driver: cpuref.Driver{}}
	a := newDriver(b, simd.NewDriver(), false)
	a.rate = 1
	if _, err := use(engine.New(a), b, "count of examples", true, false); !errors.Is(err, ErrDiffers) {
		t.Errorf("counts: found %v", err)
	}
}
