package host_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners/localisation"
)

// TestCompressionSet: the model's file names the examples whose sum the weights are.
func TestCompressionSet(t *testing.T) {
	data, _, right := noisyDigits()
	data.Y = right
	o := host.Options{Engine: simd.New(), Learner: localisation.Defaults(), MaxSteps: 30}
	trained := must(host.Train(context.Background(), data, nil, o))
	set := trained.Meta.CompressionSet
	if len(set) < 10 || len(set) > 30 || !slices.IsSorted(set) || !slices.Equal(set,
		trained.Run.CompressionSet) {
		t.Errorf("the compression set is %v after %d steps", set, trained.Meta.Steps)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := trained.Save(path); err != nil {
		t.Fatal(err)
	}
	if m := must(model.Load(path)); !slices.Equal(m.Meta.CompressionSet, set) {
		t.Errorf("the file has %v, wanted %v", m.Meta.CompressionSet, set)
	}
}
