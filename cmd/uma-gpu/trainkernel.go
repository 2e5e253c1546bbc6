package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelmap"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Preparations of the components. Equally long ones tell classes apart better, and fit
// noise sooner if they are many (docs/kernel.md).
var (
	equalSteps = dataset.Steps{Standardize: true, L2: true}
	plainSteps = dataset.Steps{L2: true}
)

// manyComponents is which share of the examples components may come to before equally
// long ones fit noise.
const manyComponents = 0.1

// trainKernelFlags are those of train that make it nonlinear.
func trainKernelFlags() []cli.Flag {
	flags := kernelFlags()
	flags[0] = &cli.StringFlag{Name: "gamma", Value: "median",
		Usage: "`G` of rbf and poly, above 0, median (1 / median squared distance of examples), or search (the best of seven around it, by the estimated error on a fifth of the examples)"}
	return append([]cli.Flag{
		&cli.StringFlag{Name: "kernel", Usage: "learn in the feature space of this kernel `FUNCTION`, rbf, poly, linear or cosine, by kernel principal components (default: linear in the features)"},
		&cli.StringFlag{Name: "normalize-components", Value: "auto", Usage: "preparation `STEPS` of the components, as for --normalize; auto is standardize,l2, or l2 if they are more than a tenth of the examples and labels are noisy; --gamma search tries both"},
	}, flags...)
}

// fitKernel fits the kernel map to the prepared examples of d, if there is to be one, and
// puts what it makes of them in their place.
func (t *training) fitKernel(ctx context.Context, e engine.Engine, d *dataset.Dataset, matrix *confusion.Matrix, inverse *confusion.Inverse) (err error) {
	if t.kernel == nil {
		return nil
	}
	steps, auto := t.componentSteps, t.componentSteps == nil
	if auto {
		steps = []dataset.Steps{equalSteps, plainSteps}
	}
	if err := t.kernel.findMedian(e, d.Examples, t.notes); err != nil {
		return err
	}
	if t.kernel.gamma == "search" && t.kernel.options.Function.Gamma > 0 {
		best, err := t.searchKernel(ctx, e, d, matrix, steps)
		if err != nil {
			return err
		}
		t.kernel.options.Function.Gamma, steps = best.Gamma, []dataset.Steps{best.Steps}
	} else if auto && inverse.Condition > 1 && float64(t.kernel.options.Components) > manyComponents*float64(d.N) {
		steps = []dataset.Steps{plainSteps}
	}
	t.features, d.Examples, err = kernelmap.Fit(ctx, e, d.Examples, t.kernel.options, steps[0])
	if err := interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.data, adviseMemory(err))
	}
	sayBasis(t.features.Basis, t.notes)
	t.mark(&t.seconds.Kernel)
	return nil
}

// searchKernel returns the best of some values of γ around the median, with the
// preparations given.
func (t *training) searchKernel(ctx context.Context, e engine.Engine, d *dataset.Dataset, matrix *confusion.Matrix, steps []dataset.Steps) (best host.KernelTrial, err error) {
	o := &t.kernel.options
	s := host.KernelSearch{
		Options: *o, Steps: steps, Learner: &t.uma, MaxSteps: min(t.maxSteps, 300), Weights: t.weights,
		OnTrial: func(trial host.KernelTrial) {
			t.notes.say("kernel: gamma %v, %s: estimated error %.4f on the examples held out, %d components", trial.Gamma, trial.Steps, trial.EstimatedError, trial.Components)
		},
	}
	for _, factor := range []float32{0.25, 0.5, 1, 2, 4, 8, 16} {
		s.Gammas = append(s.Gammas, factor*o.Function.Gamma)
	}
	trials, at, err := s.Find(ctx, &learners.Problem{X: d.Examples, Y: d.Y, Q: len(d.Classes), Noise: matrix, Engine: e, Seed: o.Seed})
	if err != nil {
		if err := interrupted(ctx); err != nil {
			return best, err
		}
		return best, fmt.Errorf("%s: %w", t.data, err)
	}
	best = trials[at]
	t.notes.say("kernel: gamma %v, %s is taken", best.Gamma, best.Steps)
	return best, nil
}
