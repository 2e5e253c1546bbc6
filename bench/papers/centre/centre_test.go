package centre

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/bench/papers/centre/versionspace"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// clouds returns n examples of q classes around points on a circle, and their classes.
func clouds(n, d, q int, seed uint64) (*dataset.Dataset, []int32) {
	random := rand.New(rand.NewPCG(seed, 3))
	x, names := dataset.Examples{N: n, D: d, X: make([]float32, n*d)},
		strings.Fields("ash beech cedar durmast elm")[:q]
	y := make([]int32, n)
	for i := range n {
		y[i] = int32(i % q)
		angle := 2 * math.Pi * float64(y[i]) / float64(q)
		for j := range d {
			x.X[i*d+j] = float32(0.7 * random.NormFloat64())
		}
		x.X[i*d] += float32(2 * math.Cos(angle))
		x.X[i*d+1] += float32(2 * math.Sin(angle))
	}
	return &dataset.Dataset{Examples: x, Classes: names}, y
}

// begun returns a pool whose first known examples are labelled.
func begun(t testing.TB, e *engine.Engine, d *dataset.Dataset, y []int32, known int,
	o host.Options) *active.Pool {
	t.Helper()
	o.Engine = e
	p, err := active.NewPool(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	copy(p.Labels, y[:known])
	return p
}

// naive returns the constraints of class 1 against class 0: the examples with signs.
func naive(p *active.Pool) []float64 {
	var rows []float64
	for _, i := range p.Labelled() {
		for _, v := range p.Examples.Row(i) {
			rows = append(rows, float64(v)*float64(2*p.Labels[i]-1))
		}
	}
	return rows
}

// TestCentresAreThoseOfFeatures: what is found in the span of the labelled examples is what
// versionspace finds in the features themselves, be they more or fewer than examples. A margin
// that is exact to 1e-9 leaves the direction some 1e-4.
func TestCentresAreThoseOfFeatures(t *testing.T) {
	e := simd.New()
	defer e.Close()
	for _, c := range []struct {
		d, known int
		strategy Strategy
		apart    float64
	}{{3, 12, Ball, 1e-3}, {9, 5, Ball, 1e-3}, {3, 12, Centroid, 0.02}, {6, 4, Centroid, 0.03}} {
		d, y := clouds(30, c.d, 2, 4)
		p := begun(t, e, d, y, c.known, host.Options{Preparation: "l2"})
		w, slack, err := Find(t.Context(), p, Options{Strategy: c.strategy, Steps: 1 << 14})
		if err != nil || slack != 0 {
			t.Fatalf("slack %v, %v", slack, err)
		}
		space, err := versionspace.New(c.d, naive(p))
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		if c.strategy == Ball {
			ball, err := space.Ball()
			if err != nil {
				t.Fatal(err)
			}
			want = ball.Centre
		} else {
			centroid, err := space.Centroid(t.Context(), 99, 1<<14)
			if err != nil {
				t.Fatal(err)
			}
			want = centroid.Centre
		}
		dot, square := 0.0, 0.0
		for j, v := range want {
			dot += v * float64(w.W[c.d+j])
			square += v * v
			if w.W[j] != -w.W[c.d+j] {
				t.Errorf("the two classes do not have opposite weights: %v", w.W)
			}
		}
		if far := math.Sqrt(max(0, 2-2*dot/math.Sqrt(square))); far > c.apart {
			t.Errorf("%s, %d features, %d examples: %g from the centre in features, wanted %g", c.strategy,
				c.d, c.known, far, c.apart)
		}
	}
}

// TestContradictions: labels that no classifier is right about are asked on with slack.
func TestContradictions(t *testing.T) {
	e := simd.New()
	defer e.Close()
	d, y := clouds(40, 3, 3, 2)
	y[6], y[7] = y[7], y[6]
	p := begun(t, e, d, y, 20, host.Options{Preparation: "bias,l2"})
	w, slack, err := Find(t.Context(), p, Options{Strategy: Centroid})
	if err != nil || slack != DefaultSlack {
		t.Fatalf("slack %v, %v", slack, err)
	}
	scores, err := engine.Scores(e, w, p.Examples)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, class := range engine.Predicted(scores, 3) {
		if class == y[i] {
			right++
		}
	}
	if right < 30 {
		t.Errorf("the classifier is right about %d of 40", right)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range []Strategy{Ball, Centroid} {
		w, _, err := Find(t.Context(), p, Options{Strategy: s})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Ask(p, e, w, 4)
		if err != nil || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 4 ||
			slices.Min(got) < 20 {
			t.Errorf("%s: asks about %v, %v", s, got, err)
		}
		if _, _, err := Find(ctx, p, Options{Strategy: s}); err == nil {
			t.Errorf("%s: a cancelled context is no error", s)
		}
	}
}
