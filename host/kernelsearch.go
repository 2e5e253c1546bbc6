package host

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/featuremap"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
)

// KernelSearch finds γ and the preparation of the components for a kernel map, without a
// clean label. Each trial fits a map and a learner to four fifths of the examples, and
// estimates the clean error on the rest from their noisy labels (clause 10).
type KernelSearch struct {
	Options  pca.Options     // Function.Gamma does not matter
	Gammas   []float32       // to try, increasing; each with all Steps
	Steps    []dataset.Steps // of the components
	Learner  learners.Params
	MaxSteps int           // of each trial
	Weights  learners.Rule // "" is the learner's default
	// OnTrial is called after each trial; it may be nil.
	OnTrial func(KernelTrial)
}

// KernelTrial is what a γ and a preparation came to.
type KernelTrial struct {
	Gamma          float32       `json:"gamma"`
	Steps          dataset.Steps `json:"steps"`
	Components     int           `json:"components"`
	EstimatedError float64       `json:"estimated_error"` // on the examples held out
}

// Find makes the trials for a problem of prepared examples, whose seed chooses the fifth,
// and returns them and the place of the best, the first of those with the least estimated
// error. A cancelled ctx ends it with ctx's error.
func (s KernelSearch) Find(ctx context.Context, p *learners.Problem) (trials []KernelTrial, best int, err error) {
	x, y := p.Rows(), p.Y
	fit, rest := holdOut(y, p.Q, p.Seed)
	if len(rest) == 0 {
		return nil, 0, fmt.Errorf("search for gamma: no class has two examples, so none can be held out; name a gamma")
	}
	train, release, err := keep(x, y, fit)
	defer release()
	if err != nil {
		return nil, 0, fmt.Errorf("search for gamma: %w", err)
	}
	test, release, err := keep(x, y, rest)
	defer release()
	if err != nil {
		return nil, 0, fmt.Errorf("search for gamma: %w", err)
	}
	o := s.Options
	// Four fifths of the examples may not have what is asked of all.
	o.Landmarks = min(o.Landmarks, len(fit))
	o.Components = min(o.Components, o.MostComponents(len(fit), x.D)) // 0 of a map of the learner's own
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
			trial := KernelTrial{Gamma: gamma, Steps: steps, Components: components}
			if trial.EstimatedError, err = s.try(ctx, p, steps, fitted, held); err != nil {
				return nil, 0, fmt.Errorf("search for gamma, at %v: %w", gamma, err)
			}
			if ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			trials = append(trials, trial)
			task.Add(1)
			if trial.EstimatedError < trials[best].EstimatedError {
				best = len(trials) - 1
			}
			if s.OnTrial != nil {
				s.OnTrial(trial)
			}
		}
		fitted.x.Close()
		held.x.Close()
	}
	return trials, best, nil
}

// labelled is some of the examples with their noisy labels.
type labelled struct {
	x dataset.Stored
	y []int32
}

func pick(x dataset.Stored, y []int32, which []int) labelled {
	some := labelled{x.Pick(which).Stored(), make([]int32, len(which))}
	for k, i := range which {
		some.y[k] = y[i]
	}
	return some
}

// keep is pick of so many that ranks which share the examples share these, too, until release is called.
func keep(x dataset.Stored, y []int32, which []int) (some labelled, release func(), err error) {
	kept, release, err := x.Keep(which)
	some = labelled{kept, make([]int32, len(which))}
	for k, i := range which {
		some.y[k] = y[i]
	}
	return some, release, err
}

// components fits what maps the examples for the learner to train, and returns the components of
// both, and how many they are.
func (s KernelSearch) components(
	ctx context.Context, p *learners.Problem, o pca.Options, train, test labelled,
) (fitted, held labelled, n int, err error) {
	basis, err := fitBasis(ctx, s.Learner, p.On(train.x, train.y), o, nil)
	if err != nil {
		return fitted, held, 0, err
	}
	fitted.y, held.y = train.y, test.y
	if fitted.x, err = featuremap.Components(ctx, p.Engine, basis, train.x); err != nil {
		return fitted, held, 0, err
	}
	held.x, err = featuremap.Components(ctx, p.Engine, basis, test.x)
	return fitted, held, basis.Axes.Q, err
}

// try learns from the components of train, prepared by steps, and returns the estimated
// error on those of test.
func (s KernelSearch) try(
	ctx context.Context, p *learners.Problem, steps dataset.Steps, train, test labelled,
) (estimate float64, err error) {
	preparation, err := dataset.Fit(steps, train.x)
	if err != nil {
		return 0, err
	}
	x, err := preparation.ApplyTo(train.x)
	if err != nil {
		return 0, err
	}
	defer x.Close()
	held, err := preparation.ApplyTo(test.x)
	if err != nil {
		return 0, err
	}
	defer held.Close()
	on := p.On(x, train.y)
	on.Bias, on.OwnMap = steps.Bias, hasOwnMap(s.Learner)
	result, err := Run(ctx, s.Learner, on, RunOptions{MaxSteps: s.MaxSteps, Weights: s.Weights})
	if err != nil {
		return 0, err
	}
	classes, err := engine.Predict(p.Engine, result.W, held)
	if err != nil {
		return 0, err
	}
	counts := make([]int64, p.Q*p.Q)
	for i, predicted := range classes {
		counts[int(predicted)*p.Q+int(test.y[i])]++
	}
	inverse, err := p.Inverse()
	if err != nil {
		return 0, err
	}
	return inverse.EstimatedError(counts, held.N), nil
}

// holdOut divides the examples at random in about four fifths and one fifth of each
// noisy label; both lists increase.
func holdOut(y []int32, q int, seed uint64) (fit, rest []int) {
	rng := rand.New(rand.NewPCG(seed, 0x67616d6d61)) // "gamma"
	left, of := make([]int, q), make([]int, q)
	for _, k := range y {
		of[k]++
	}
	for k, n := range of {
		left[k] = n / 5
		if n > 1 {
			left[k] = max(1, left[k])
		}
	}
	for i, k := range y {
		if rng.IntN(of[k]) < left[k] {
			rest = append(rest, i)
			left[k]--
		} else {
			fit = append(fit, i)
		}
		of[k]--
	}
	return fit, rest
}
