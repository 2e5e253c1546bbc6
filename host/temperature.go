package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fold"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// The number of training examples that their own temperature is fitted to: more tell no more, and
// take longer than some trainings.
const (
	temperatureScores = 1 << 16 // examples × classes
	temperatureLeast  = 1000    // examples, whatever the number of classes
)

// temperature returns the temperature of the scores of the run's result; 0, and a note, if
// there is none. If ctx is cancelled, there are no folds.
func (t *trainer) temperature(ctx context.Context, r *Result) (float32, error) {
	folds := t.o.TemperatureFolds
	if folds > 0 && ctx.Err() != nil {
		folds = 0
		t.o.note("interrupted: the temperature was fitted without folds")
	}
	var scores []float32
	var y []int32
	var err error
	if folds == 0 {
		scores, y, err = t.ownScores(r.W)
	} else if scores, y, err = t.foldScores(ctx, r, folds); err != nil && ctx.Err() != nil {
		return t.temperature(ctx, r)
	}
	if err != nil {
		return 0, err
	}
	if len(y) == 0 {
		return 1, nil // the scores are the logarithms of odds, as the learner made them
	}
	found, err := confusion.Temperature(ctx, scores, y, t.problem.Q, t.problem.Noise)
	if err != nil {
		t.o.note("no probabilities: %v", err)
		return 0, nil
	}
	return found, nil
}

// ownScores scores examples that w was trained on, evenly chosen.
func (t *trainer) ownScores(w engine.Weights) (scores []float32, y []int32, err error) {
	n := len(t.problem.Y)
	m := min(n, max(temperatureLeast, temperatureScores/w.Q))
	which := make([]int, m)
	for k := range which {
		which[k] = k * n / m
	}
	return t.scores(w, which)
}

// scores returns the scores of some of the examples, and their labels. Examples with several
// candidate classes are left out.
func (t *trainer) scores(w engine.Weights, which []int) (scores []float32, y []int32, err error) {
	if e := t.problem.Evidence; e != nil {
		which = slices.DeleteFunc(which, func(i int) bool { return !e.One(i, w.Q) })
	}
	for block := range slices.Chunk(which, fold.BlockRows(t.problem.X)) {
		s, err := engine.Scores(t.o.Engine, w, t.problem.X.Pick(block))
		if err != nil {
			return nil, nil, err
		}
		scores, y = append(scores, s...), append(y, lists.At(t.problem.Y, block)...)
	}
	return scores, y, nil
}

// foldScores returns out-of-fold scores of the examples. Each fold is scored by weights learned
// without it, with the penalty that r has found, and scaled to the unit of r's scores, since the
// weights of several runs differ in length. A cancelled ctx ends it with ctx's error.
func (t *trainer) foldScores(ctx context.Context, r *Result, folds int,
) (scores []float32, y []int32, err error) {
	of := fold.Draw(t.problem.Y, t.problem.Q, folds, t.o.Seed, fold.Outer)
	o := RunOptions{MaxSteps: t.o.MaxSteps, Weights: t.o.Weights}
	if t.o.From != nil {
		o.From = t.o.From.W
	}
	learner := t.o.Learner
	if r.Settled != nil {
		learner = r.Settled
	}
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: "learning without each fold", Unit: "fold", Total: int64(folds)})
	defer task.End()
	for f := range folds {
		task.Reach(int64(f))
		fit, rest := fold.Divide(of, f)
		if len(rest) == 0 || len(fit) == 0 {
			continue
		}
		x, err := t.problem.X.Copy(fit)
		if err != nil {
			return nil, nil, fmt.Errorf("temperature, fold %d of %d: %w", f+1, folds, err)
		}
		on := t.problem.On(x, lists.At(t.problem.Y, fit))
		on.Evidence = t.problem.Evidence.Pick(fit, on.Q)
		run, err := Run(ctx, learner, on, o)
		if err != nil {
			return nil, nil, fmt.Errorf("temperature, fold %d of %d: %w", f+1, folds, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		unit := 1.0
		if l := fold.Deviation(run.W); l > 0 {
			unit = fold.Deviation(r.W) / l
		}
		s, labels, err := t.scores(run.W, rest)
		if err != nil {
			return nil, nil, err
		}
		for k, v := range s {
			s[k] = float32(float64(v) * unit)
		}
		scores, y = append(scores, s...), append(y, labels...)
		t.o.note("temperature: fold %d of %d, %d steps", f+1, folds, run.Steps)
	}
	return scores, y, nil
}
