package means_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/means"
)

// TestCompress: the error reported is that of a twin in float64 with all pairs, no neighbour of
// the weights is nearer, numbers differ by no more than it, and more atoms never lose.
func TestCompress(t *testing.T) {
	x, y := spots(160, 1)
	p, err := means.Exact(x, y, 2, narrow)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range p.Axes.W { // weights of either sign
		p.Axes.W[i] += float32(0.01 * rng.NormFloat64())
	}
	p.Offset = []float32{0.25, -1}
	kappa := func(a, b []float32) float64 {
		d := 0.0
		for j, v := range a {
			d += (float64(v) - float64(b[j])) * (float64(v) - float64(b[j]))
		}
		return math.Exp(-float64(narrow.Gamma) * d)
	}
	squaredError := func(c *means.Compressed, k int, weights []float32) float64 {
		all := append([]float32(nil), p.Axes.Row(k)...)
		for t, row := range c.Rows {
			all[row] -= weights[t]
		}
		sum := 0.0
		for i, a := range all {
			for j, b := range all {
				sum += float64(a) * float64(b) * kappa(x.Row(i), x.Row(j))
			}
		}
		return sum
	}
	last := math.Inf(1)
	for _, atoms := range []int{1, 4, 16, 40, 160} {
		c, err := means.Compress(t.Context(), simd.New(), p, atoms)
		if err != nil {
			t.Fatal(err)
		}
		again, err := means.Compress(t.Context(), cpuref.New(), p, atoms)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%d atoms: another engine gives others, %v", atoms, err)
		}
		if len(c.Rows) > atoms || !reflect.DeepEqual(c.Offset, p.Offset) {
			t.Errorf("%d atoms: found %d, offset %v", atoms, len(c.Rows), c.Offset)
		}
		total := 0.0
		for k := range 2 {
			want := math.Sqrt(max(0, squaredError(c, k, c.Axes.Row(k))))
			if floor := 3e-3 * c.Length[k]; math.Abs(c.Error[k]-want) > floor {
				t.Errorf("%d atoms, function %d: error %v, wanted %v", atoms, k, c.Error[k], want)
			}
			moved := append([]float32(nil), c.Axes.Row(k)...)
			for t := range moved {
				moved[t] += float32(0.05 * c.Length[k] * rng.NormFloat64())
			}
			if squaredError(c, k, moved) < want*want {
				t.Errorf("%d atoms, function %d: other weights are nearer", atoms, k)
			}
			total += c.Error[k] * c.Error[k]
		}
		if total > last*1.001+1e-6 {
			t.Errorf("%d atoms have the squared error %v, fewer had %v", atoms, total, last)
		}
		last = total
		a, b := make([]float32, 2*x.N), make([]float32, 2*x.N)
		if err := errors.Join(simd.New().Project(a, x, p), simd.New().Project(b, x,
			c.Projection)); err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if off := math.Abs(float64(a[i]) - float64(b[i])); off > c.Error[i%2]+3e-3*c.Length[i%2] {
				t.Fatalf("%d atoms: number %d is off by %v, wanted %v at most", atoms, i, off, c.Error[i%2])
			}
		}
	}
	if last > 1e-3 {
		t.Errorf("all landmarks leave %v", last)
	}
}

func TestCompressErrors(t *testing.T) {
	x, y := spots(40, 1)
	p, err := means.Exact(x, y, 2, narrow)
	if err != nil {
		t.Fatal(err)
	}
	for _, atoms := range []int{0, 41} {
		if _, err := means.Compress(t.Context(), simd.New(), p, atoms); !errors.Is(err,
			means.ErrOptions) {
			t.Errorf("%d atoms: %v", atoms, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := means.Compress(ctx, simd.New(), p, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	p.Axes = engine.NewWeights(2, 40)
	if _, err := means.Compress(t.Context(), simd.New(), p, 4); !errors.Is(err, means.ErrOptions) {
		t.Errorf("functions that are 0: %v", err)
	}
}

// TestCompressDuplicates: of landmarks that are all the same one stands for all, though rounding
// has it take off more than there is.
func TestCompressDuplicates(t *testing.T) {
	for n := 2; n < 40; n++ {
		p := engine.Projection{Function: narrow, Landmarks: dataset.Examples{N: n, D: 1,
			X: make([]float32, n)}, Axes: engine.NewWeights(2, n)}
		for l := range n {
			p.Axes.Row(l % 2)[l] = 1 / float32(n)
		}
		c, err := means.Compress(t.Context(), simd.New(), p, 1)
		if err != nil || len(c.Rows) != 1 || slices.Max(c.Error) > 1e-3 {
			t.Errorf("%d landmarks: %v, %v", n, c, err)
		}
	}
}
