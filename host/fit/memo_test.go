package fit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// A run that was saved at any step, among them the first after each fit, and goes on has the
// weights of one that was never interrupted, and saves the same states.
func TestResumedAfterEachFit(t *testing.T) {
	const n, d, q = 120, 4, 3
	rng := rand.New(rand.NewPCG(1, 2))
	p := &learners.Problem{X: dataset.Examples{N: n, D: d, X: make([]float32, n*d)},
		Y: make([]int32, n), Q: q, Engine: simd.New(), Seed: 1}
	for i := range p.Y {
		p.Y[i] = int32(rng.IntN(q))
		for j := range d {
			p.X.X[i*d+j] = float32(rng.NormFloat64() + float64((int(p.Y[i])*7+j)%q))
		}
		if rng.IntN(4) == 0 {
			p.Y[i] = (p.Y[i] + 1) % q
		}
	}
	noise, err := confusion.Pairwise([]string{"a", "b", "c"}, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	p.Noise = noise
	for name, change := range map[string]func(*softmax.Params){
		"search": func(*softmax.Params) {},
		"em":     func(p *softmax.Params) { p.Correction, p.Rounds = learners.EM, 3 },
	} {
		params := softmax.Defaults()
		change(params)
		begin := func() *training {
			t.Helper()
			r, err := newTraining(params, p)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		var states [][]byte
		var weights []engine.Weights
		var fits []int // the states of the first steps after a fit has ended
		r, w, last := begin(), engine.NewWeights(p.Q, p.X.D), ""
		if _, err := r.Fit(t.Context(), w, func(learners.Step) error {
			s, err := r.Save()
			if err != nil {
				return err
			}
			if r.memo.Last != last {
				last, fits = r.memo.Last, append(fits, len(states))
			}
			states, weights = append(states, s), append(weights, w.Clone())
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d steps, %d of them the first after a fit", name, len(states), len(fits))
		for k := 0; k < len(states); k += 1 + len(states)/40 {
			fits = append(fits, k)
		}
		for k := 0; k < len(fits); k += 1 + len(fits)/80 { // all but of the many of learned noise
			at := fits[k]
			r, v, next := begin(), weights[at].Clone(), at
			if err := r.Restore(states[at]); err != nil {
				t.Fatal(err)
			}
			if s, err := r.Save(); err != nil || !slices.Equal(s, states[at]) {
				t.Fatalf("%s, step %d: other state before it goes on, %v", name, at, err)
			}
			if _, err := r.Fit(t.Context(), v, func(learners.Step) error {
				s, err := r.Save()
				if next++; err == nil && !slices.Equal(s, states[next]) {
					t.Fatalf("%s, gone on from step %d: other state after step %d", name, at, next)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(v.W, w.W) || next != len(states)-1 {
				t.Errorf("%s, gone on from step %d: other weights after %d steps", name, at, next)
			}
		}
	}
}
