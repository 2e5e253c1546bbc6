package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// A block after the other gives the bits of all at once, dense or sparse, and ctx ends it between
// two.
func TestPredictInBlocks(t *testing.T) {
	defer func(values int) { predictedValues = values }(predictedValues)
	const n, d, q = 500, 7, 3
	rng := rand.New(rand.NewPCG(5, 6))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	m := &Model{Q: q, D: d, W: make([]float32, q*d)}
	m.Meta.Preparation.D = d
	for k := range x.X {
		if rng.IntN(3) > 0 {
			x.X[k] = float32(rng.NormFloat64())
		}
	}
	for k := range m.W {
		m.W[k] = float32(rng.NormFloat64())
	}
	e := simd.New()
	var want []float32
	for _, form := range []dataset.Examples{x, x.Compressed()} {
		for _, values := range []int{1 << 25, 100, d, 1} {
			predictedValues = values
			scores, err := m.ScoresPrepared(t.Context(), e, form)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = scores
			}
			if !slices.Equal(scores, want) {
				t.Errorf("%d values at a time, sparse %v: other scores", values, form.Sparse())
			}
			ctx, cancel := context.WithCancel(t.Context())
			atHalf := func(t *progress.Task, _ progress.Event) {
				if t.Done() >= n/2 {
					cancel()
				}
			}
			_, err = m.PredictPrepared(progress.With(ctx, atHalf), e, form)
			if stopped := errors.Is(err, context.Canceled); stopped != (values < n) {
				t.Errorf("%d values at a time: %v", values, err)
			}
			cancel()
		}
	}
}
