package pca

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

var rbf = kernel.Function{Kind: kernel.RBF, Gamma: 0.7}

func fit(t *testing.T, e *engine.Engine, x dataset.Examples, o Options) *Basis {
	t.Helper()
	b, err := Fit(context.Background(), e, x, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A refit has the same bits, with any number of processors, on another engine and from the
// other form of the examples; another seed has others. x is left as it was.
func TestSameBits(t *testing.T) {
	small, _ := generated(60, 7, 1)
	large, _ := generated(panelSize+40, 7, 1)
	for name, c := range map[string]struct {
		x dataset.Examples
		o Options
	}{
		"small":     {small, Options{Function: rbf, Components: 5}},
		"landmarks": {small, Options{Function: rbf, Components: 5, Landmarks: 30, Seed: 3}},
		"many":      {large, Options{Function: rbf, Components: 5, Landmarks: panelSize + 20, Seed: 3}},
	} {
		before := slices.Clone(c.x.X)
		want := fit(t, simd.New(), c.x, c.o)
		if !slices.Equal(before, c.x.X) {
			t.Errorf("%s: the examples were changed", name)
		}
		for _, e := range []*engine.Engine{simd.New(), cpuref.New()} {
			for _, processors := range []int{1, 2, 5} {
				old := runtime.GOMAXPROCS(processors)
				got := fit(t, e, c.x, c.o)
				runtime.GOMAXPROCS(old)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: another basis on %s with %d processors", name, e.Device().ID, processors)
				}
				if e.Device().ID == cpuref.New().Device().ID {
					break // slow
				}
			}
		}
		got := fit(t, simd.New(), c.x.Compressed(), c.o)
		if got.Landmarks = got.Landmarks.Dense(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another basis from sparse examples", name)
		}
		if len(want.Rows) < c.x.N {
			c.o.Seed++
			if reflect.DeepEqual(fit(t, simd.New(), c.x, c.o), want) {
				t.Errorf("%s: the seed changes nothing", name)
			}
		}
	}
}

// repeated returns the examples of x over and over, n in all.
func repeated(x dataset.Examples, n int) dataset.Examples {
	which := make([]int, n)
	for i := range which {
		which[i] = i % x.N
	}
	return x.Pick(which)
}

func TestDropped(t *testing.T) {
	five, _ := generated(5, 4, 1)
	for _, n := range []int{50, panelSize + 30} {
		x := repeated(five, n)
		b := fit(t, simd.New(), x, Options{Function: rbf, Components: 10})
		if b.Axes.Q != 4 || b.DroppedAxes != 6 || b.Explained < 0.99999 {
			t.Errorf("five examples repeated: %d axes, %d dropped, %v of the variance explained, want 4, 6 "+
				"and 1", b.Axes.Q, b.DroppedAxes, b.Explained)
		}
		if notes := strings.Join(b.Notes(), "\n"); !strings.Contains(notes, "6 of 10 axes were dropped") {
			t.Errorf("notes: %q", notes)
		}
		b = fit(t, simd.New(), x, Options{Function: rbf, Components: 3, Landmarks: 20})
		if len(b.Rows) > 5 || b.DroppedLandmarks != 20-len(b.Rows) || b.Landmarks.N != len(b.Rows) ||
			b.Axes.D != len(b.Rows) {
			t.Errorf("landmarks from five examples: %v kept, %d dropped", b.Rows, b.DroppedLandmarks)
		}
		if notes := strings.Join(b.Notes(), "\n"); !strings.Contains(notes, "landmarks were dropped") {
			t.Errorf("notes: %q", notes)
		}
	}
}

func TestBytes(t *testing.T) {
	o := Options{Function: rbf, Components: 640}
	needed, err := Bytes(dataset.Examples{N: 3823, D: 65}, o)
	if values := int64(4 * 3823 * 3823); err != nil || needed < values || needed > 18*values {
		t.Errorf("%d, %v", needed, err)
	}
	if needed, err := Bytes(dataset.Examples{N: math.MaxInt32, D: 1000}, o); err != nil ||
		needed < 1<<54 {
		t.Errorf("for too many: %d, %v", needed, err)
	}
}

func TestMedianGamma(t *testing.T) {
	for _, n := range []int{2, 31, medianRows + 200} {
		x, _ := generated(n, 5, 1)
		got, err := MedianGamma(simd.New(), x, 1)
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for i := range n {
			for j := range i {
				sum := 0.0
				for h, v := range x.Row(i) {
					sum += math.Pow(float64(v)-float64(x.Row(j)[h]), 2)
				}
				all = append(all, sum)
			}
		}
		slices.Sort(all)
		want, off := 1/all[len(all)/2], 1e-5
		if n > medianRows {
			off = 0.05 // a sample
		}
		if math.Abs(float64(got)/want-1) > off {
			t.Errorf("n = %d: gamma %v, want %v", n, got, want)
		}
		if again, _ := MedianGamma(cpuref.New(), x.Compressed(), 1); again != got {
			t.Errorf("n = %d: gamma %v, then %v", n, got, again)
		}
	}
	x, _ := generated(2, 5, 1)
	want, _ := MedianGamma(simd.New(), x, 1)
	most := x.Pick([]int{0, 0, 0, 0, 0, 0, 1})
	if got, err := MedianGamma(simd.New(), most, 1); got != want || err != nil {
		t.Errorf("most examples equal: gamma %v (%v), want %v of the others", got, err, want)
	}
	if _, err := MedianGamma(simd.New(), repeated(x.Pick([]int{0}), 9), 1); !errors.Is(err,
		ErrConstant) {
		t.Errorf("equal examples: %v", err)
	}
	if _, err := MedianGamma(simd.New(), x.Pick([]int{0}), 1); !errors.Is(err, ErrOptions) {
		t.Errorf("one example: %v", err)
	}
}

// Hundreds of landmarks in the plane under a wide kernel function nearly depend on each
// other; the axes of landmarks that stay are the exact ones nevertheless.
func TestNearlyDependentLandmarks(t *testing.T) {
	x, _ := generated(700, 2, 1)
	for _, gamma := range []float32{0.03, 0.3, 3} {
		o := Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: gamma}, Components: 6}
		exact := fit(t, simd.New(), x, o)
		o.Landmarks = 700
		b := fit(t, simd.New(), x, o)
		if b.DroppedLandmarks < 300 {
			t.Errorf("gamma %v: %d landmarks dropped, want most", gamma, b.DroppedLandmarks)
		}
		if math.Abs(b.Variance/exact.Variance-1) > 1e-5 {
			t.Errorf("gamma %v: variance %v, exact %v", gamma, b.Variance, exact.Variance)
		}
		for i, want := range exact.Eigenvalues {
			if got := b.Eigenvalues[i]; math.Abs(got-want) > 1e-4*exact.Eigenvalues[0] {
				t.Errorf("gamma %v: eigenvalue %d is %v, exact %v", gamma, i, got, want)
			}
		}
	}
}
