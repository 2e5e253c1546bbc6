package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

var errDevice = errors.New("the device is lost")

// faulty is a driver whose assignments and evaluations fail. It counts what is closed.
type faulty struct {
	engine.Driver
	serial       bool
	driver, sets int
}

func (f *faulty) Serial() bool { return f.serial }

func (f *faulty) Close() error {
	f.driver++
	return f.Driver.Close()
}

func (f *faulty) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	r, err := f.Driver.Load(x, t)
	if t.Use == engine.UseCells {
		return faultyCells{r.(engine.LoadedCells), f}, err
	}
	return faultyEvaluator{r.(engine.LoadedEvaluator)}, err
}

type faultyCells struct {
	engine.LoadedCells
	of *faulty
}

func (faultyCells) Assign(float32) (engine.Assignment, error) {
	return engine.Assignment{}, errDevice
}

func (c faultyCells) Close() error {
	c.of.sets++
	return c.LoadedCells.Close()
}

type faultyEvaluator struct{ engine.LoadedEvaluator }

func (faultyEvaluator) Evaluate([]int64, engine.Weights) (engine.Evaluation, error) {
	return engine.Evaluation{}, errDevice
}

// TestFailed: a data set is unusable after an operation failed; refused arguments leave it as it
// was.
func TestFailed(t *testing.T) {
	for _, serial := range []bool{false, true} {
		e := engine.New(&faulty{Driver: cpuref.Driver{}, serial: serial})
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

// TestCloses: a driver is closed once, and its data sets too, also after it.
func TestCloses(t *testing.T) {
	d := &faulty{Driver: cpuref.Driver{}}
	e := engine.New(d)
	r, err := enginetest.Small(e)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(e.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	x := dataset.Examples{N: 1, D: 1, X: []float32{1}}
	for name, err := range loads(e, x, []int32{0}, 2, numerics.FixedPoint{}, false) {
		wants(t, name, err, engine.ErrClosed)
	}
	wants(t, "project", e.Project(make([]float32, 1), x, engine.Projection{
		Function: kernel.Function{Kind: kernel.Linear}, Landmarks: x}), engine.ErrClosed)
	if d.driver != 1 || d.sets != 1 {
		t.Errorf("got %d drivers and %d data sets closed, want one each", d.driver, d.sets)
	}
}

// TestCountPredicted: predictions are counted by labels, and anew each time.
func TestCountPredicted(t *testing.T) {
	r, err := enginetest.Small(cpuref.New())
	if err != nil {
		t.Fatal(err)
	}
	w := engine.Weights{Q: 2, D: 2, W: []float32{1, 0, -1, 1}} // scores 1, 3, 5 against 1, 1, 1
	if err := r.Rescore(w, []int{0, 1}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		y    []int32
		want []int64
	}{{[]int32{0, 1, 1}, []int64{1, 2, 0, 0}}, {[]int32{1, 1, 1}, []int64{0, 3, 0, 0}}} {
		got := []int64{9, 9, 9, 9}
		if err := r.CountPredicted(got, c.y); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("labels %v: got %v, %v, want %v", c.y, got, err, c.want)
		}
	}
}
