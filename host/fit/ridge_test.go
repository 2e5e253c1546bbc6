package fit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
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

// With mapped examples and spread noise the result is ridge regression's weights times C⁻¹: the
// rest of its gradient is the penalty, with one λ for all weights. Another engine gives the same
// bits, also with sparse examples. Where one class takes all wrong labels, the weights maximise the
// likelihood.
func TestRidgeRegression(t *testing.T) {
	symmetric := func(classes []string) (*confusion.Matrix, error) {
		return confusion.Symmetric(classes, 0.4)
	}
	train := func(p *learners.Problem) []float32 {
		t.Helper()
		r, err := host.Run(t.Context(), softmax.Defaults(), p, host.RunOptions{MaxSteps: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return r.W.W
	}
	p := digits(t, 400, symmetric)
	bumps(p, 100)
	w := train(p)
	if ratio := ridgeRest(p, w); ratio > 0.02 {
		t.Errorf("the gradient without the penalty is off its multiple of the weights by %.3f", ratio)
	}
	other := &learners.Problem{X: p.X.Compressed(), Y: p.Y, Q: p.Q, Noise: p.Noise, Bias: p.Bias,
		Seed: p.Seed, Mapped: true, Engine: cpuref.New()}
	if !slices.Equal(train(other), w) {
		t.Error("another engine has other weights")
	}
	pair := digits(t, 400, pairwise(0.4))
	bumps(pair, 100)
	mapped := train(pair)
	pair.Mapped = false
	if !slices.Equal(train(pair), mapped) {
		t.Error("ridge regression is tried where C⁻¹ enlarges noise")
	}
}

// ridgeRest returns which share of the gradient of half the squared loss is not a multiple of the
// weights of the labels, C·w.
func ridgeRest(p *learners.Problem, w []float32) float64 {
	q, d := p.Q, p.X.D
	v, g := make([]float64, q*d), make([]float64, q*d)
	for k := range q {
		for j := range d {
			for r := range q {
				v[k*d+j] += p.Noise.P[k*q+r] * float64(w[r*d+j]) / 4
			}
		}
	}
	for i := range p.X.N {
		x := p.X.Row(i)
		for k := range q {
			s := 0.0
			for j, f := range x {
				s += v[k*d+j] * float64(f)
			}
			if k == int(p.Y[i]) {
				s--
			}
			for j, f := range x {
				g[k*d+j] += s * float64(f)
			}
		}
	}
	var gg, gv, vv float64
	for j := range g {
		gg, gv, vv = gg+g[j]*g[j], gv+g[j]*v[j], vv+v[j]*v[j]
	}
	return math.Sqrt(max(0, gg-gv*gv/vv) / gg)
}
