package noisyperceptron_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/noisyperceptron"
)

// halves are examples on either side of a plane; a share η has the other label.
func halves(t *testing.T, n, d int, eta float64) (p *learners.Problem, truth []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	p = &learners.Problem{Q: 2, Engine: cpuref.New(), Seed: 7, X: dataset.Examples{N: n, D: d,
		X: make([]float32, n*d)}}
	for i := range n {
		row, side := p.X.Row(i), 0.0
		for j := range row {
			v := rng.NormFloat64()
			row[j] = float32(v)
			side += v * float64(j%3-1)
		}
		y := int32(0)
		if side > 0 {
			y = 1
		}
		truth = append(truth, y)
	}
	var err error
	if p.Noise, err = confusion.Symmetric([]string{"0", "1"}, eta); err != nil {
		t.Fatal(err)
	}
	if p.Y, err = p.Noise.Inject(truth, 1); err != nil {
		t.Fatal(err)
	}
	return p, truth
}

// twin is either learner for two classes and symmetric noise, in float64, exactly as in equation
// 3.3 of the thesis: examples of the second label are multiplied by -1, and x_up is the sum of the
// examples that w mistakes and η/(1-η) times the sum of the others. Where w is 0 all examples count
// in both sums.
func twin(p *learners.Problem, w []float64, eta, sigma float64, steps int, turn bool) []float64 {
	dot := func(a []float64, b []float64) (sum float64) {
		for j, v := range a {
			sum += v * b[j]
		}
		return sum
	}
	scale := 1 / float64(p.X.N) * (1 - eta) // with which the learner adds them
	if turn {
		scale = 1
	} else {
		sigma = 0
	}
	for range steps {
		up := make([]float64, p.X.D)
		for i, y := range p.Y {
			x := make([]float64, p.X.D)
			for j, v := range p.X.Row(i) {
				x[j] = float64(v) * float64(2*y-1)
			}
			score, margin := dot(w, x), sigma*math.Sqrt(dot(w, w)*dot(x, x))
			for j, v := range x {
				if score <= -margin {
					up[j] += v
				}
				if score >= margin {
					up[j] += eta / (1 - eta) * v
				}
			}
		}
		by := scale
		if turn {
			by = -dot(w, up) / dot(up, up)
		}
		for j, v := range up {
			w[j] += by * v
		}
	}
	return w
}

// angle returns the sine of the angle between the second class's weights and a twin's.
func angle(w []float32, twin []float64) float64 {
	var ww, tt, wt float64
	for j, v := range w {
		ww += float64(v) * float64(v)
		tt += twin[j] * twin[j]
		wt += float64(v) * twin[j]
	}
	return math.Sqrt(max(0, 1-wt/math.Sqrt(ww)*wt/math.Sqrt(tt)/math.Sqrt(ww*tt)))
}

func TestTwins(t *testing.T) {
	const eta, sigma, steps = 0.2, 0.05, 3
	for _, params := range []learners.Params{noisyperceptron.NewBylander(),
		&noisyperceptron.Blum{Margin: sigma}} {
		name := params.Definition().Name
		p, _ := halves(t, 500, 20, eta)
		from, begin := engine.NewWeights(2, 20), make([]float64, 20)
		for j := range begin { // with many mistakes
			begin[j] = float64(j%5)/10 - 0.2
			from.Row(1)[j], from.Row(0)[j] = float32(begin[j]), float32(-begin[j])
		}
		o := host.RunOptions{MaxSteps: steps, Weights: learners.Last, From: from.W}
		r, err := host.Run(t.Context(), params, p, o)
		if err != nil || r.Steps != steps {
			t.Fatalf("%s: %d steps, %v", name, r.Steps, err)
		}
		want := twin(p, begin, eta, sigma, steps, name == "blum")
		if a := angle(r.W.Row(1), want); a > 1e-3 {
			t.Errorf("%s: the weights are at an angle of %v to the twin's", name, a)
		}
	}
}

// Where the perceptron that believes its labels errs, learners that know the noise do not.
func TestNoiseIsUnmixed(t *testing.T) {
	p, truth := halves(t, 4000, 20, 0.35)
	for _, params := range []learners.Params{noisyperceptron.NewBylander(),
		noisyperceptron.NewBlum()} {
		r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: 200})
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := engine.Predict(p.Engine, r.W, p.X)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, y := range truth {
			if predicted[i] != y {
				wrong++
			}
		}
		t.Logf("%s: %d wrong after %d steps (%s)", params.Definition().Name, wrong, r.Steps, r.Stop)
		if wrong > 320 {
			t.Errorf("%s: %d of 4000 predictions are wrong, wanted 320 at most", params.Definition().Name,
				wrong)
		}
	}
}
