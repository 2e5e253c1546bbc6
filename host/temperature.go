package host

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// MostFolds is the largest Options.TemperatureFolds.
const MostFolds = 100

// How much of the training examples their own temperature is fitted to: more tells nothing
// more, and takes longer than some trainings.
const (
	temperatureScores = 1 << 16 // examples × classes
	temperatureLeast  = 1000    // examples, whatever the number of classes
	temperatureBlock  = 1 << 22 // values of the examples that are copied at a time
)

// checkFolds judges Options.TemperatureFolds.
func checkFolds(k int) error {
	if k != 0 && (k < 2 || k > MostFolds) {
		return fmt.Errorf("found %d folds for the temperature, wanted 2 to %d, or 0 for none", k, MostFolds)
	}
	return nil
}

// temperature returns the temperature of the scores of w, the result of the run; 0, and a
// note, if there is none. A cancelled ctx makes it as if there were no folds.
func (t *training) temperature(ctx context.Context, w engine.Weights) (float32, error) {
	folds := t.TemperatureFolds
	if folds > 0 && ctx.Err() != nil {
		folds = 0
		t.note("interrupted: the temperature was fitted without folds")
	}
	var scores []float32
	var y []int32
	var err error
	if folds == 0 {
		scores, y, err = t.ownScores(w)
	} else if scores, y, err = t.foldScores(ctx, w, folds); err != nil && ctx.Err() != nil {
		return t.temperature(ctx, w)
	}
	if err != nil {
		return 0, err
	}
	found, err := confusion.Temperature(ctx, scores, y, t.problem.Q, t.problem.Noise)
	if err != nil {
		t.note("no probabilities: %v", err)
		return 0, nil
	}
	return found, nil
}

// ownScores scores examples that w was trained on, evenly chosen.
func (t *training) ownScores(w engine.Weights) (scores []float32, y []int32, err error) {
	n := len(t.problem.Y)
	m := min(n, max(temperatureLeast, temperatureScores/w.Q))
	which := make([]int, m)
	for k := range which {
		which[k] = k * n / m
	}
	return t.scores(w, which)
}

// scores returns the scores of some of the examples, and their labels.
func (t *training) scores(w engine.Weights, which []int) (scores []float32, y []int32, err error) {
	for block := range slices.Chunk(which, max(1, temperatureBlock/w.D)) {
		some := pick(t.problem.Rows(), t.problem.Y, block)
		s, err := engine.Scores(t.Engine, w, some.x)
		if err != nil {
			return nil, nil, err
		}
		scores, y = append(scores, s...), append(y, some.y...)
	}
	return scores, y, nil
}

// foldScores cuts the examples in folds, learns without each of them as w was learned, and
// returns the scores that each fold gets, in the unit of w's scores: the weights of several
// runs differ in length. A cancelled ctx ends it with ctx's error.
func (t *training) foldScores(
	ctx context.Context, w engine.Weights, folds int,
) (scores []float32, y []int32, err error) {
	of := foldsOf(t.problem.Y, t.problem.Q, folds, t.Seed)
	o := RunOptions{MaxSteps: t.MaxSteps, Weights: t.Weights}
	if t.From != nil {
		o.From = t.From.W
	}
	ctx, task := progress.Begin(ctx, foldWork(folds))
	defer task.End()
	for f := range folds {
		task.Reach(int64(f))
		var fit, rest []int
		for i, k := range of {
			if k == f {
				rest = append(rest, i)
			} else {
				fit = append(fit, i)
			}
		}
		if len(rest) == 0 || len(fit) == 0 {
			continue
		}
		some, release, err := keep(t.problem.Rows(), t.problem.Y, fit)
		defer release() // of what ranks share; the collector takes the rest before
		if err != nil {
			return nil, nil, fmt.Errorf("temperature, fold %d of %d: %w", f+1, folds, err)
		}
		run, err := Run(ctx, t.Learner, t.problem.On(some.x, some.y), o)
		if err != nil {
			return nil, nil, fmt.Errorf("temperature, fold %d of %d: %w", f+1, folds, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		unit := 1.0
		if l := deviation(run.W); l > 0 {
			unit = deviation(w) / l
		}
		s, labels, err := t.scores(run.W, rest)
		if err != nil {
			return nil, nil, err
		}
		for k, v := range s {
			s[k] = float32(float64(v) * unit)
		}
		scores, y = append(scores, s...), append(y, labels...)
		t.note("temperature: fold %d of %d, %d steps", f+1, folds, run.Steps)
	}
	return scores, y, nil
}

// foldsOf returns the fold of each example, 0..folds-1: at random, but each noisy label's
// examples are shared out evenly.
func foldsOf(y []int32, q, folds int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 0x666f6c64)) // "fold"
	next, of := make([]int, q), make([]int, len(y))
	for k := range next {
		next[k] = rng.IntN(folds)
	}
	for _, i := range rng.Perm(len(y)) {
		k := y[i]
		of[i] = next[k] % folds
		next[k]++
	}
	return of
}

// deviation returns how far the weight vectors of w are from their mean: the root of the sum
// of the squared distances, to which differences of scores are in proportion.
func deviation(w engine.Weights) float64 {
	sum := 0.0
	for j := range w.D {
		mean := 0.0
		for r := range w.Q {
			mean += float64(w.W[r*w.D+j])
		}
		mean /= float64(w.Q)
		for r := range w.Q {
			v := float64(w.W[r*w.D+j]) - mean
			sum += float64(v * v)
		}
	}
	return math.Sqrt(sum)
}
