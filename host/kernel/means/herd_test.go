package means_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

// asked counts how often an engine is asked to project examples, which it does not keep.
type asked struct {
	engine.Driver
	times int
	all   int // with more than 1000 landmarks
}

func (a *asked) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	a.times++
	if p.Landmarks.N > 1000 {
		a.all++
	}
	return a.Driver.Project(dst, x, p)
}

// TestHerdTwin compares herding, which has a row of kernel values at a time, with a twin that has
// all of them.
func TestHerdTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := dataset.Examples{N: 1500, D: 12}
	for range x.N * x.D {
		x.X = append(x.X, float32(rng.NormFloat64()))
	}
	const atoms = 128
	f := kernel.Function{Kind: kernel.RBF, Gamma: 0.05}
	e := &asked{Driver: simd.NewDriver()}
	m, err := means.Fit(t.Context(), engine.New(e), x, make([]int32, x.N), 1,
		means.Options{Function: f, Atoms: atoms, Choice: means.Herding, Weights: means.Own})
	if err != nil {
		t.Fatal(err)
	}
	values, target, sums := make([]float32, x.N*x.N), make([]float32, x.N), make([]float64, x.N)
	mean := engine.Projection{Function: f, Landmarks: x, Axes: engine.NewWeights(1, x.N)}
	for l := range mean.Axes.W {
		mean.Axes.W[l] = float32(1 / float64(x.N))
	}
	for _, c := range []struct {
		dst []float32
		p   engine.Projection
	}{{values, engine.Projection{Function: f, Landmarks: x}}, {target, mean}} {
		if err := simd.New().Project(c.dst, x, c.p); err != nil {
			t.Fatal(err)
		}
	}
	taken := make([]float64, x.N)
	for size := range atoms {
		best, most := 0, math.Inf(-1)
		for i := range x.N {
			if gain := float64(target[i]) - sums[i]/float64(size+1); gain > most {
				best, most = i, gain
			}
		}
		for i := range x.N {
			sums[i] += float64(values[i*x.N+best])
		}
		taken[best]++
	}
	for l, row := range m.Rows {
		if float32(taken[row]/atoms) != m.Axes.W[l] {
			t.Errorf("atom %d has the weight %v, by the twin %v of %d", row, m.Axes.W[l], taken[row], atoms)
		}
		taken[row] = 0
	}
	for i, times := range taken {
		if times > 0 {
			t.Errorf("the twin takes %d, which is no atom", i)
		}
	}
	// For the mean, lengths and errors; rows are read where the examples are kept.
	if most := 8; e.times > most {
		t.Errorf("projected %d times, wanted %d at most", e.times, most)
	}
}

// TestOneReading: the means of all examples, which may be more than memory holds, are
// asked for once.
func TestOneReading(t *testing.T) {
	x, y := spots(1600, 1)
	for _, choice := range []string{means.Uniform, means.Clusters} {
		for _, weights := range []string{means.Optimal, means.Own} {
			e := &asked{Driver: simd.NewDriver()}
			fit(t, engine.New(e), x, y, means.Options{Function: narrow, Atoms: 24, Choice: choice,
				Weights: weights})
			if e.all != 1 {
				t.Errorf("%s, %s: asked for the means %d times", choice, weights, e.all)
			}
		}
	}
}
