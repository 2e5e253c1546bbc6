package simd_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// wander takes small steps with two classes each, and calls judge after every
// assignment.
func wander(t *testing.T, r engine.Cells, steps int, judge func(step int, a engine.Assignment)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 2))
	_, d, q := r.Shape()
	w := engine.NewWeights(q, d)
	for step := range steps {
		changed, size := []int{step % q, (step + 1) % q}, 0.02
		if step == 0 {
			changed, size = changed[:0], 1
			for c := range q {
				changed = append(changed, c)
			}
		}
		for _, c := range changed {
			for j := range w.Row(c) {
				w.Row(c)[j] += float32(size * rng.NormFloat64())
			}
		}
		if err := r.Rescore(w, changed); err != nil {
			t.Fatal(err)
		}
		a, err := r.Assign(0.1)
		if err != nil {
			t.Fatal(err)
		}
		judge(step, a)
	}
}

// What the conformance suite is too small for: lists so long that workers share them
// out, and groups that they sum.
func TestBoundsOfManyExamples(t *testing.T) {
	const n, d, q, steps = 9001, 67, 5, 12
	x, y, _ := problem(rand.New(rand.NewPCG(1, 9)), n, d, q)
	load := func(e engine.Engine) engine.Cells {
		r, err := e.LoadCells(x, y, q, numerics.FixedPoint{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	sums := func(r engine.Cells) []int64 {
		all := make([]int64, q*q*d)
		for p := range q {
			if err := r.ClassSums(all[p*q*d:(p+1)*q*d], p); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	var want []engine.Assignment
	var wantSums [][]int64
	wanted := load(cpuref.New())
	wander(t, wanted, steps, func(_ int, a engine.Assignment) {
		want, wantSums = append(want, a), append(wantSums, sums(wanted))
	})
	for _, l := range simd.Levels() {
		e := simd.AtOnce(l)
		r := load(e)
		wander(t, r, steps, func(step int, a engine.Assignment) {
			if !reflect.DeepEqual(a, want[step]) || !reflect.DeepEqual(sums(r), wantSums[step]) {
				t.Fatalf("%s, step %d: assignment %+v, want %+v, and the same class sums", l, step, a,
					want[step])
			}
		})
		if got := e.(engine.Counting).Work().Rescored; got <= n || got > steps*n*3/4 {
			t.Errorf("%s: %d examples rescored in %d steps of %d, wanted some to be spared", l, got, steps,
				n)
		}
	}
}

// Bounds begin when they pay, and not at all where they are not wanted.
func TestBoundsBegin(t *testing.T) {
	const n, d, q, steps = 8192, 128, 3, 14
	x, y, _ := problem(rand.New(rand.NewPCG(1, 9)), n, d, q)
	for _, c := range []struct {
		name   string
		e      engine.Engine
		spares bool
	}{{"bounds", simd.New(), true}, {"no bounds", simd.NewUnbounded(), false}} {
		r, err := c.e.LoadCells(x, y, q, numerics.FixedPoint{})
		if err != nil {
			t.Fatal(err)
		}
		before, work := int64(0), c.e.(engine.Counting)
		wander(t, r, steps, func(step int, _ engine.Assignment) {
			spared := work.Work().Rescored-before < n
			if want := c.spares && step > 8; spared != want {
				t.Errorf("%s, step %d: examples spared %v, want %v", c.name, step, spared, want)
			}
			before = work.Work().Rescored
		})
		if got := work.Work(); got.ExampleBytes < 9*4*n*d || got.Launches != 0 {
			t.Errorf("%s: %+v, wanted the bytes of 9 readings at least and no launch", c.name, got)
		}
	}
}
