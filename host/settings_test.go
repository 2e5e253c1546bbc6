package host_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// A training repeated by the settings of its model has the weights of that.
func TestSettingsRepeatTheTraining(t *testing.T) {
	ctx := t.Context()
	data, err := file.Read(ctx, "../testdata/digits.csv.gz", file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var some []int
	for i := 0; i < data.N; i += 4 {
		some = append(some, i)
	}
	if data, err = data.Choose(some); err != nil {
		t.Fatal(err)
	}
	noise := must(confusion.Pairwise(data.Classes, 0.3))
	if data.Y, err = noise.Inject(data.Y, 1); err != nil {
		t.Fatal(err)
	}
	data.SHA256 = data.Hash()
	rbf := kernel.Function{Kind: kernel.RBF}
	for name, o := range map[string]host.Options{
		"softmax":    {},
		"uma":        {Learner: uma.Defaults(), MaxSteps: 30, Seed: 3, Preparation: "bias,l2"},
		"components": {Kernel: &fitting.Options{Function: rbf, Components: 40, Landmarks: 200}, Seed: 2},
		"all": {Kernel: &fitting.Options{Function: rbf, Components: 30, Landmarks: fitting.AllLandmarks},
			MaxSteps: host.NoSteps},
		"kernelmean": {Learner: kernelmean.Defaults(), Kernel: &fitting.Options{Function: rbf}},
	} {
		o.Engine = simd.New()
		first, err := host.Train(ctx, data, noise, o)
		if err != nil {
			t.Fatal(name, err)
		}
		again, told, err := host.Settings(first.Model, data.N)
		if err != nil {
			t.Fatal(name, err)
		}
		again.Engine = o.Engine
		second, err := host.Train(ctx, data, told, again)
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.Equal(first.W, second.W) {
			t.Errorf("%s: another model", name)
		}
		if err := o.Engine.Close(); err != nil {
			t.Error(err)
		}
	}
}
