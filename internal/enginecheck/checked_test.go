package enginecheck_test

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/enginetest"
)

var errDevice = errors.New("the device is lost")

// behind is a sound engine as one that computes for another.
type behind struct{ engine.Engine }

func (b behind) Load(x dataset.Examples, t enginecheck.Task) (engine.Scorer, error) {
	if t.Use == enginecheck.Sorting {
		return b.Engine.LoadCells(x, t.Labels, t.Classes, t.Format)
	}
	return b.Engine.LoadEvaluator(x, t.Classes, t.Format)
}

func (b behind) Plan(x dataset.Examples, t enginecheck.Task) (engine.Plan, error) {
	return b.Engine.Plan(x, t.Labels, t.Classes)
}

func (b behind) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	return b.Engine.Project(dst, x, p)
}

// broken is an engine whose assignments and evaluations fail.
type broken struct{ behind }

func (b broken) Load(x dataset.Examples, t enginecheck.Task) (engine.Scorer, error) {
	r, err := b.behind.Load(x, t)
	if t.Use == enginecheck.Sorting {
		return brokenCells{r.(engine.Cells)}, err
	}
	return brokenEvaluator{r.(engine.Evaluator)}, err
}

type brokenCells struct{ engine.Cells }

func (brokenCells) Assign(float32) (engine.Assignment, error) {
	return engine.Assignment{}, errDevice
}

type brokenEvaluator struct{ engine.Evaluator }

func (brokenEvaluator) Evaluate([]int64, engine.Weights) (engine.Evaluation, error) {
	return engine.Evaluation{}, errDevice
}

// TestFailed: a data set is of no more use after an operation failed, and refused arguments leave
// it as it was.
func TestFailed(t *testing.T) {
	for _, how := range []enginecheck.How{{}, {Turns: true}} {
		e := enginecheck.New(broken{behind{cpuref.New()}}, how)
		r, err := enginetest.Small(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Predict(nil); !errors.Is(err, engine.ErrShape) {
			t.Errorf("got %v, want %v", err, engine.ErrShape)
		}
		if _, err := r.Assign(0); !errors.Is(err, errDevice) ||
			err.Error() != "assign: the device is lost" {
			t.Errorf("got %v, want %v", err, errDevice)
		}
		if err := enginetest.CheckFailed(r); err != nil {
			t.Error(err)
		}
		v, err := enginetest.SmallEvaluator(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Evaluate(make([]int64, 4), engine.NewWeights(2, 2)); !errors.Is(err, errDevice) {
			t.Errorf("got %v, want %v", err, errDevice)
		}
		if err := enginetest.CheckFailed(v); err != nil {
			t.Error(err)
		}
	}
}

// TestCloses: the engine behind is closed once, and its data sets too, also after it.
func TestCloses(t *testing.T) {
	counts := &counting{behind: behind{cpuref.New()}}
	e := enginecheck.New(counts, enginecheck.How{})
	r, err := enginetest.Small(e)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(e.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if counts.engine != 1 || counts.sets != 1 {
		t.Errorf("got %d engines and %d data sets closed, want one each", counts.engine, counts.sets)
	}
}

// counting is an engine that counts what is closed.
type counting struct {
	behind
	engine, sets int
}

func (c *counting) Close() error {
	c.engine++
	return nil
}

func (c *counting) Load(x dataset.Examples, t enginecheck.Task) (engine.Scorer, error) {
	r, err := c.behind.Load(x, t)
	return countingCells{r.(engine.Cells), c}, err
}

type countingCells struct {
	engine.Cells
	of *counting
}

func (c countingCells) Close() error {
	c.of.sets++
	return c.Cells.Close()
}
