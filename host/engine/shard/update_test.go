package shard_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// TestUpdates: norms and update vectors equal one engine's, after another inverse and after
// examples moved.
func TestUpdates(t *testing.T) {
	const n, q = 6, 2
	inverses := [][]float32{{1.5, -0.5, 0, 1}, {1, 0, -0.25, 1.25}}
	pairs := []engine.Pair{{P: 1, Q: 0}, {P: 0, Q: 1}, {P: 1, Q: 1}, {P: 0, Q: 0}}
	for _, d := range []int{5, 1<<20 + 1} {
		x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		for i := range x.X {
			x.X[i] = float32(i*7919%101-50) / 101
		}
		var found [2][][]float32
		for k, e := range []*engine.Engine{simd.New(), together(t, nil, simd.NewDriver(),
			simd.NewDriver())} {
			r, err := e.LoadCells(x, []int32{0, 1, 0, 1, 1, 0}, q, numerics.FixedPoint{})
			if err != nil {
				t.Fatal(err)
			}
			w := engine.NewWeights(q, d)
			ask := func(made []float32, norms, vectors int) {
				all, z := make([]float32, q*q), make([]float32, len(pairs)*d)
				for range norms {
					err := r.Norms(all, made)
					if err != nil {
						t.Fatal(err)
					}
				}
				for range vectors {
					if err := r.UpdateVectors(z, pairs, made); err != nil {
						t.Fatal(err)
					}
				}
				found[k] = append(found[k], all, z)
			}
			for step := range 2 {
				w.W[0], w.W[d+1] = float32(step), float32(2-step)
				if err := r.Rescore(w, []int{0, 1}); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Assign(0); err != nil {
					t.Fatal(err)
				}
				ask(inverses[0], 1, 1)
				ask(inverses[1], 0, 1)
				ask(inverses[1], 1, 1)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range found[0] {
			if !slices.Equal(found[0][i], found[1][i]) {
				t.Errorf("%d features: answer %d of shards is not that of one engine", d, i)
			}
		}
	}
}
