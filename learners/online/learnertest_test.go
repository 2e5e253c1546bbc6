package online_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/learnertest"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

// What every learner must pass those with other parameters pass too; the catalog's test runs the
// defaults.
func TestOtherParameters(t *testing.T) {
	for name, p := range map[string]func() learners.Params{
		"perceptron last": func() learners.Params {
			p := online.NewPerceptron()
			p.NoAverage, p.NoShuffle = true, true
			return p
		},
		"random step": func() learners.Params {
			return &online.Ultraconservative{ClassWeights: learners.Equal, Step: online.StepRandom}
		},
		"copa corrected": func() learners.Params {
			return &online.Copa{Options: online.Options{Correction: online.CorrectSteps},
				Aggressiveness: 0.01}
		},
		"pa1 all": func() learners.Params {
			p := online.NewPA1()
			p.ClassWeights, p.Multiclass = learners.Balanced, online.All
			return p
		},
	} {
		d := *p().Definition()
		d.New = p
		t.Run(name, func(t *testing.T) {
			learnertest.Run(t, &d, []engine.Engine{simd.New()})
		})
	}
}
