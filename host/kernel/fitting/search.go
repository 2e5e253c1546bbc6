package fitting

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
)

// ownFactors are what γ is tried at, times the median: means need narrower kernel functions
// (docs/kernel-mean.md).
var ownFactors = []float32{1, 2, 4, 8, 16, 32, 64}

// searchOwn returns the best γ for a learner with a map of its own.
func searchOwn(ctx context.Context, p *learners.Problem, l Learning, f kernel.Function) (float32,
	error) {
	var gammas []float32
	for _, factor := range ownFactors {
		gammas = append(gammas, factor*f.Gamma)
	}
	best, _, err := tryGammas(ctx, p, l, f, gammas)
	if err == nil {
		l.Note("kernel: gamma %v is taken", best)
	}
	return best, err
}

// tryGammas finds γ of a learner's own map from noisy labels. For each γ it fits the map and the
// learner to four fifths of the examples, which p.Seed chooses, and estimates the clean error on
// the rest (clause 10). It returns the first γ with the least error, and the errors. A cancelled
// ctx ends it with ctx's error.
func tryGammas(ctx context.Context, p *learners.Problem, l Learning, f kernel.Function,
	gammas []float32) (best float32, errs []float64, err error) {
	const parts = 5
	if p.X.N < parts {
		return 0, nil, fmt.Errorf("search for gamma: got %d examples, want at least %d to hold some "+
			"out; name a gamma", p.X.N, parts)
	}
	fit, rest := dataset.DivideFolds(
		dataset.DrawFolds(p.Y, p.Q, parts, p.Seed, dataset.OuterFolds), 0)
	train, err := copied(p, fit)
	if err != nil {
		return 0, nil, fmt.Errorf("search for gamma: %w", err)
	}
	test, err := copied(p, rest)
	if err != nil {
		return 0, nil, fmt.Errorf("search for gamma: %w", err)
	}
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: "search for gamma", Unit: "trial", Total: int64(len(gammas))})
	defer task.End()
	least := 0.0
	for _, gamma := range gammas {
		f.Gamma = gamma
		estimate, err := l.try(ctx, p, f, train, test)
		if ctx.Err() != nil {
			return 0, nil, ctx.Err()
		}
		if err != nil {
			return 0, nil, fmt.Errorf("search for gamma, at %v: %w", gamma, err)
		}
		if errs == nil || estimate < least {
			best, least = gamma, estimate
		}
		errs = append(errs, estimate)
		task.Add(1)
		l.Note("kernel: gamma %v: estimated error %.4f on the examples held out", gamma, estimate)
	}
	return best, errs, nil
}

// copied returns some of the examples of p.
func copied(p *learners.Problem, some []int) (sampled, error) {
	x, err := p.X.Copy(some)
	return sampled{x: x, y: lists.At(p.Y, some)}, err
}

// try maps and learns from train, and returns the estimated error on test.
func (l Learning) try(ctx context.Context, p *learners.Problem, f kernel.Function, train,
	test sampled) (estimate float64, err error) {
	basis, err := fitOwn(ctx, l.Learner, p.On(train.x, train.y), f, func(string, ...any) {})
	if err != nil {
		return 0, err
	}
	x, err := basis.Components(ctx, p.Engine, train.x)
	if err != nil {
		return 0, err
	}
	held, err := basis.Components(ctx, p.Engine, test.x)
	if err != nil {
		return 0, err
	}
	on := p.On(x, train.y)
	on.OwnMap = true
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
