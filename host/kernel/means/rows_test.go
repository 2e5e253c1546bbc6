package means

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// TestRows: rows requested one by one equal the rows of one projection.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	dense := dataset.Examples{N: 70, D: 3}
	for range dense.N * dense.D {
		dense.X = append(dense.X, float32(rng.NormFloat64()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range []kernel.Function{{Kind: kernel.RBF, Gamma: 0.3}, {Kind: kernel.Linear},
		{Kind: kernel.Poly, Gamma: 0.5, Coef0: 1, Degree: 3}} {
		all := make([]float32, dense.N*dense.N)
		err := simd.New().Project(all, dense, engine.Projection{Function: f, Landmarks: dense})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []dataset.Examples{dense, dense.Compressed()} {
			r, err := newRows(simd.New(), x, f)
			if err != nil {
				t.Fatal(err)
			}
			for i := range x.N {
				values, err := r.row(t.Context(), i)
				if err != nil {
					t.Fatal(err)
				}
				for k := range x.N {
					if values[k] != all[k*x.N+i] {
						t.Fatalf("κ of examples %d and %d is %v, wanted %v", k, i, values[k], all[k*x.N+i])
					}
				}
			}
			if _, err := r.row(ctx, 1); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
