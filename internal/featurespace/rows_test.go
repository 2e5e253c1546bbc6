package featurespace_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/internal/featurespace"
)

// asked counts how often an engine reads examples that it has loaded.
type asked struct {
	engine.Driver
	times int
}

type askedScorer struct {
	engine.Loaded
	e *asked
}

func (a *asked) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	s, err := a.Driver.Load(x, t)
	return askedScorer{s, a}, err
}

func (s askedScorer) Rescore(w engine.Weights, classes []int) error {
	s.e.times++
	return s.Loaded.Rescore(w, classes)
}

// TestKernelRows: rows asked for one by one, with others beside them or not, are those of one
// projection, and ones that were asked for beside another are known.
func TestKernelRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := dataset.Examples{N: 70, D: 3}
	for range x.N * x.D {
		x.X = append(x.X, float32(rng.NormFloat64()))
	}
	soon := make([]float64, x.N)
	for i := range soon {
		soon[i] = float64((i*13)%x.N) - 35 // of any sign
	}
	for _, f := range []kernel.Function{{Kind: kernel.RBF, Gamma: 0.3}, {Kind: kernel.Linear},
		{Kind: kernel.Poly, Gamma: 0.5, Coef0: 1, Degree: 3}} {
		all := make([]float32, x.N*x.N)
		if err := simd.New().Project(all, x, engine.Projection{Function: f, Landmarks: x}); err != nil {
			t.Fatal(err)
		}
		for _, x := range []dataset.Examples{x, x.Compressed()} {
			testRows(t, x, f, all, nil)
			testRows(t, x, f, all, soon)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rows, err := featurespace.NewRows(simd.New(), x, kernel.Function{Kind: kernel.Linear}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Row(ctx, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
}

// testRows asks for rows in some order and compares them with all kernel values.
func testRows(t *testing.T, x dataset.Examples, f kernel.Function, all []float32, soon []float64) {
	t.Helper()
	rng, e := rand.New(rand.NewPCG(3, 4)), &asked{Driver: simd.NewDriver()}
	rows, err := featurespace.NewRows(engine.New(e), x, f, soon != nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() // of what was only read: nothing to lose
	for range 200 {
		i := rng.IntN(x.N)
		values, err := rows.Row(t.Context(), i, soon)
		if err != nil {
			t.Fatal(err)
		}
		for k := range x.N {
			if values[k] != all[k*x.N+i] {
				t.Fatalf("κ of examples %d and %d is %v, wanted %v", k, i, values[k], all[k*x.N+i])
			}
		}
	}
	most := 200
	if soon != nil {
		most = 5
	}
	if e.times > most {
		t.Errorf("asked %d times, wanted %d at most", e.times, most)
	}
}
