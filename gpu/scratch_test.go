//go:build linux && cgo && !noopencl

package gpu

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/synth"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// TestStepsFromScratch trains with everything recomputed and compared at each step, and
// compares the weights with cpuref's.
func TestStepsFromScratch(t *testing.T) {
	const n, d, q = 700, 30, 4
	values, labels, err := synth.Generate(t.Context(), n, d, q, 3)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range values { // classes that overlap take many steps
		values[k] += float32(2 * rng.NormFloat64())
	}
	c, err := confusion.Pairwise([]string{"a", "b", "c", "d"}, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	y, err := c.Inject(labels, 1)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := dataset.ParseSteps(dataset.DefaultSteps)
	if err != nil {
		t.Fatal(err)
	}
	raw := dataset.Examples{N: n, D: d, X: values}
	p, err := features.Fit(steps, raw)
	if err != nil {
		t.Fatal(err)
	}
	x, err := features.Apply(p, raw)
	if err != nil {
		t.Fatal(err)
	}
	train := func(e *engine.Engine) []float32 {
		p := &learners.Problem{X: x, Y: y, Q: q, Noise: c, Engine: e}
		result, err := host.Run(context.Background(), uma.Defaults(), p,
			host.RunOptions{MaxSteps: 120, Weights: learners.Average})
		if err != nil {
			t.Fatal(err)
		}
		if result.Steps < 100 {
			t.Errorf("only %d steps", result.Steps)
		}
		return result.W.W
	}
	want := train(cpuref.New())
	eachDevice(t, func(i Info) {
		for _, b := range []build{{}, {style: "gpu"}} {
			audited := engine.New(audit.Driver(openTest(t, i, Options{}, b).deviceEngine,
				simd.NewDriver(), audit.Full))
			if got := train(audited); !slices.Equal(got, want) {
				t.Errorf("%s, %+v: the weights differ from cpuref's", i.ID(), b)
			}
		}
	})
}
