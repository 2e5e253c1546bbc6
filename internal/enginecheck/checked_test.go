package enginecheck_test

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
)

var errDevice = errors.New("the device is lost")

// broken is an engine whose assignments and evaluations fail.
type broken struct{ engine.Engine }

func (b broken) LoadCells(x dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (engine.Cells, error) {
	r, err := b.Engine.LoadCells(x, y, classes, f)
	return brokenCells{r}, err
}

type brokenCells struct{ engine.Cells }

func (brokenCells) Assign(float32) (engine.Assignment, error) {
	return engine.Assignment{},
		errDevice
}

func (b broken) LoadEvaluator(x dataset.Rows, classes int, f numerics.FixedPoint,
) (engine.Evaluator, error) {
	r, err := b.Engine.LoadEvaluator(x, classes, f)
	return brokenEvaluator{r}, err
}

type brokenEvaluator struct{ engine.Evaluator }

func (brokenEvaluator) Evaluate([]int64, engine.Weights) (engine.Evaluation, error) {
	return engine.Evaluation{}, errDevice
}

// TestFailed: a data set is of no more use after an operation failed, and refused arguments leave
// it as it was.
func TestFailed(t *testing.T) {
	for _, how := range []enginecheck.How{{}, {Turns: true}} {
		e := enginecheck.New(broken{cpuref.New()}, how)
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
	counts := &counting{Engine: cpuref.New()}
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
	engine.Engine
	engine, sets int
}

func (c *counting) Close() error {
	c.engine++
	return nil
}

func (c *counting) LoadCells(x dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (engine.Cells, error) {
	r, err := c.Engine.LoadCells(x, y, classes, f)
	return countingCells{r, c}, err
}

type countingCells struct {
	engine.Cells
	of *counting
}

func (c countingCells) Close() error {
	c.of.sets++
	return c.Cells.Close()
}
