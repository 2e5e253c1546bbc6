package fitting_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// TestCoordinates learns rings from wrong labels by the defaults of a learner that sees no
// rotation: γ and weights are the same on every engine and from the sparse form.
func TestCoordinates(t *testing.T) {
	x, y, noise := noisyRings(t, confusion.Pairwise)
	test, want := rings(500, 2)
	var first []float32
	for _, e := range everyengine.Open(t) {
		for _, examples := range []dataset.Examples{x, x.Compressed()} {
			data := &dataset.Dataset{Examples: examples, Y: y, Classes: noise.Classes}
			m, err := host.Train(t.Context(), data, noise, host.Options{Engine: e,
				Learner: softmax.Defaults(), Preparation: "none", Seed: 3,
				Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Landmarks: 100}})
			if err != nil {
				t.Fatal(err)
			}
			k := m.Meta.Kernel
			if k.Components != k.Landmarks || k.Components > 100 || m.D != k.Components+1 {
				t.Fatalf("%s: %d columns, %+v", e.Device().ID, m.D, k)
			}
			all := append([]float32{k.Function.Gamma}, m.W...)
			if first == nil {
				first = all
			}
			if !slices.Equal(all, first) {
				t.Errorf("%s, sparse %v: other weights, gamma %v, want %v", e.Device().ID,
					examples.Sparse(), all[0], first[0])
			}
			got, err := m.Predict(t.Context(), e, test)
			if err != nil {
				t.Fatal(err)
			}
			if rate := errorRate(got, want); rate > 0.03 {
				t.Errorf("%s: error rate %v", e.Device().ID, rate)
			}
		}
	}
}
