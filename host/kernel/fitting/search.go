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

// gammaSearch finds γ and the preparation of the components of a kernel map from noisy labels. Each
// trial fits a map and a learner to four fifths of the examples, and estimates the clean error on
// the rest (clause 10).
type gammaSearch struct {
	PCA      pca.Options     // Function.Gamma is ignored
	Gammas   []float32       // to try, increasing; each with all Steps
	Steps    []dataset.Steps // of the components
	Learning Learning        // of each trial
	OnTrial  func(trial)     // called after each trial; may be nil
}

// trial is the result of the search for one γ and one preparation.
type trial struct {
	Gamma          float32
	Steps          dataset.Steps
	Components     int
	EstimatedError float64 // on the examples held out
}

// find makes the trials for a problem of prepared examples, whose seed chooses the fifth,
// and returns them and the place of the best, the first of those with the least estimated
// error. A cancelled ctx ends it with ctx's error.
func (s gammaSearch) find(ctx context.Context, p *learners.Problem) (trials []trial, best int,
	err error) {
	x, y := p.X, p.Y
	fit, rest := fold.HoldOutFifth(y, p.Q, p.Seed)
	if len(rest) == 0 {
		return nil, 0, fmt.Errorf("search for gamma: no class has two examples, so none can be held " +
			"out; name a gamma")
	}
	train, err := fold.Copy(x, y, fit)
	if err != nil {
		return nil, 0, fmt.Errorf("search for gamma: %w", err)
	}
	test, err := fold.Copy(x, y, rest)
	if err != nil {
		return nil, 0, fmt.Errorf("search for gamma: %w", err)
	}
	o := s.PCA
	// Four fifths of the examples may have fewer landmarks and components.
	o.Landmarks = min(o.Landmarks, len(fit))
	// 0 of a map of the learner's own
	o.Components = min(o.Components, o.MostComponents(len(fit), x.D))
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: "search for gamma", Unit: "trial", Total: int64(len(s.Gammas) * len(s.Steps))})
	defer task.End()
	for _, gamma := range s.Gammas {
		o.Function.Gamma = gamma
		fitted, held, components, err := s.components(ctx, p, o, train, test)
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if err != nil {
			return nil, 0, fmt.Errorf("search for gamma, at %v: %w", gamma, err)
		}
		for _, steps := range s.Steps {
			t := trial{Gamma: gamma, Steps: steps, Components: components}
			if t.EstimatedError, err = s.try(ctx, p, steps, fitted, held); err != nil {
				return nil, 0, fmt.Errorf("search for gamma, at %v: %w", gamma, err)
			}
			if ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			trials = append(trials, t)
			task.Add(1)
			if t.EstimatedError < trials[best].EstimatedError {
				best = len(trials) - 1
			}
			if s.OnTrial != nil {
				s.OnTrial(t)
			}
		}
	}
	return trials, best, nil
}

// components fits the map to train, and returns the components of train and test and their number.
func (s gammaSearch) components(
	ctx context.Context, p *learners.Problem, o pca.Options, train, test fold.Labelled,
) (fitted, held fold.Labelled, n int, err error) {
	basis, err := fitBasis(ctx, s.Learning.Learner, p.On(train.X, train.Y), o, nil)
	if err != nil {
		return fitted, held, 0, err
	}
	fitted.Y, held.Y = train.Y, test.Y
	if fitted.X, err = basis.Components(ctx, p.Engine, train.X); err != nil {
		return fitted, held, 0, err
	}
	held.X, err = basis.Components(ctx, p.Engine, test.X)
	return fitted, held, basis.Axes.Q, err
}

// try learns from the components of train, prepared by steps, and returns the estimated error on
// test.
func (s gammaSearch) try(
	ctx context.Context, p *learners.Problem, steps dataset.Steps, train, test fold.Labelled,
) (estimate float64, err error) {
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
	on.Bias, on.OwnMap = steps.Bias, s.Learning.Learner.Definition().FitMap != nil
	w, err := s.Learning.Learn(ctx, on, s.Learning.MaxSteps)
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
