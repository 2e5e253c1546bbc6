package kernelpca_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelpca"
	"github.com/uma-gpu/uma-gpu/host/mercer"
)

// asked counts how often an engine is asked for kernel values.
type asked struct {
	engine.Engine
	times int
}

// TestKernelRows: rows asked for one by one, with others beside them or not, are those of one projection, and
// ones that were asked for beside another are known.
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
	for _, f := range []mercer.Function{{Kind: mercer.RBF, Gamma: 0.3}, {Kind: mercer.Linear},
		{Kind: mercer.Poly, Gamma: 0.5, Coef0: 1, Degree: 3}} {
		all := make([]float32, x.N*x.N)
		if err := simd.New().Project(all, x, engine.Projection{Function: f, Landmarks: x}); err != nil {
			t.Fatal(err)
		}
		testRows(t, x, f, all, nil)
		testRows(t, x, f, all, soon)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rows := kernelpca.NewKernelRows(x, mercer.Function{Kind: mercer.Linear})
	if _, err := rows.Row(ctx, simd.New(), 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func (a *asked) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	a.times++
	return a.Engine.Project(dst, x, p)
}

// testRows asks for rows in some order and compares them with all kernel values.
func testRows(t *testing.T, x dataset.Examples, f mercer.Function, all []float32, beside []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	rows, e := kernelpca.NewKernelRows(x, f), &asked{Engine: simd.New()}
	for range 200 {
		i := rng.IntN(x.N)
		values, err := rows.Row(t.Context(), e, i, beside)
		if err != nil {
			t.Fatal(err)
		}
		for k := range x.N {
			if values[k] != all[k*x.N+i] {
				t.Fatalf("κ of examples %d and %d is %v, wanted %v", k, i, values[k], all[k*x.N+i])
			}
		}
	}
	if most := 3 + 200*(1-min(1, len(beside))); e.times > most {
		t.Errorf("asked %d times, wanted %d at most", e.times, most)
	}
}
