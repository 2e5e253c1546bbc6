package fit_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Of more features than a factored curvature has, a search for λ and the fit after it have the same
// bits from dense and sparse examples, on both engines, and from each step on.
func TestManyFeatures(t *testing.T) {
	const n, d, q, words = 300, 2100, 3, 20
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, n*d), make([]int32, n)
	for i := range n {
		y[i] = int32(rng.IntN(q))
		for range words {
			j := rng.IntN(d)
			if rng.IntN(3) == 0 { // a word of its class
				j = j/q*q + int(y[i])
			}
			x[i*d+j] = 0.2
		}
		x[i*d+d-1] = 1
	}
	p := &learners.Problem{X: dataset.Examples{N: n, D: d, X: x}, Y: y, Q: q, Bias: true,
		Engine: simd.New(), Seed: 1}
	train := func(p *learners.Problem, o host.RunOptions) host.Result {
		t.Helper()
		o.MaxSteps = 1000
		r := must(host.Run(t.Context(), softmax.Defaults(), p, o))
		return r
	}
	var kept []host.Snapshot
	whole := train(p, host.RunOptions{
		Due:  func(int) bool { return true },
		Keep: func(s host.Snapshot) error { kept = append(kept, s); return nil },
	})
	if whole.Steps < 10 || len(kept) < whole.Steps-1 {
		t.Fatalf("%d steps and %d snapshots", whole.Steps, len(kept))
	}
	equal := func(name string, r host.Result) {
		t.Helper()
		if !slices.Equal(r.W.W, whole.W.W) || r.Steps != whole.Steps {
			t.Errorf("%s: other weights after %d steps, want those after %d", name, r.Steps, whole.Steps)
		}
	}
	sparse := p.On(p.X.Compressed(), p.Y)
	equal("sparse", train(sparse, host.RunOptions{}))
	other := p.On(p.X.Compressed(), p.Y)
	other.Engine = cpuref.New()
	equal("another engine", train(other, host.RunOptions{}))
	for k := range kept {
		equal("gone on", train(sparse, host.RunOptions{Resume: &kept[k]}))
	}
}
