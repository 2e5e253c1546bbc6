package host_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// Learners that cannot use annotations refuse them by name, before anything is computed; and
// annotations of other data are refused.
func TestAnnotationsRefused(t *testing.T) {
	data := &dataset.Dataset{Examples: dataset.Examples{N: 2, D: 1, X: []float32{1, -1}}, Y: []int32{0,
		1}, Classes: []string{"a", "b"}}
	of := func() *dataset.Annotations {
		return &dataset.Annotations{Classes: []string{"a", "b"}, Names: []string{"ann"},
			Start: []int{0, 1, 2}, By: []int32{0, 0}, Label: []int32{0, 1}}
	}
	train := func(learner string, a *dataset.Annotations) error {
		d, err := catalog.Find(learner)
		if err != nil {
			t.Fatal(err)
		}
		o := host.Options{Engine: cpuref.New(), Learner: d.New(), Annotations: a, MaxSteps: 1}
		_, err = host.Train(t.Context(), data, nil, o)
		return err
	}
	for _, d := range catalog.All() {
		err := train(d.Name, of())
		refused := errors.Is(err, host.ErrAnnotations) && strings.Contains(err.Error(), d.Name)
		if able := d.Name == "softmax" || d.Name == "trees"; able && err != nil || !able && !refused {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
	other := of()
	other.Classes = []string{"b", "a"}
	if err := train("softmax", other); !errors.Is(err, host.ErrClasses) {
		t.Errorf("other classes: %v", err)
	}
	other = of()
	other.Label[1] = 2
	if err := train("softmax", other); !facts.Told(err, "example 1 0 label 2") {
		t.Errorf("a label that is no class: %v", err)
	}
}
