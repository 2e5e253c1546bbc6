package means_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

// spots draws n points of the plane in 16 spots, four by four, whose classes alternate as on a
// chessboard: figure 1 of the paper.
func spots(n int, seed uint64) (x dataset.Examples, y []int32) {
	rng := rand.New(rand.NewPCG(seed, 16))
	x = dataset.Examples{N: n, D: 2}
	for i := range n {
		row, column := i%4, i/4%4
		x.X = append(x.X, float32(float64(row)+rng.NormFloat64()/30),
			float32(float64(column)+rng.NormFloat64()/30))
		y = append(y, int32((row+column)%2))
	}
	return x, y
}

var narrow = kernel.Function{Kind: kernel.RBF, Gamma: 4}

func fit(t *testing.T, e *engine.Engine, x dataset.Examples, y []int32,
	o means.Options) *means.Means {
	t.Helper()
	m, err := means.Fit(t.Context(), e, x, y, 2, o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return m
}

// squared returns ‖ω_k - ω̂_k‖² in float64, from kernel values of all pairs.
func squared(x dataset.Examples, y []int32, m *means.Means, k int) float64 {
	type weighted struct {
		row    []float32
		weight float64
	}
	var all []weighted
	size := 0.0
	for _, v := range y {
		if int(v) == k {
			size++
		}
	}
	for i := range x.N {
		if int(y[i]) == k {
			all = append(all, weighted{x.Row(i), 1 / size})
		}
	}
	for l := range m.Landmarks.N {
		all = append(all, weighted{m.Landmarks.Row(l), -float64(m.Axes.Row(k)[l])})
	}
	sum := 0.0
	for _, a := range all {
		for _, b := range all {
			d := 0.0
			for j, v := range a.row {
				d += (float64(v) - float64(b.row[j])) * (float64(v) - float64(b.row[j]))
			}
			sum += a.weight * b.weight * math.Exp(-float64(m.Function.Gamma)*d)
		}
	}
	return sum
}

// TestError compares the reported errors with a twin that has all pairs, for each way to choose and
// to weight atoms: equal on two engines and in both forms of the examples, below the bound, and
// smallest with the optimal weights.
func TestError(t *testing.T) {
	x, y := spots(480, 1)
	for _, choice := range []string{means.Uniform, means.Clusters, means.Herding} {
		var far [2]float64
		for w, weights := range []string{means.Optimal, means.Own} {
			o := means.Options{Function: narrow, Atoms: 24, Choice: choice, Weights: weights, Seed: 7}
			m := fit(t, simd.New(), x, y, o)
			for _, again := range []*means.Means{
				fit(t, cpuref.New(), x, y, o), fit(t, simd.New(), x.Compressed(), y, o),
			} {
				if !slices.Equal(again.Axes.W, m.Axes.W) || !slices.Equal(again.Rows, m.Rows) ||
					!slices.Equal(again.Error, m.Error) {
					t.Errorf("%s, %s: other weights on another engine or of sparse examples", choice, weights)
				}
			}
			if m.Landmarks.N > 24 || m.Landmarks.N+m.Dropped < 20 {
				t.Errorf("%s, %s: %d atoms, %d dropped", choice, weights, m.Landmarks.N, m.Dropped)
			}
			for k, got := range m.Error {
				none := *m
				none.Axes = engine.NewWeights(2, m.Landmarks.N)
				if want := math.Sqrt(squared(x, y, &none, k)); math.Abs(m.Length[k]-want) > 1e-3 {
					t.Errorf("%s, %s: class %d is %v long, %v by the twin", choice, weights, k, m.Length[k], want)
				}
				if want := math.Sqrt(squared(x, y, m, k)); math.Abs(got-want) > 0.02*want+1e-3 {
					t.Errorf("%s, %s: error of class %d is %v, %v by the twin", choice, weights, k, got, want)
				}
				if m.Bound != nil && got > m.Bound[k] {
					t.Errorf("%s, %s: error of class %d is %v, the bound %v", choice, weights, k, got, m.Bound[k])
				}
				far[w] += got
			}
			if text := strings.Join(m.Notes(), "; "); !strings.Contains(text, "means of 2 classes by ") {
				t.Errorf("notes %q", text)
			}
		}
		if far[0] > far[1] {
			t.Errorf("%s: optimal weights are %v off, those of the choice %v", choice, far[0], far[1])
		}
	}
}

// TestSixteenSpots: sixteen atoms of clusters tell all points of the sixteen spots apart, and are
// four times as near to the means as sixteen drawn at random, which miss spots (figure 2 of the
// paper).
func TestSixteenSpots(t *testing.T) {
	x, y := spots(480, 1)
	e := simd.New()
	off := map[string]float64{}
	for _, choice := range []string{means.Uniform, means.Clusters} {
		m := fit(t, e, x, y, means.Options{Function: narrow, Atoms: 16, Choice: choice,
			Weights: means.Own, Seed: 3})
		numbers := make([]float32, 2*x.N)
		if err := e.Project(numbers, x, m.Projection); err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, k := range y {
			if numbers[2*i+int(k)] <= numbers[2*i+1-int(k)] {
				wrong++
			}
		}
		if (wrong == 0) != (choice == means.Clusters) {
			t.Errorf("%s: %d of %d points are wrong", choice, wrong, x.N)
		}
		off[choice] = slices.Max(m.Error)
	}
	if 4*off[means.Clusters] > off[means.Uniform] {
		t.Errorf("errors %v", off)
	}
}

// TestWithin asks for means that are so near: they are, by the twin, also by the bound where there
// is one, and nearer ones take more atoms. Where chance alone is to be bounded, all examples are
// taken.
func TestWithin(t *testing.T) {
	x, y := spots(480, 1)
	for _, choice := range []string{means.Uniform, means.Clusters, means.Herding} {
		for _, weights := range []string{means.Own, means.Optimal} {
			last := 0
			for _, within := range []float64{0.3, 0.1, 0.03} {
				m := fit(t, simd.New(), x, y, means.Options{Function: narrow, Within: within, Choice: choice,
					Weights: weights, Seed: 7})
				for k, got := range m.Error {
					if want := math.Sqrt(max(0, squared(x, y, m, k))); got > within || want > 1.02*within {
						t.Errorf("%s, %s: error of class %d is %v, %v by the twin, wanted %v", choice, weights, k,
							got, want, within)
					}
					if m.Bound != nil && choice != means.Herding && m.Bound[k] > within {
						t.Errorf("%s, %s: bound %v, wanted %v", choice, weights, m.Bound, within)
					}
				}
				if n := m.Landmarks.N; n < last || n < 2 {
					t.Errorf("%s, %s: %d atoms are within %v, %d within more", choice, weights, n, within, last)
				}
				last = m.Landmarks.N
			}
			if choice == means.Uniform && weights == means.Own && last != x.N {
				t.Errorf("%d of %d atoms, though chance is to be bounded by little", last, x.N)
			}
		}
	}
	// One atom fewer of a herd is farther.
	o := means.Options{Function: narrow, Within: 0.05, Choice: means.Herding, Weights: means.Own}
	m := fit(t, simd.New(), x, make([]int32, x.N), o)
	o.Within, o.Atoms = 0, m.Landmarks.N-1
	if fewer := fit(t, simd.New(), x, make([]int32, x.N), o); fewer.Error[0] <= 0.05 ||
		m.Error[0] > 0.05 {
		t.Errorf("%d atoms are %v off, one fewer %v", m.Landmarks.N, m.Error, fewer.Error)
	}
}

// TestBoundHolds draws atoms 200 times: 95 of 100 bounds hold, at least.
func TestBoundHolds(t *testing.T) {
	x, y := spots(96, 2)
	for _, choice := range []string{means.Uniform, means.Clusters} {
		held := 0
		for seed := range uint64(200) {
			m := fit(t, simd.New(), x, y, means.Options{Function: narrow, Atoms: 12, Choice: choice,
				Weights: means.Own, Seed: seed})
			if m.Error[0] <= m.Bound[0] && m.Error[1] <= m.Bound[1] {
				held++
			}
		}
		if held < 190 {
			t.Errorf("%s: the bound holds in %d of 200 draws", choice, held)
		}
	}
}

// Duplicates alone leave one atom of each class, and exact means.
func TestDuplicates(t *testing.T) {
	x := dataset.Examples{N: 40, D: 1, X: make([]float32, 40)}
	y := make([]int32, 40)
	for i := range 20 {
		x.X[i], y[i] = 1, 1
	}
	for _, choice := range []string{means.Uniform, means.Clusters, means.Herding} {
		m := fit(t, simd.New(), x, y, means.Options{Function: narrow, Atoms: 10, Choice: choice})
		if m.Landmarks.N != 2 || slices.Max(m.Error) > 1e-3 {
			t.Errorf("%s: %d atoms, errors %v", choice, m.Landmarks.N, m.Error)
		}
	}
}

func TestFitErrors(t *testing.T) {
	x, y := spots(40, 1)
	huge := x.Pick([]int{0, 1, 2, 3})
	for i := range huge.X {
		huge.X[i] = 1e30
	}
	for _, c := range []struct {
		what string
		x    dataset.Examples
		y    []int32
		o    means.Options
		want error
	}{
		{"too many atoms", x, y, means.Options{Atoms: 41}, means.ErrOptions},
		{"one atom of two classes", x, y, means.Options{Atoms: 1}, means.ErrOptions},
		{"an unknown choice", x, y, means.Options{Choice: "best"}, means.ErrOptions},
		{"unknown weights", x, y, means.Options{Weights: "best"}, means.ErrOptions},
		{"a number of atoms below 0", x, y, means.Options{Atoms: -1}, means.ErrOptions},
		{"a number of atoms and an error", x, y, means.Options{Atoms: 4, Within: 0.1}, means.ErrOptions},
		{"an error below 0", x, y, means.Options{Within: -0.1}, means.ErrOptions},
		{"an error that is no number", x, y, means.Options{Within: math.NaN()}, means.ErrOptions},
		{"too few labels", x, y[1:], means.Options{Atoms: 4}, engine.ErrShape},
	} {
		c.o.Function = narrow
		if _, err := means.Fit(t.Context(), simd.New(), c.x, c.y, 2, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, wanted %v", c.what, err, c.want)
		}
	}
	o := means.Options{Function: kernel.Function{Kind: kernel.Poly, Gamma: 1, Degree: 3}, Atoms: 4}
	if _, err := means.Fit(t.Context(), simd.New(), huge, y[:4], 2, o); err == nil {
		t.Error("kernel values that overflow are taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o = means.Options{Function: narrow, Atoms: 4}
	if _, err := means.Fit(ctx, simd.New(), x, y, 2, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
