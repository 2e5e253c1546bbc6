package host_test

import (
	"context"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

const streamed = "../testdata/digits.csv.gz"

// inOrder is PA-I as a stream can have it.
func inOrder() *online.Params {
	p := online.New("pa1")
	p.NoShuffle, p.Correction = true, online.CorrectSteps
	return p
}

// A stream gives the same model as one step over all examples, except for what needs a second look
// at them.
func TestTrainStream(t *testing.T) {
	open := func() *file.Stream {
		s, err := file.OpenStream(t.Context(), streamed, []string{streamed}, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	data := func() *dataset.Dataset {
		d, err := file.Read(t.Context(), streamed, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	noise, err := confusion.Pairwise(data().Classes, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	o := host.Options{Engine: cpuref.New(), Learner: inOrder(), Preparation: "bias,l2", MaxSteps: 1,
		Seed: 3}
	base, err := host.Train(t.Context(), data(), noise, host.Options{Engine: o.Engine,
		Learner: online.New("perceptron")})
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []bool{false, true} {
		if from { // whose preparation standardizes
			o.From, o.Preparation = base.Model, ""
		}
		want, err := host.Train(t.Context(), data(), noise, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := host.TrainStream(t.Context(), open(), noise, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.W, want.W) || got.Run.Steps != 1 || got.Run.Stop != host.MaxSteps {
			t.Errorf("from a model %v: other weights, or %d steps (%s)", from, got.Run.Steps, got.Run.Stop)
		}
		if e := got.Run.EstimatedError; e == 0 || got.Run.Counts == nil {
			t.Errorf("from a model %v: estimated error %v", from, e)
		}
		was, is := want.Meta, got.Meta
		if is.DataSHA256 != "" || is.EstimatedError != nil || is.Temperature != 0 {
			t.Errorf("found %+v, wanted no hash, estimate or temperature", is)
		}
		if is.From != was.From || is.Preparation.Steps != was.Preparation.Steps || is.MaxSteps != 1 ||
			is.Steps != 1 {
			t.Errorf("found %+v, wanted %+v", is, was)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := open()
	cancel()
	got, err := host.TrainStream(ctx, s, noise, o)
	if err != nil || got.Run.Stop != host.Interrupted || got.Meta.Stop != "interrupted" {
		t.Errorf("cancelled: found %v, wanted a model of what was read", err)
	}
}

func TestTrainStreamRefuses(t *testing.T) {
	for said, change := range map[string]func(*host.Options){
		"learner once":          func(o *host.Options) { o.Learner = uma.Defaults() },
		"kernel once":           func(o *host.Options) { o.Kernel = &fitting.Options{} },
		"checkpoint folds once": func(o *host.Options) { o.TemperatureFolds = 3 },
		"2 passes 1":            func(o *host.Options) { o.MaxSteps = 2 },
		"rule best last":        func(o *host.Options) { o.Weights = learners.Best },
		"standardize,bias,l2":   func(o *host.Options) { o.Preparation = "" },
		"maxabs":                func(o *host.Options) { o.Preparation = "maxabs" },
		"shuffle":               func(o *host.Options) { o.Learner = online.New("pa2") },
	} {
		s, err := file.OpenStream(t.Context(), streamed, []string{streamed}, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := host.Options{Engine: cpuref.New(), Learner: inOrder(), Preparation: "l2"}
		change(&o)
		if _, err := host.TrainStream(t.Context(), s, nil, o); !facts.Told(err, said) {
			t.Errorf("found %v, wanted %s", err, said)
		}
		s.Close()
	}
}
