package host_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// TestTrainTogether: trainings that are under way at once may share all that they are given, the
// parameters of the learner too, which they only read: each has the bits that it has alone. The
// race detector judges it (make race).
func TestTrainTogether(t *testing.T) {
	data, noise, _ := noisyDigits()
	data = &dataset.Dataset{Examples: data.Examples.Part(0, 200), Y: data.Y[:200],
		Classes: data.Classes}
	e := simd.New()
	for _, d := range catalog.All() {
		o := host.Options{Engine: e, Learner: d.New(), MaxSteps: 2, Preparation: "bias,l2"}
		if d.Weightless {
			o.Preparation = ""
		}
		want, err := host.Train(t.Context(), data, noise, o)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		var all [2]*host.Trained
		var wg sync.WaitGroup
		for k := range all {
			wg.Go(func() {
				var err error
				if all[k], err = host.Train(t.Context(), data, noise, o); err != nil {
					t.Errorf("%s: %v", d.Name, err)
				}
			})
		}
		wg.Wait()
		for _, m := range all {
			if m != nil && !slices.Equal(m.W, want.W) {
				t.Errorf("%s: other weights than alone", d.Name)
			}
		}
	}
}
