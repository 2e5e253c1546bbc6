//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// TestCloseUnderWay closes engines that still compute, on examples that a resident
// forgotten by its owner holds: nothing they read may be gone before they are done.
func TestCloseUnderWay(t *testing.T) {
	x := dataset.Examples{N: 4000, D: 300, X: make([]float32, 4000*300)}
	for k := range x.X {
		x.X[k] = float32(k % 7)
	}
	w := engine.NewWeights(20, x.D)
	eachDevice(t, func(i Info) {
		for range 5 {
			e := openTest(t, i, Options{}, build{})
			r, err := e.Load(x, w.Q)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Rescore(w, allClasses(w.Q)); err != nil { // which waits for nothing
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// forms are builds whose residents live in different ways.
var forms = []struct {
	name string
	o    Options
	b    build
}{
	{"as opened", Options{}, build{}},
	{"streamed", Options{MaxAlloc: 70000}, build{stream: true}},
}

// TestTogether uses engines from several goroutines, and closes them while it does.
func TestTogether(t *testing.T) {
	eachDevice(t, func(i Info) {
		for _, f := range forms {
			t.Run(i.ID()+"/"+f.name, func(t *testing.T) {
				enginetest.Run(t, openTest(t, i, f.o, f.b).Engine, enginetest.TogetherCases())
				enginetest.RunClose(t, func() *engine.Engine { return openTest(t, i, f.o, f.b).Engine })
			})
		}
	})
}

// TestEvaluationFailed has a device fail in the midst of evaluations.
func TestEvaluationFailed(t *testing.T) {
	kernels := map[string]func(e *deviceEngine) *compiled{
		"score":           func(e *deviceEngine) *compiled { return e.dense.score[width4] },
		"residuals":       func(e *deviceEngine) *compiled { return e.residuals },
		"weighted":        func(e *deviceEngine) *compiled { return e.dense.weighted[0] },
		"weighted sparse": func(e *deviceEngine) *compiled { return e.weightedSparse },
		"clear":           func(e *deviceEngine) *compiled { return e.clearSums },
		"add":             func(e *deviceEngine) *compiled { return e.addRanges },
	}
	v := drawEvaluation(700, 5, 3)
	eachDevice(t, func(i Info) {
		for k, name := range slices.Sorted(maps.Keys(kernels)) {
			b := forms[k%2].b
			b.style = "cpu"
			e := openTest(t, i, Options{}, b)
			x := v.x
			if name == "weighted sparse" {
				x = x.Compressed()
			}
			r, err := e.LoadEvaluator(x, v.q, numerics.FixedPoint{})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.SetTargets(v.targets[0]); err != nil {
				t.Fatal(err)
			}
			kernel := kernels[name](e.deviceEngine)
			kernel.args++
			sums := make([]int64, v.q*x.D)
			_, err = r.Evaluate(sums, v.w[0])
			if name == "weighted" {
				err = r.WeightedSums(sums, v.a[:v.q*x.N])
			}
			kernel.args--
			if err == nil {
				t.Fatalf("%s: nothing failed", name)
			}
			_, again := r.Evaluate(sums, v.w[0])
			for _, err := range []error{again, r.WeightedSums(sums, v.a[:v.q*x.N]),
				r.SetTargets(v.targets[0]), r.Rescore(v.w[0], []int{0}), r.Predict(make([]int32, x.N))} {
				if !errors.Is(err, engine.ErrFailed) {
					t.Errorf("%s: afterwards: %v, want %v", name, err, engine.ErrFailed)
				}
			}
			if err := r.Close(); err != nil || e.q.inUse != 0 {
				t.Errorf("%s: closed: %v, %d bytes are in use", name, err, e.q.inUse)
			}
			if _, err := v.ask(e.Engine, x,
				func(*engine.Evaluator) {}); err != nil { // the engine is as it was
				t.Errorf("%s: afterwards: %v", name, err)
			}
		}
	})
}

// TestFailed has a device fail in the midst of operations: a kernel wants other arguments
// than it gets.
func TestFailed(t *testing.T) {
	kernels := map[string]func(e *deviceEngine) *compiled{
		"rescore":        func(e *deviceEngine) *compiled { return e.dense.score[width4] },
		"predict":        func(e *deviceEngine) *compiled { return e.predict },
		"assign":         func(e *deviceEngine) *compiled { return e.assign },
		"class sums":     func(e *deviceEngine) *compiled { return e.dense.moveSums },
		"norms":          func(e *deviceEngine) *compiled { return e.norms },
		"update vectors": func(e *deviceEngine) *compiled { return e.updateVectors },
	}
	w, inv := engine.NewWeights(2, 2), []float32{1, 0, 0, 1}
	w.W[0] = 1
	steps := []func(r *engine.Cells) error{
		func(r *engine.Cells) error { return r.Rescore(w, []int{0, 1}) },
		func(r *engine.Cells) error { return r.Predict(make([]int32, 3)) },
		func(r *engine.Cells) error { return r.CountPredicted(make([]int64, 4), make([]int32, 3)) },
		func(r *engine.Cells) error { return r.Scores(make([]float32, 6), 0, 3) },
		func(r *engine.Cells) error { _, err := r.Assign(0); return err },
		func(r *engine.Cells) error { return r.Norms(make([]float32, 4), inv) },
		func(r *engine.Cells) error {
			return r.UpdateVectors(make([]float32, 2), []engine.Pair{{P: 0, Q: 1}}, inv)
		},
	}
	eachDevice(t, func(i Info) {
		for k, name := range slices.Sorted(maps.Keys(kernels)) {
			f := forms[k%2] // as opened, or streamed
			e := openTest(t, i, f.o, f.b)
			r, err := enginetest.Small(e.Engine)
			if err != nil {
				t.Fatal(err)
			}
			kernel := kernels[name](e.deviceEngine)
			kernel.args++
			for _, step := range steps {
				if err = step(r); err != nil {
					break
				}
			}
			kernel.args--
			if err == nil {
				t.Fatalf("%s: nothing failed", name)
			}
			if err := enginetest.CheckFailed(r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, c := range enginetest.TinyCases()[:2] { // the engine is as it was
				if err := c.Check(e.Engine); err != nil {
					t.Errorf("%s: afterwards: %v", name, err)
				}
			}
		}
	})
}
