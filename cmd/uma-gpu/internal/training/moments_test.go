package training_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// What a history says of a step is what a run of that length ends with, with and without a
// kernel map.
func TestHistory(t *testing.T) {
	ctx := t.Context()
	all, err := file.Read(ctx, "../../../../testdata/digits.csv.gz", file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := dataset.SplitFractions(all, []float64{0.7, 0.3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	data, held := parts[0], parts[1]
	noise, err := confusion.Pairwise(data.Classes, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	if data.Y, err = noise.Inject(data.Y, 1); err != nil {
		t.Fatal(err)
	}
	e := simd.New()
	defer e.Close() // nothing to lose
	for name, o := range map[string]host.Options{
		"linear": {Learner: uma.Defaults(), MaxSteps: 150},
		"kernel": {Learner: uma.Defaults(), MaxSteps: 9,
			Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.05},
				Components: 20, Landmarks: 100}},
	} {
		h := training.History{Keeps: true}
		o.Engine, o.Weights = e, learners.Last
		o.Watch.Step = func(r host.Report) { h.Step(r.Step, r.EstimatedError, r.W) }
		m, err := host.Train(ctx, data, noise, o)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := h.HoldOut(ctx, e, m.Model, held, confusion.NoNoise(m.Q)); err != nil {
			t.Fatal(name, err)
		}
		judged := 0
		for _, moment := range h.Moments {
			if moment.HeldOutError == nil {
				continue
			}
			if judged++; judged%16 != 4 {
				continue
			}
			o.MaxSteps, o.Watch.Step = moment.Step, nil
			short, err := host.Train(ctx, data, noise, o)
			if err != nil {
				t.Fatal(name, err)
			}
			said, err := short.Predict(ctx, e, held.Examples)
			if err != nil {
				t.Fatal(name, err)
			}
			wrong := 0
			for i, k := range said {
				if k != held.Y[i] {
					wrong++
				}
			}
			if got, want := *moment.HeldOutError, float64(wrong)/float64(held.N); got-want > 1e-12 ||
				want-got > 1e-12 || moment.EstimatedError != short.Run.EstimatedError {
				t.Errorf("%s, step %d: %v and %v, wanted %v and %v", name, moment.Step, got,
					moment.EstimatedError, want, short.Run.EstimatedError)
			}
		}
		if len(h.Moments) < 5 || judged < 5 || judged > 64 {
			t.Errorf("%s: %d moments, %d of them judged", name, len(h.Moments), judged)
		}
	}
}
