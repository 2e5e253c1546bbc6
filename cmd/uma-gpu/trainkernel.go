package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// defaultComponentSteps make components equally long: the small ones tell classes apart,
// too (docs/kernel.md).
const defaultComponentSteps = "standardize,l2"

// trainKernelFlags are those of train that make it nonlinear.
func trainKernelFlags() []cli.Flag {
	flags := kernelFlags()
	flags[0] = &cli.StringFlag{Name: "gamma", Value: "median",
		Usage: "`G` of rbf and poly, above 0, median (1 / median squared distance of examples), or search (the best of seven around it, by the estimated error on a fifth of the examples)"}
	return append([]cli.Flag{
		&cli.StringFlag{Name: "kernel", Usage: "learn in the feature space of this kernel `FUNCTION`, rbf, poly, linear or cosine, by kernel principal components (default: linear in the features)"},
		&cli.StringFlag{Name: "normalize-components", Value: defaultComponentSteps, Usage: "preparation `STEPS` of the components, as for --normalize; l2 alone keeps them as different as they are"},
	}, flags...)
}

// fitKernel fits the kernel map to the prepared examples of d, if there is to be one, and
// puts what it makes of them in their place.
func (t *training) fitKernel(ctx context.Context, e engine.Engine, d *dataset.Dataset, inverse *confusion.Inverse) (err error) {
	if t.kernel == nil {
		return nil
	}
	if err := t.kernel.findMedian(e, d.Examples, t.notes); err != nil {
		return err
	}
	if t.kernel.gamma == "search" && t.kernel.options.Function.Gamma > 0 {
		if err := t.searchGamma(ctx, e, d, inverse); err != nil {
			return err
		}
	}
	if t.features, d.Examples, err = t.kernel.fit(ctx, e, d.Examples, t.componentSteps, t.notes); err != nil {
		return fmt.Errorf("%s: %w", t.data, err)
	}
	t.mark(&t.seconds.Kernel)
	return nil
}

// searchGamma sets γ to the best of some around the median.
func (t *training) searchGamma(ctx context.Context, e engine.Engine, d *dataset.Dataset, inverse *confusion.Inverse) error {
	o := &t.kernel.options
	config := t.uma
	config.Inverse = inverse
	s := host.GammaSearch{
		Options: *o, Steps: t.componentSteps, Seed: o.Seed,
		Learner: func() (learners.Learner, error) { return uma.New(config) },
		Run:     host.Options{MaxSteps: min(t.maxSteps, 300), Weights: t.weights, Inverse: inverse},
		OnTrial: func(trial host.GammaTrial) {
			t.notes.say("kernel: gamma %v: estimated error %.4f on the examples held out, %d components", trial.Gamma, trial.EstimatedError, trial.Components)
		},
	}
	for _, factor := range []float32{0.25, 0.5, 1, 2, 4, 8, 16} {
		s.Gammas = append(s.Gammas, factor*o.Function.Gamma)
	}
	trials, best, err := s.Find(ctx, e, d.Examples, d.Y)
	if err != nil {
		if err := interrupted(ctx); err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", t.data, err)
	}
	o.Function.Gamma = trials[best].Gamma
	t.notes.say("kernel: gamma %v is taken", o.Function.Gamma)
	return nil
}
