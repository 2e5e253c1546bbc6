package fit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Where most features say nothing EM takes a larger penalty than it begins with, and errs less by
// it; of digits, where it is right, it does not.
func TestLargerPenalty(t *testing.T) {
	const n, d, q, seen = 4000, 300, 2, 1500
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, n*d), make([]int32, n)
	for i := range y {
		y[i] = int32(rng.IntN(q))
		for j := range d {
			x[i*d+j] = float32(rng.NormFloat64())
		}
		x[i*d] += 2 * float32(2*y[i]-1)
	}
	c := must(confusion.Pairwise([]string{"a", "b"}, 0.3))
	noisy := must(c.Inject(y[:seen], 1))
	all := dataset.Examples{N: n, D: d, X: x}
	p := &learners.Problem{X: all.Part(0, seen), Y: noisy, Q: q, Noise: c, Engine: simd.New(), Seed: 1}
	wrong := func(w engine.Weights) (count int) {
		for i, k := range must(engine.Predict(p.Engine, w, all.Part(seen, n))) {
			if k != y[seen+i] {
				count++
			}
		}
		return count
	}
	train := func(p *learners.Problem) (w engine.Weights, first, last float64) {
		params := softmax.Defaults()
		params.Correction = learners.EM
		r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 5000,
			OnStep: func(r host.Report) {
				for _, f := range r.Fields {
					if f.Name == "λ" {
						if last = f.Value.(float64); r.Step == 1 {
							first = last
						}
					}
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		return r.W, first, last
	}
	w, first, last := train(p)
	begin := learn(t, p, func(params *softmax.Params) { // 0.1·‖x‖²/n, where the search begins
		params.Correction, params.L2 = learners.EM, softmax.L2(0.0203)
	})
	t.Logf("λ %v to %v, %d wrong, %d without the search", first, last, wrong(w), wrong(begin.W))
	if !(last > 2*first) || wrong(w) >= wrong(begin.W) {
		t.Errorf("λ %v to %v, %d wrong, %d without the search", first, last, wrong(w), wrong(begin.W))
	}
	if _, first, last := train(digits(t, 400, pairwise(0.3))); last != first {
		t.Errorf("digits: λ %v to %v", first, last)
	}
}
