package host_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
)

// A few examples of one candidate class beside many of several say nothing of the temperature.
func TestTemperatureOfFewCertainExamples(t *testing.T) {
	data, _, _ := noisyDigits()
	q := len(data.Classes)
	data.Evidence = &dataset.Evidence{Classes: make([]float32, data.N*q)}
	for i, y := range data.Y {
		row := data.Evidence.Classes[i*q : (i+1)*q]
		row[y] = 1
		if i > 2 {
			row[y], row[(int(y)+1)%q] = .75, .25
		}
	}
	m := must(host.Train(t.Context(), data, nil, host.Options{Engine: simd.New(), MaxSteps: 10}))
	if m.Meta.Temperature != 1 {
		t.Errorf("temperature %v by 3 of %d examples, wanted 1", m.Meta.Temperature, data.N)
	}
}

// Without folds the temperature is fitted to the training examples' scores.
func TestTemperatureOfTheTrainingExamples(t *testing.T) {
	ctx, e := context.Background(), simd.New()
	data, noise, _ := noisyDigits()
	m := must(host.Train(ctx, data, noise, host.Options{Engine: e, MaxSteps: 100}))
	scores := must(m.Scores(ctx, e, data.Examples))
	if want := must(confusion.Temperature(t.Context(), scores, data.Y, m.Q,
		noise)); m.Meta.Temperature != want {
		t.Errorf("temperature %v, wanted %v", m.Meta.Temperature, want)
	}
	p := must(m.Probabilities(ctx, e, data.Examples))
	for i := 0; i < len(p); i += m.Q {
		sum := 0.0
		for _, v := range p[i : i+m.Q] {
			sum += float64(v)
		}
		if !(math.Abs(sum-1) < 1e-5) {
			t.Fatalf("probabilities %v", p[i:i+m.Q])
		}
	}
}

// Of many examples an even choice is taken, which does not mind the order of the classes.
func TestTemperatureOfManyExamples(t *testing.T) {
	ctx, e := context.Background(), simd.New()
	data, noise, _ := noisyDigits()
	var order []int
	for k := range len(data.Classes) {
		for i, y := range data.Y {
			if int(y) == k {
				order = append(order, slices.Repeat([]int{i}, 12)...)
			}
		}
	}
	many := &dataset.Dataset{Examples: data.Examples.Pick(order), Classes: data.Classes}
	for _, i := range order {
		many.Y = append(many.Y, data.Y[i])
	}
	o := host.Options{Engine: e, Learner: classmean.Defaults()}
	m := must(host.Train(ctx, many, noise, o))
	scores := must(m.Scores(ctx, e, data.Examples))
	want := must(confusion.Temperature(t.Context(), scores, data.Y, m.Q, noise))
	if ratio := m.Meta.Temperature / want; ratio < 0.9 || ratio > 1.1 {
		t.Errorf("temperature %v, wanted about %v", m.Meta.Temperature, want)
	}
}

// Weights that are all 0 have no temperature, and the training says so.
func TestNoTemperature(t *testing.T) {
	data, noise, _ := noisyDigits()
	var said string
	o := host.Options{Engine: simd.New(), MaxSteps: host.NoSteps}
	o.Watch.Note = func(format string, _ ...any) { said += format }
	m := must(host.Train(context.Background(), data, noise, o))
	if m.Meta.Temperature != 0 || !facts.Told(said, "no probabilities") {
		t.Errorf("temperature %v, notes %q", m.Meta.Temperature, said)
	}
}
