package fit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// bumps replaces each example by its rbf values with count others, and a 1.
func bumps(p *learners.Problem, count int) {
	x := dataset.Examples{N: p.X.N, D: count + 1}
	for i := range p.X.N {
		for k := range count {
			distance := 0.0
			for j, f := range p.X.Row(i) {
				distance += math.Pow(float64(f-p.X.Row(k)[j]), 2)
			}
			x.X = append(x.X, float32(math.Exp(-distance/128)))
		}
		x.X = append(x.X, 1)
	}
	p.X, p.Mapped = x, true
}

// With mapped examples and a known C, rounds of ridge regression learn the weights: the same on
// another engine and from sparse examples, and for right labels better ones than one fit does.
func TestRidgeRounds(t *testing.T) {
	right := digits(t, 400, nil).Y
	train := func(p *learners.Problem) (w engine.Weights, wrong int) {
		t.Helper()
		r, err := host.Run(t.Context(), softmax.Defaults(), p, host.RunOptions{MaxSteps: 1000})
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := engine.Predict(p.Engine, r.W, p.X)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range predicted {
			if k != right[i] {
				wrong++
			}
		}
		return r.W, wrong
	}
	symmetric := func(classes []string) (*confusion.Matrix, error) {
		return confusion.Symmetric(classes, 0.4)
	}
	for name, noise := range map[string]func([]string) (*confusion.Matrix, error){
		"symmetric": symmetric, "pairwise": pairwise(0.4)} {
		p := digits(t, 400, noise)
		bumps(p, 100)
		w, wrong := train(p)
		other := &learners.Problem{X: p.X.Compressed(), Y: p.Y, Q: p.Q, Noise: p.Noise, Bias: p.Bias,
			Seed: p.Seed, Mapped: true, Engine: cpuref.New()}
		if again, _ := train(other); !slices.Equal(again.W, w.W) {
			t.Errorf("%s: another engine has other weights", name)
		}
		p.Mapped = false
		if _, fitted := train(p); wrong >= fitted {
			t.Errorf("%s: %d of 400 wrong, %d by one fit", name, wrong, fitted)
		}
	}
}

// Ridge regression leaves little of the gradient of half the squared loss of the examples that are
// not held out, and of the penalty.
func TestRidge(t *testing.T) {
	p := digits(t, 400, pairwise(0.3))
	bumps(p, 100)
	solver, err := softmax.NewSolver(softmax.Defaults(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer solver.Close()
	g := softmax.RidgeGoal{Shares: make([]float32, 400*p.Q), Held: make([]int, 400), Without: 1,
		Lambda: 0.01}
	for i, k := range p.Y {
		g.Held[i], g.Shares[i*p.Q+int(k)] = i%5, 1
	}
	d := p.X.D
	w, err := solver.Ridge(t.Context(), g, make([]float32, p.Q*d))
	if err != nil {
		t.Fatal(err)
	}
	first, last := make([]float64, len(w)), make([]float64, len(w)) // at W = 0 and at w
	for j, v := range w {
		last[j] = g.Lambda * float64(v)
	}
	for i := range p.X.N {
		for k := 0; k < p.Q && g.Held[i] != g.Without; k++ {
			score, share := 0.0, float64(g.Shares[i*p.Q+k])
			for j, f := range p.X.Row(i) {
				score += float64(w[k*d+j]) * float64(f)
			}
			for j, f := range p.X.Row(i) {
				first[k*d+j] -= share * float64(f) / 320
				last[k*d+j] += (score - share) * float64(f) / 320
			}
		}
	}
	var before, after float64
	for j := range w {
		before, after = before+first[j]*first[j], after+last[j]*last[j]
	}
	if share := math.Sqrt(after / before); share > 0.01 {
		t.Errorf("%.3f of the gradient is left", share)
	}
}
