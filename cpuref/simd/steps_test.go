package simd_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// problem draws n examples, half of whose values are 0, with labels and an
// inverse confusion matrix.
func problem(rng *rand.Rand, n, d, q int) (x dataset.Examples, y []int32, inv []float32) {
	x = dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for i := range x.X {
		if rng.IntN(2) == 0 {
			x.X[i] = float32(rng.NormFloat64())
		}
	}
	y = make([]int32, n)
	for i := range y {
		y[i] = int32(rng.IntN(q))
	}
	inv = make([]float32, q*q)
	for i := range inv {
		inv[i] = float32(rng.NormFloat64())
	}
	return x, y, inv
}

// What the conformance suite is too small for: enough examples that tasks are
// shared out to all processors, and steps that move some of them.
func TestStepsOfManyExamples(t *testing.T) {
	const n, d, q = 9001, 67, 11
	rng := rand.New(rand.NewPCG(1, 9))
	x, y, inv := problem(rng, n, d, q)
	w := engine.NewWeights(q, d)
	wanted, err := cpuref.New().LoadCells(x, y, q, numerics.FixedPoint{})
	if err != nil {
		t.Fatal(err)
	}
	var tested []*engine.Cells
	for _, l := range simd.Levels() {
		for _, form := range []dataset.Examples{x, x.Compressed()} {
			r, err := atLevel(t, l).LoadCells(form, y, q, numerics.FixedPoint{})
			if err != nil {
				t.Fatal(err)
			}
			tested = append(tested, r)
		}
	}
	classes := []int{7, 0, 3, 10, 1, 2, 5, 4, 9, 8, 6}
	for step := range 4 {
		for _, c := range classes {
			for j := range w.Row(c) {
				w.Row(c)[j] += float32(rng.NormFloat64())
			}
		}
		want := outcome(t, wanted, w, classes, inv)
		for i, r := range tested {
			got := outcome(t, r, w, classes, inv)
			for what := range want {
				if !reflect.DeepEqual(got[what], want[what]) {
					t.Fatalf("step %d, resident %d (dense, sparse for each of %v): %s differ", step, i,
						simd.Levels(), what)
				}
			}
		}
		classes = classes[:2+step%2]
	}
}

// outcome takes a step and returns all that an engine can say after it.
func outcome(t *testing.T, r *engine.Cells, w engine.Weights, classes []int,
	inv []float32) map[string]any {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	n, d, q := r.Shape()
	scores, predictions := make([]float32, n*q), make([]int32, n)
	sums, norms, z := make([]int64, q*q*d), make([]float32, q*q), make([]float32, 2*d)
	must(r.Rescore(w, classes))
	must(r.Scores(scores, 0, n))
	must(r.Predict(predictions))
	a, err := r.Assign(0.25)
	must(err)
	for p := range q {
		must(r.ClassSums(sums[p*q*d:(p+1)*q*d], p))
	}
	must(r.Norms(norms, inv))
	must(r.UpdateVectors(z, []engine.Pair{{P: 3, Q: 1}, {P: 2, Q: 0}}, inv))
	return map[string]any{"scores": scores, "predictions": predictions, "assignments": a,
		"class sums": sums, "norms": norms, "update vectors": z}
}

// A step on small data wakes no goroutine and takes no memory, but for the two
// tables of an assignment, which belong to the caller, and the list of the
// classes that CheckRescore has seen.
func TestSmallStepAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	x, y, inv := problem(rng, 300, 65, 10)
	for _, l := range simd.Levels() {
		for _, form := range []dataset.Examples{x, x.Compressed()} {
			r, err := atLevel(t, l).LoadCells(form, y, 10, numerics.FixedPoint{})
			if err != nil {
				t.Fatal(err)
			}
			w, norms, z := engine.NewWeights(10, 65), make([]float32, 100), make([]float32, 65)
			pairs, predictions := []engine.Pair{{P: 1, Q: 2}}, make([]int32, 300)
			step := func() {
				w.W[rng.IntN(len(w.W))]++
				_, err := r.Assign(0)
				for _, err := range []error{
					err, r.Rescore(w, []int{3, 1}), r.Norms(norms, inv), r.UpdateVectors(z, pairs, inv),
					r.Predict(predictions),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 50 {
				step()
			}
			if got := testing.AllocsPerRun(50, step); got > 3 {
				t.Errorf("%s, sparse %v: %v allocations in a step, want 3 at most", l, form.Sparse(), got)
			}
		}
	}
}

func TestLevels(t *testing.T) {
	levels := simd.Levels()
	if len(levels) == 0 || levels[0] != simd.Go {
		t.Fatalf("levels %v, want Go first", levels)
	}
	best := atLevel(t, levels[len(levels)-1]).Device()
	if got := simd.New().Device(); got != best || got.Kind != "cpu" || got.ID != "cpu" {
		t.Errorf("New gives %+v, the last level %+v", got, best)
	}
	var names []string
	for _, l := range levels {
		names = append(names, atLevel(t, l).Device().Name)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(levels) {
		t.Errorf("the names of the levels %v are %v, want them to differ", levels, names)
	}
	if e, err := simd.NewLevel("SSE"); err == nil || e != nil {
		t.Errorf("level SSE gives %v, %v", e, err)
	}
}
