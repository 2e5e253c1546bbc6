package main

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/metric"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// TestTrain compares the errors that one recorded run gives with those of a run
// for each rule.
func TestTrain(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 200, D: 3}, Classes: []string{"a", "b", "c"}}
	rng := rand.New(rand.NewPCG(1, 2))
	for range d.N {
		x := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), 1}
		class := int32(0)
		if x[0] > 0.3 {
			class = 1
		} else if x[1] > 0.2 {
			class = 2
		}
		d.X, d.Y = append(d.X, x...), append(d.Y, class)
	}
	noise, err := confusion.Pairwise(d.Classes, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	y, err := noise.Inject(d.Y, 1)
	if err != nil {
		t.Fatal(err)
	}
	e := cpuref.New()
	for _, steps := range []int{1, 25} {
		j := job{ctx: t.Context(), engine: e, steps: steps, progress: io.Discard}
		got, err := j.train(d, y, d, noise)
		if err != nil {
			t.Fatal(err)
		}
		w := map[learners.Rule]engine.Weights{}
		for column, rule := range []learners.Rule{last: learners.Last, average: learners.Average, best: learners.Best} {
			p := &learners.Problem{X: d.Examples, Y: y, Q: len(d.Classes), Noise: noise, Engine: e}
			res, err := host.Run(t.Context(), &uma.Params{Select: uma.SelectError}, p,
				host.RunOptions{MaxSteps: steps, Weights: rule})
			if err != nil {
				t.Fatal(err)
			}
			w[rule] = res.W
			predicted, err := engine.Predict(e, res.W, d.Examples)
			if err != nil {
				t.Fatal(err)
			}
			want, err := metric.Evaluate(d.Y, predicted, d.Classes)
			if err != nil {
				t.Fatal(err)
			}
			if got[column] != want.ErrorRate {
				t.Errorf("%d steps, %s: error %v, host.Run's is %v", steps, rule, got[column], want.ErrorRate)
			}
		}
		if steps > 1 && (slices.Equal(w[learners.Last].W, w[learners.Best].W) || got[last] == got[average] ||
			got[last] == got[best]) {
			t.Errorf("%d steps: the rules agree (errors %v), so this tells nothing", steps, got)
		}
	}
}
