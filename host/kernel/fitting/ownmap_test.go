package fitting_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// TestOwnMap learns rings from wrong labels by a learner with a kernel map of its own: on every
// engine and from the sparse form with equal bits, γ searched for.
func TestOwnMap(t *testing.T) {
	x, y, noise := noisyRings(t, confusion.Pairwise)
	test, want := rings(500, 2)
	var first []float32
	for _, e := range everyengine.Open(t) {
		for _, examples := range []dataset.Examples{x, x.Compressed()} {
			data := &dataset.Dataset{Examples: examples, Y: y, Classes: noise.Classes}
			var said []string
			m, err := host.Train(t.Context(), data, noise, host.Options{
				Engine: e, Learner: kernelmean.Defaults(), Preparation: "none", Seed: 3,
				Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Search: true},
				Watch:  host.Watch{Note: func(format string, _ ...any) { said = append(said, format) }},
			})
			if err != nil {
				t.Fatal(err)
			}
			if m.D != 3 || m.Projection.Landmarks.N != x.N || len(said) < 8 {
				t.Fatalf("%s: %d columns, %d landmarks, said %q", e.Device().ID, m.D, m.Projection.Landmarks.N,
					said)
			}
			s, err := m.Scores(t.Context(), e, test)
			if err != nil {
				t.Fatal(err)
			}
			if s = append(s, m.W...); first == nil {
				first = s
			}
			if !slices.Equal(s, first) {
				t.Errorf("%s: other scores", e.Device().ID)
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

// TestOwnMapRefuses: what kernel PCA is told means nothing to a learner with a map of its own.
func TestOwnMapRefuses(t *testing.T) {
	x, y := rings(60, 1)
	data := &dataset.Dataset{Examples: x, Y: y, Classes: []string{"a", "b", "c"}}
	rbf := kernel.Function{Kind: kernel.RBF, Gamma: 1}
	o := host.Options{Engine: simd.New(), Learner: uma.Defaults(), MaxSteps: 1,
		Kernel: &fitting.Options{Function: rbf, Components: 5}}
	components, err := host.Train(t.Context(), data, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]host.Options{
		"number components": {Kernel: &fitting.Options{Function: rbf, Components: 5}},
		"landmarks":         {Kernel: &fitting.Options{Function: rbf, Landmarks: 5}},
		"landmarks none":    {Kernel: &fitting.Options{Function: rbf, Landmarks: 5}},
		"preparation":       {Kernel: &fitting.Options{Function: rbf, Steps: &dataset.Steps{L2: true}}},
		"model kernel map":  {From: components.Model},
		"kernelmean":        {From: components.Model},
	} {
		o.Engine, o.Learner = simd.New(), kernelmean.Defaults()
		if _, err := host.Train(t.Context(), data, nil, o); !facts.Told(err, want) {
			t.Errorf("%v, wanted %q", err, want)
		}
	}
}
