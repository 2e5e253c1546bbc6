package host_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// TestResumeTakesOver: what a program leaves open is as the training to go on with began,
// and what it says must be.
func TestResumeTakesOver(t *testing.T) {
	data, noise, _ := noisyDigits()
	began := host.Options{
		Engine: simd.New(),
		Learner: &uma.Params{Step: uma.StepPair, Select: uma.SelectRandom, AlphaUnit: uma.UnitWeights,
			Tol: 1e-9},
		Weights: learners.Last, MaxSteps: 40, Seed: 7,
	}
	straight := must(host.Train(context.Background(), data, noise, began))
	ctx, cancel := context.WithCancel(context.Background())
	began.Watch.Step = func(r host.Report) {
		if r.Step == 20 {
			cancel()
		}
	}
	stopped := must(host.Train(ctx, data, noise, began))
	again := host.Options{Engine: began.Engine, Resume: stopped.Model}
	resumed := must(host.Train(context.Background(), data, noise, again))
	if !slices.Equal(resumed.W, straight.W) || resumed.Meta.Steps != 40 || resumed.Meta.Seed != 7 ||
		resumed.Meta.Weights != "last" ||
		string(resumed.Meta.Parameters) != string(straight.Meta.Parameters) {
		t.Errorf("got other weights than the straight run, or %+v", resumed.Meta)
	}
	for what, change := range map[string]func(*host.Options){
		"seed":    func(o *host.Options) { o.Seed = 8 },
		"weights": func(o *host.Options) { o.Weights = learners.Best },
		"learner": func(o *host.Options) { o.Learner = uma.Defaults() },
	} {
		o := again
		change(&o)
		if _, err := host.Train(context.Background(), data, noise, o); err == nil {
			t.Errorf("another %s was taken", what)
		}
	}
}

// TestNote: a learner that ends with much left wrong says so.
func TestNote(t *testing.T) {
	data, noise, _ := noisyDigits()
	for alpha, want := range map[float32]string{0: "", 0.5: "are wrong; try a smaller alpha"} {
		var notes string
		o := host.Options{Engine: simd.New(), MaxSteps: 5, Learner: &uma.Params{Step: uma.StepPair,
			Select: uma.SelectError, Alpha: alpha, AlphaUnit: uma.UnitScore}}
		o.Watch.Note = func(format string, args ...any) {
			if !strings.HasPrefix(format, "warning: ") { // five steps leave doubts
				notes += fmt.Sprintf(format, args...)
			}
		}
		m := must(host.Train(context.Background(), data, noise, o))
		if (want == "") != (notes == "") || !strings.Contains(notes, want) {
			t.Errorf("alpha %v: %s after %d steps with notes %q, want %q", alpha, m.Meta.Stop, m.Meta.Steps,
				notes, want)
		}
	}
}

func TestTheFirstLearnerIsTheDefault(t *testing.T) {
	data, noise, _ := noisyDigits()
	m := must(host.Train(context.Background(), data, noise, host.Options{Engine: simd.New(),
		MaxSteps: 2}))
	if want := catalog.All()[0].Name; m.Meta.Learner != want {
		t.Errorf("learner %s, want %s", m.Meta.Learner, want)
	}
}
