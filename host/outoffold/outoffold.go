// Package outoffold computes out-of-fold scores, and estimates the confusion matrix from them.
package outoffold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fold"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// leastSettled is from how many examples on one fold's search is good enough for all.
const leastSettled = 2000

// Scores returns out-of-fold scores: each example is scored by a model trained on the other folds,
// whose preparation and kernel map have not seen the example either. From leastSettled examples on,
// all trainings use the penalty that the first has found. Each fold has its share of every noisy
// label. data is only read; o.Seed draws the folds and seeds each training.
//
// o's From, Resume, Checkpoint and HoldOut must be empty. Each training is a Trial. Only the Note
// of o's Watch is called. The result has the same bits on every engine and any number of
// processors. A cancelled ctx ends it with ctx's error; other errors come from host.Train.
//
// With o.Annotations the labels are the annotators' votes, and each training learns their noise.
// Folds then have their shares of data's labels, if data has labels.
func Scores(
	ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix, o host.Options, folds int,
) (*judge.HeldOut, error) {
	labelled, h, err := newHeldOut(data, o, folds)
	if err != nil {
		return nil, err
	}
	note := o.Watch.Note
	o.Trial, o.Watch = true, host.Watch{}
	spreads, steps, stops := make([]float64, folds), make([]int, folds), []string{}
	if err := eachFold(ctx, folds, func(ctx context.Context, f int) error {
		m, err := train(ctx, h, labelled, noise, o, f)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if m.Run.Settled != nil && data.N >= leastSettled {
			o.Learner = m.Run.Settled
		}
		spreads[f] = fold.Deviation(engine.Weights{Q: m.Q, D: m.D, W: m.W})
		if m.Run.Noise != nil {
			h.Learned = append(h.Learned, m.Run.Noise)
		}
		if steps[f] = m.Meta.Steps; !slices.Contains(stops, m.Meta.Stop) {
			stops = append(stops, m.Meta.Stop)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if note != nil {
		note("%d folds: %d to %d steps, %s", folds, slices.Min(steps), slices.Max(steps),
			strings.Join(stops, " or "))
	}
	if o.Annotations != nil {
		noise = meanLearned(h, data.Classes)
	}
	finish(ctx, h, spreads, labelled.Y, noise, note)
	return h, nil
}

// eachFold calls learn for each fold, and reports how many are done.
func eachFold(ctx context.Context, folds int, learn func(ctx context.Context, f int) error) error {
	ctx, task := progress.Begin(ctx, progress.Work{Name: "learning without each fold", Unit: "fold",
		Total: int64(folds)})
	defer task.End()
	for f := range folds {
		if err := cmp.Or(learn(ctx, f), ctx.Err()); err != nil {
			return fmt.Errorf("fold %d of %d: %w", f+1, folds, err)
		}
		task.Add(1)
	}
	return nil
}

// meanLearned returns the mean of the matrices that the trainings have learned; nil for none.
func meanLearned(h *judge.HeldOut, classes []string) *confusion.Matrix {
	if h.Learned == nil {
		return nil
	}
	m := &confusion.Matrix{Classes: classes, P: make([]float64, h.Q*h.Q)}
	for k := range m.P {
		for _, l := range h.Learned {
			m.P[k] += l.P[k]
		}
		m.P[k] /= float64(len(h.Learned))
	}
	return m
}

// newHeldOut draws the folds of data, and returns it with the labels that are learned.
func newHeldOut(data *dataset.Dataset, o host.Options, folds int,
) (*dataset.Dataset, *judge.HeldOut, error) {
	h := &judge.HeldOut{Q: len(data.Classes)}
	y := data.Y
	if o.Annotations != nil {
		if err := o.Annotations.Check(data.N, h.Q); err != nil {
			return nil, nil, fmt.Errorf("out of fold: %w", err)
		}
		y = o.Annotations.Votes(o.Seed)
	}
	switch {
	case o.From != nil || o.Resume != nil || o.Checkpoint.Path != "" || o.HoldOut > 0:
		return nil, nil, errors.New("out of fold: found a model to begin with or a checkpoint, wanted " +
			"neither: they may have seen all examples")
	case folds < 2 || folds > judge.MostFolds || folds > data.N:
		return nil, nil, fmt.Errorf("out of fold: found %d folds for %d examples, wanted 2 to %d", folds,
			data.N, min(judge.MostFolds, data.N))
	case len(y) != data.N:
		return nil, nil, fmt.Errorf("out of fold: found %d labels of %d examples, wanted one for each",
			len(y), data.N)
	}
	labelled := *data
	labelled.Y = y
	shared := y
	if ofClasses(data.Y, data.N, h.Q) {
		shared = data.Y
	}
	h.Fold, h.Scores = fold.Draw(shared, h.Q, folds, o.Seed, fold.Outer), make([]float32, data.N*h.Q)
	return &labelled, h, nil
}

// ofClasses says whether y are labels of n examples and q classes.
func ofClasses(y []int32, n, q int) bool {
	return len(y) == n && !slices.ContainsFunc(y, func(k int32) bool { return k < 0 || int(k) >= q })
}

// finish brings the scores into one unit and fits their temperature to the labels y. spreads are
// the deviations of the folds' weights.
func finish(
	ctx context.Context, h *judge.HeldOut, spreads []float64, y []int32, noise *confusion.Matrix,
	note func(string, ...any)) {
	unite(h, spreads)
	var err error
	if h.Temperature, err = confusion.Temperature(ctx, h.Scores, y, h.Q, noise); err != nil &&
		note != nil {
		note("no probabilities: %v", err)
	}
}

// part returns the data without fold f, and the examples outside and inside it.
func part(h *judge.HeldOut, data *dataset.Dataset, f int,
) (part *dataset.Dataset, fit, rest []int, err error) {
	fit, rest = fold.Divide(h.Fold, f)
	some, err := fold.Copy(data.Examples, data.Y, fit)
	without := *data
	without.Examples = some.X
	without.Y, without.SHA256 = some.Y, ""
	without.Evidence = data.Evidence.Pick(fit, len(data.Classes))
	return &without, fit, rest, err
}

// train learns without fold f and scores it.
func train(ctx context.Context, h *judge.HeldOut, data *dataset.Dataset, noise *confusion.Matrix,
	o host.Options, f int) (*host.Trained, error) {
	without, fit, rest, err := part(h, data, f)
	if err != nil {
		return nil, err
	}
	if o.Annotations != nil {
		o.Annotations = o.Annotations.Pick(fit)
	}
	o.Memory = append(slices.Clone(o.Memory), dataset.InPlace) // the part is a copy
	m, err := host.Train(ctx, without, noise, o)
	if err != nil {
		return nil, err
	}
	for block := range slices.Chunk(rest, fold.BlockRows(data.Examples)) {
		if err := score(ctx, h, data, o.Engine, m.Model, block); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// score enters what m says of some examples.
func score(
	ctx context.Context, h *judge.HeldOut, data *dataset.Dataset, e *engine.Engine, m *model.Model,
	which []int) error {
	x, err := data.Copy(which)
	if err != nil {
		return err
	}
	var s []float32
	if data.Prepared == nil {
		s, err = m.Scores(ctx, e, x)
	} else {
		s, err = m.ScoresPrepared(ctx, e, x)
	}
	if err != nil {
		return err
	}
	for k, i := range which {
		copy(h.Scores[i*h.Q:], s[k*h.Q:(k+1)*h.Q])
	}
	return nil
}

// unite brings the scores of all folds into one unit, as weights of several trainings differ in
// length: by the deviation of the weights, spreads, one for each fold.
func unite(h *judge.HeldOut, spreads []float64) {
	mean := lists.Sum(spreads)
	mean /= float64(len(spreads))
	for i, f := range h.Fold {
		if spreads[f] == 0 {
			continue
		}
		unit := mean / spreads[f]
		for k, s := range h.Scores[i*h.Q : (i+1)*h.Q] {
			h.Scores[i*h.Q+k] = float32(float64(s) * unit)
		}
	}
}
