package simd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// drawTargets draws targets of every kind for n examples.
func drawTargets(rng *rand.Rand, n, q int) []engine.Targets {
	logs, given, soft := make([]float32, 3*q), make([]float32, q*q), make([]float32, n*q)
	for k := range logs {
		if logs[k] = float32(-rng.ExpFloat64()); k%q != 0 && rng.IntN(4) == 0 {
			logs[k] = float32(math.Inf(-1))
		}
	}
	for k := range given {
		given[k] = rng.Float32()*3 - 1
	}
	for k := range soft {
		soft[k] = rng.Float32()
	}
	row3, rowQ, weight, light := make([]int32, n), make([]int32, n), make([]float32, n),
		make([]float32, n)
	for i := range row3 {
		row3[i], rowQ[i] = int32(rng.IntN(3)), int32(rng.IntN(q))
		weight[i], light[i] = rng.Float32(), rng.Float32()/3
	}
	return []engine.Targets{
		{Values: logs, Row: row3}, {Values: logs, Row: row3, Weight: weight},
		{Values: given, Given: true, Row: rowQ, Weight: light}, {Values: soft, Given: true},
	}
}

// What the conformance suite is too small for: enough examples that tasks are shared out to
// all processors.
func TestEvaluationsOfManyExamples(t *testing.T) {
	for _, s := range []struct{ n, d, q int }{{3005, 67, 11}, {3000, 3, 17}, {300, 1100, 3}, {300, 17,
		47}, {77, 5, 1}} {
		rng := rand.New(rand.NewPCG(1, uint64(s.n)))
		x, _, _ := problem(rng, s.n, s.d, s.q)
		want, err := cpuref.New().LoadEvaluator(x, s.q, numerics.FixedPoint{})
		if err != nil {
			t.Fatal(err)
		}
		var tested []*engine.Evaluator
		for _, l := range simd.Levels() {
			for _, form := range []dataset.Examples{x, x.Compressed()} {
				v, err := atLevel(t, l).LoadEvaluator(form, s.q, numerics.FixedPoint{})
				if err != nil {
					t.Fatal(err)
				}
				tested = append(tested, v)
			}
		}
		for step, target := range drawTargets(rng, s.n, s.q) {
			w := engine.NewWeights(s.q, s.d)
			for j := range w.W {
				w.W[j] = float32(rng.NormFloat64()) * []float32{0.1, 1, 1e3, 0}[step]
			}
			a := make([]float32, s.n*(1+step*6))
			for k := range a {
				a[k] = 2*rng.Float32() - 1
			}
			wanted := evaluated(t, want, target, w, a)
			for i, v := range tested {
				got := evaluated(t, v, target, w, a)
				for what := range wanted {
					if !reflect.DeepEqual(got[what], wanted[what]) {
						t.Fatalf("%v, targets %d, evaluator %d (dense, sparse for each of %v): %s differ",
							s, step, i, simd.Levels(), what)
					}
				}
			}
		}
	}
}

// evaluated returns all that an evaluator says.
func evaluated(t *testing.T, v *engine.Evaluator, target engine.Targets, w engine.Weights,
	a []float32) map[string]any {
	t.Helper()
	n, d, q := v.Shape()
	sums, scores, weighted := make([]int64, q*d), make([]float32, n*q), make([]int64, len(a)/n*d)
	sums[0], weighted[0] = 7, 7 // to be written, not added to
	if err := v.SetTargets(target); err != nil {
		t.Fatal(err)
	}
	e, err := v.Evaluate(sums, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Scores(scores, 0, n); err != nil {
		t.Fatal(err)
	}
	if err := v.WeightedSums(weighted, a); err != nil {
		t.Fatal(err)
	}
	return map[string]any{"sums": sums, "evaluations": e, "scores": scores, "weighted sums": weighted}
}

// The sums are many: more than a cache holds.
func TestWeightedSumsOfManyRows(t *testing.T) {
	const n, d, count = 300, 1100, 500
	rng := rand.New(rand.NewPCG(1, 9))
	x, _, _ := problem(rng, n, d, 2)
	a := make([]float32, n*count)
	for k := range a {
		a[k] = 2*rng.Float32() - 1
	}
	sums := func(e *engine.Engine) []int64 {
		v, err := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
		if err != nil {
			t.Fatal(err)
		}
		s := make([]int64, count*d)
		s[1] = 7
		if err := v.WeightedSums(s, a); err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := sums(cpuref.New())
	for _, l := range simd.Levels() {
		if got := sums(atLevel(t, l)); !reflect.DeepEqual(got, want) {
			t.Errorf("level %s: sums differ", l)
		}
	}
}

func TestSmallEvaluationAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	x, _, _ := problem(rng, 300, 65, 10)
	for _, l := range simd.Levels() {
		for _, form := range []dataset.Examples{x, x.Compressed()} {
			t.Run(fmt.Sprint(l, form.Sparse()), func(t *testing.T) {
				v, err := atLevel(t, l).LoadEvaluator(form, 10, numerics.FixedPoint{})
				if err != nil {
					t.Fatal(err)
				}
				if err := v.SetTargets(drawTargets(rng, 300, 10)[0]); err != nil {
					t.Fatal(err)
				}
				w, sums := engine.NewWeights(10, 65), make([]int64, 650)
				got := testing.AllocsPerRun(50, func() {
					if _, err := v.Evaluate(sums, w); err != nil {
						t.Fatal(err)
					}
				})
				if got > 5 {
					t.Errorf("%v allocations in an evaluation, want 5 at most", got)
				}
			})
		}
	}
}
