package fitting

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fold"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
)

// trial is the result of the search for one γ and one preparation.
type trial struct {
	Gamma          float32
	Steps          dataset.Steps
	Components     int
	EstimatedError float64 // on the examples held out
}

// tryGammas finds γ and the preparation of the components of a kernel map from noisy labels. For
// each γ and each of steps it fits a map and a learner to four fifths of the examples, which p.Seed
// chooses, and estimates the clean error on the rest (clause 10). It returns the trials and the
// index of the first with the least error. A cancelled ctx ends it with ctx's error.
func tryGammas(ctx context.Context, p *learners.Problem, l Learning, o pca.Options,
	gammas []float32, steps []dataset.Steps) (trials []trial, best int, err error) {
	fit, rest := fold.HoldOutFifth(p.Y, p.Q, p.Seed)
	if len(rest) == 0 {
		return nil, 0, fmt.Errorf("search for gamma: no class has two examples, so none can be held " +
			"out; name a gamma")
	}
	train, err := fold.Copy(p.X, p.Y, fit)
	if err != nil {
		return nil, 0, fmt.Errorf("search for gamma: %w", err)
	}
	test, err := fold.Copy(p.X, p.Y, rest)
	if err != nil {
		return nil, 0, fmt.Errorf("search for gamma: %w", err)
	}
	// Four fifths of the examples may have fewer landmarks and components.
	o.Landmarks = min(o.Landmarks, len(fit))
	o.Components = min(o.Components, o.MostComponents(len(fit), p.X.D))
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: "search for gamma", Unit: "trial", Total: int64(len(gammas) * len(steps))})
	defer task.End()
	for _, gamma := range gammas {
		o.Function.Gamma = gamma
		fitted, held := fold.Labelled{Y: train.Y}, fold.Labelled{Y: test.Y}
		basis, err := fitBasis(ctx, l.Learner, p.On(train.X, train.Y), o, nil)
		if err == nil {
			fitted.X, err = basis.Components(ctx, p.Engine, train.X)
		}
		if err == nil {
			held.X, err = basis.Components(ctx, p.Engine, test.X)
		}
		for _, s := range steps {
			t := trial{Gamma: gamma, Steps: s}
			if err == nil {
				t.Components = basis.Axes.Q
				t.EstimatedError, err = l.try(ctx, p, s, fitted, held)
			}
			if ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			if err != nil {
				return nil, 0, fmt.Errorf("search for gamma, at %v: %w", gamma, err)
			}
			trials = append(trials, t)
			task.Add(1)
			if t.EstimatedError < trials[best].EstimatedError {
				best = len(trials) - 1
			}
			l.Note("kernel: gamma %v, %s: estimated error %.4f on the examples held out, %d components",
				t.Gamma, t.Steps, t.EstimatedError, t.Components)
		}
	}
	return trials, best, nil
}

// try learns from the components of train, prepared by steps, and returns the estimated error on
// test.
func (l Learning) try(ctx context.Context, p *learners.Problem, steps dataset.Steps, train,
	test fold.Labelled) (estimate float64, err error) {
	preparation, err := features.Fit(steps, train.X)
	if err != nil {
		return 0, err
	}
	x, err := features.Apply(preparation, train.X)
	if err != nil {
		return 0, err
	}
	held, err := features.Apply(preparation, test.X)
	if err != nil {
		return 0, err
	}
	on := p.On(x, train.Y)
	on.Bias, on.OwnMap = steps.Bias, l.Learner.Definition().FitMap != nil
	w, err := l.Learn(ctx, on, l.MaxSteps)
	if err != nil {
		return 0, err
	}
	classes, err := engine.Predict(p.Engine, w, held)
	if err != nil {
		return 0, err
	}
	inverse, err := p.Inverse()
	if err != nil {
		return 0, err
	}
	return inverse.EstimatedError(engine.Count(make([]int64, p.Q*p.Q), classes, test.Y, p.Q),
		held.N), nil
}
