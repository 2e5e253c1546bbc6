package host

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelpca"
	"github.com/uma-gpu/uma-gpu/learners"
)

// GammaSearch tries values of γ for a kernel map without a clean label: a map and a
// learner are fitted to four fifths of the examples, and the clean error on the rest is
// estimated from their noisy labels (clause 10).
type GammaSearch struct {
	Options kernelpca.Options // but for Function.Gamma
	Steps   dataset.Steps     // of the components
	Gammas  []float32         // to try, increasing
	Learner func() (learners.Learner, error)
	Run     Options // OnStep is not called
	Seed    uint64  // of the choice of the fifth
	// OnTrial is called after each trial; it may be nil.
	OnTrial func(GammaTrial)
}

// GammaTrial is what one γ came to.
type GammaTrial struct {
	Gamma          float32 `json:"gamma"`
	Components     int     `json:"components"`
	EstimatedError float64 `json:"estimated_error"` // on the examples held out
}

// Find makes the trials for prepared examples x with noisy labels y and returns them and
// the place of the best, the first of those with the least estimated error. A cancelled
// ctx ends it with ctx's error.
func (s GammaSearch) Find(ctx context.Context, e engine.Engine, x dataset.Examples, y []int32) (trials []GammaTrial, best int, err error) {
	fit, rest := holdOut(y, s.Run.Inverse.Q, s.Seed)
	if len(rest) == 0 {
		return nil, 0, fmt.Errorf("search for gamma: no class has two examples, so none can be held out; name a gamma")
	}
	fitX, restX := x.Pick(fit), x.Pick(rest)
	fitY := make([]int32, len(fit))
	for k, i := range fit {
		fitY[k] = y[i]
	}
	o := s.Options
	o.Landmarks = min(o.Landmarks, len(fit))
	for _, gamma := range s.Gammas {
		o.Function.Gamma = gamma
		trial := GammaTrial{Gamma: gamma}
		if trial.Components, trial.EstimatedError, err = s.try(ctx, e, o, fitX, fitY, restX, func(i int) int32 { return y[rest[i]] }); err != nil {
			return nil, 0, fmt.Errorf("search for gamma, at %v: %w", gamma, err)
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		trials = append(trials, trial)
		if trial.EstimatedError < trials[best].EstimatedError {
			best = len(trials) - 1
		}
		if s.OnTrial != nil {
			s.OnTrial(trial)
		}
	}
	return trials, best, nil
}

func (s GammaSearch) try(ctx context.Context, e engine.Engine, o kernelpca.Options, x dataset.Examples, y []int32, rest dataset.Examples, label func(int) int32) (components int, estimate float64, err error) {
	k, z, err := FitKernelMap(e, x, o, s.Steps)
	if err != nil {
		return 0, 0, err
	}
	q := s.Run.Inverse.Q
	r, err := e.Load(z, y, q)
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	l, err := s.Learner()
	if err != nil {
		return 0, 0, err
	}
	run := s.Run
	run.OnStep = nil
	result, err := Run(ctx, r, l, run)
	if err != nil {
		return 0, 0, err
	}
	classes, err := k.Predict(e, result.W, rest)
	if err != nil {
		return 0, 0, err
	}
	counts := make([]int64, q*q)
	for i, p := range classes {
		counts[int(p)*q+int(label(i))]++
	}
	return k.Basis.Axes.Q, s.Run.Inverse.EstimatedError(counts, rest.N), nil
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
