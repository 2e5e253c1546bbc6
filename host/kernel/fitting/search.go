package fitting

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
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
	const parts = 5
	if p.X.N < parts {
		return nil, 0, fmt.Errorf("search for gamma: got %d examples, want at least %d to hold some "+
			"out; name a gamma", p.X.N, parts)
	}
	fit, rest := dataset.DivideFolds(
		dataset.DrawFolds(p.Y, p.Q, parts, p.Seed, dataset.OuterFolds), 0)
	train, err := copied(p, fit)
	if err != nil {
		return nil, 0, fmt.Errorf("search for gamma: %w", err)
	}
	test, err := copied(p, rest)
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
		fitted, held := sampled{y: train.y}, sampled{y: test.y}
		basis, err := fitBasis(ctx, l.Learner, p.On(train.x, train.y), o, nil)
		if err == nil {
			fitted.x, err = basis.Components(ctx, p.Engine, train.x)
		}
		if err == nil {
			held.x, err = basis.Components(ctx, p.Engine, test.x)
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

// copied returns some of the examples of p.
func copied(p *learners.Problem, some []int) (sampled, error) {
	x, err := p.X.Copy(some)
	return sampled{x: x, y: lists.At(p.Y, some)}, err
}

// try learns from the components of train, prepared by steps, and returns the estimated error on
// test.
func (l Learning) try(ctx context.Context, p *learners.Problem, steps dataset.Steps, train,
	test sampled) (estimate float64, err error) {
	preparation, err := features.Fit(steps, train.x)
	if err != nil {
		return 0, err
	}
	x, err := features.Apply(preparation, train.x)
	if err != nil {
		return 0, err
	}
	held, err := features.Apply(preparation, test.x)
	if err != nil {
		return 0, err
	}
	on := p.On(x, train.y)
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
	return inverse.EstimatedError(engine.Count(make([]int64, p.Q*p.Q), classes, test.y, p.Q),
		held.N), nil
}
