package host_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/localisation"
	"github.com/uma-gpu/uma-gpu/learners/online"
	"github.com/uma-gpu/uma-gpu/learners/svm"
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
	trained.Meta.CompressionSet = []int{3, 3}
	if err := trained.Save(path); !facts.Told(err, "compression_set") {
		t.Errorf("a set with an example twice: %v", err)
	}
}

// TestNoteOfIgnoredNoise: a learner that takes labels to be right says what else there is to do.
func TestNoteOfIgnoredNoise(t *testing.T) {
	data, noise, _ := noisyDigits()
	for want, o := range map[string]host.Options{
		"unless its correction is steps":        {Learner: online.New("perceptron"), MaxSteps: 1},
		"learn from labels that are made clean": {Learner: svm.Defaults(), MaxSteps: 1},
	} {
		notes := ""
		o.Engine = simd.New()
		o.Watch.Note = func(format string, args ...any) { notes += fmt.Sprintf(format, args...) + "\n" }
		must(host.Train(context.Background(), data, noise, o))
		if !strings.Contains(notes, "takes labels to be right") || !strings.Contains(notes, want) {
			t.Errorf("%s: found the notes %q, wanted %q", o.Learner.Definition().Name, notes, want)
		}
	}
}
