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
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
)

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

// Folds change the temperature and nothing else, and a training that goes on keeps to them.
func TestTemperatureFolds(t *testing.T) {
	data, noise, _ := noisyDigits()
	o := host.Options{Engine: simd.New(), MaxSteps: 60}
	own := must(host.Train(context.Background(), data, noise, o))
	o.TemperatureFolds = 3
	folds := must(host.Train(context.Background(), data, noise, o))
	if !slices.Equal(own.W, folds.W) || folds.Meta.TemperatureFolds != 3 {
		t.Errorf("%d folds changed W, or are not in the model", folds.Meta.TemperatureFolds)
	}
	// These digits are learned nearly by heart.
	if !(folds.Meta.Temperature > own.Meta.Temperature) {
		t.Errorf("temperature %v with folds, wanted more than %v", folds.Meta.Temperature,
			own.Meta.Temperature)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Watch.Step = func(r host.Report) {
		if r.Step == 30 {
			cancel()
		}
	}
	stopped := must(host.Train(ctx, data, noise, o))
	if stopped.Meta.Temperature == 0 || stopped.Meta.Temperature == folds.Meta.Temperature {
		t.Errorf("temperature %v when interrupted", stopped.Meta.Temperature)
	}
	again := host.Options{Engine: simd.New(), Resume: stopped.Model}
	resumed := must(host.Train(context.Background(), data, noise, again))
	if resumed.Meta.Temperature != folds.Meta.Temperature {
		t.Errorf("temperature %v, wanted %v", resumed.Meta.Temperature, folds.Meta.Temperature)
	}
	for _, bad := range []int{-1, 1, judge.MostFolds + 1} {
		o := host.Options{Engine: simd.New(), TemperatureFolds: bad}
		if _, err := host.Train(context.Background(), data, noise, o); !facts.Told(err, "folds 2 100") {
			t.Errorf("%d folds: %v", bad, err)
		}
	}
}

// An interruption between the folds leaves a complete model.
func TestTemperatureFoldsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	data, noise, _ := noisyDigits()
	o := host.Options{Engine: simd.New(), MaxSteps: 20, TemperatureFolds: 4}
	var said []string
	o.Watch.Note = func(format string, _ ...any) {
		said = append(said, format)
		cancel()
	}
	m := must(host.Train(ctx, data, noise, o))
	o = host.Options{Engine: simd.New(), MaxSteps: 20}
	own := must(host.Train(context.Background(), data, noise, o))
	// The last is softmax's own: 20 steps end in its search.
	notes := []string{
		"temperature: fold %d of %d, %d steps", "interrupted: the temperature was fitted without folds",
		"%s",
	}
	if m.Meta.Temperature != own.Meta.Temperature || m.Meta.Stop != "max-steps" || !slices.Equal(said,
		notes) {
		t.Errorf("temperature %v, wanted %v; stop %s; notes %q", m.Meta.Temperature, own.Meta.Temperature,
			m.Meta.Stop, said)
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
