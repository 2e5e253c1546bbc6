package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// HeldOut is what models say of examples that they have not seen.
type HeldOut struct {
	Q      int
	Fold   []int     // of each of the n examples, 0..folds-1: its model has learned from the others
	Scores []float32 // n×Q row-major, those of all folds in one unit
	// Temperature is that of the Scores, fitted to all of them; 0 if they say nothing of the labels.
	Temperature float32
	// Learned is what the training without each fold has found out of the noise; nil if the learner
	// does not find out any.
	Learned []*confusion.Learned
}

// Probabilities returns softmax(Scores / Temperature), n×Q row-major: the probability that an
// example is of each class. Of a training without a confusion matrix the classes are noisy
// labels, else true ones. The error is model.ErrNoTemperature.
func (h *HeldOut) Probabilities() ([]float32, error) {
	p := slices.Clone(h.Scores)
	m := model.Model{Q: h.Q, Meta: model.Meta{Temperature: h.Temperature}}
	return p, m.ToProbabilities(p)
}

// OutOfFold cuts the examples of data at random in folds, of which each has its share of every
// noisy label, and scores those of each fold by a model that Train makes of all others: its
// preparation and its kernel map have not seen them either. data is only read; o.Seed draws the
// folds, and goes to each training. noise is as Train takes it.
//
// o's From, Resume and Checkpoint have to be empty, and its TemperatureFolds does not count. Of
// its Watch only Note is called. The result has the same bits on every engine and any number of
// processors. A cancelled ctx ends it with ctx's error; other errors are those of Train.
//
// With o.Annotations the labels are the annotators' votes, and noisy as the trainings find out, each
// of the examples that it has seen. Folds have their shares of data's labels, if it has some.
func OutOfFold(
	ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix, o Options, folds int,
) (*HeldOut, error) {
	labelled, h, err := newHeldOut(data, o, folds)
	if err != nil {
		return nil, err
	}
	note := o.Watch.Note
	o.TemperatureFolds, o.Watch = 0, Watch{}
	fitting := ctx
	ctx, task := progress.Begin(ctx, foldWork(folds))
	defer task.End()
	spreads := make([]float64, folds)
	for f := range folds {
		m, err := h.train(ctx, labelled, noise, o, f)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, folds, err)
		}
		spreads[f] = deviation(engine.Weights{Q: m.Q, D: m.D, W: m.W})
		if m.Run.Noise != nil {
			h.Learned = append(h.Learned, m.Run.Noise)
		}
		if note != nil {
			note("fold %d of %d: %d steps, %s", f+1, folds, m.Meta.Steps, m.Meta.Stop)
		}
		task.Add(1)
	}
	if o.Annotations != nil {
		noise = h.meanLearned(data.Classes)
	}
	task.End()
	h.finish(fitting, spreads, labelled.Y, noise, note)
	return h, nil
}

// foldWork is that of as many trainings as there are folds.
func foldWork(folds int) progress.Work {
	return progress.Work{Name: "learning without each fold", Unit: "fold", Total: int64(folds)}
}

// meanLearned returns the mean of the matrices that the trainings have found of their labels, nil for none.
func (h *HeldOut) meanLearned(classes []string) *confusion.Matrix {
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
func newHeldOut(data *dataset.Dataset, o Options, folds int) (*dataset.Dataset, *HeldOut, error) {
	h := &HeldOut{Q: len(data.Classes)}
	y := data.Y
	if o.Annotations != nil {
		if err := o.Annotations.Check(data.N, h.Q); err != nil {
			return nil, nil, fmt.Errorf("out of fold: %w", err)
		}
		y = o.Annotations.Votes(o.Seed)
	}
	switch {
	case o.From != nil || o.Resume != nil || o.Checkpoint.Path != "":
		return nil, nil, errors.New("out of fold: found a model to begin with or a checkpoint, wanted neither: " +
			"they may have seen all examples")
	case folds < 2 || folds > MostFolds || folds > data.N:
		return nil, nil, fmt.Errorf("out of fold: found %d folds for %d examples, wanted 2 to %d", folds, data.N,
			min(MostFolds, data.N))
	case len(y) != data.N:
		return nil, nil, fmt.Errorf("out of fold: found %d labels of %d examples, wanted one for each", len(y), data.N)
	}
	labelled := *data
	labelled.Y = y
	shared := y
	if ofClasses(data.Y, data.N, h.Q) {
		shared = data.Y
	}
	h.Fold, h.Scores = foldsOf(shared, h.Q, folds, o.Seed), make([]float32, data.N*h.Q)
	return &labelled, h, nil
}

// ofClasses says whether y are labels of n examples and q classes.
func ofClasses(y []int32, n, q int) bool {
	return len(y) == n && !slices.ContainsFunc(y, func(k int32) bool { return k < 0 || int(k) >= q })
}

// finish makes scores and temperature of what the folds' models have said, of labels y. spreads are
// the deviations of their weights.
func (h *HeldOut) finish(
	ctx context.Context, spreads []float64, y []int32, noise *confusion.Matrix, note func(string, ...any),
) {
	h.unite(spreads)
	var err error
	if h.Temperature, err = confusion.Temperature(ctx, h.Scores, y, h.Q, noise); err != nil && note != nil {
		note("no probabilities: %v", err)
	}
}

// part returns the data without fold f, until release is called, and the examples of it.
func (h *HeldOut) part(
	data *dataset.Dataset, f int,
) (part *dataset.Dataset, fit, rest []int, release func(), err error) {
	for i, k := range h.Fold {
		if k == f {
			rest = append(rest, i)
		} else {
			fit = append(fit, i)
		}
	}
	some, release, err := keep(data.Stored(), data.Y, fit)
	without := *data
	without.Put(some.x)
	without.Y, without.SHA256 = some.y, ""
	return &without, fit, rest, release, err
}

// train learns without fold f and scores it.
func (h *HeldOut) train(
	ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix, o Options, f int,
) (*Trained, error) {
	part, fit, rest, release, err := h.part(data, f)
	defer release()
	if err != nil {
		return nil, err
	}
	if o.Annotations != nil {
		o.Annotations = o.Annotations.Pick(fit)
	}
	o.InPlace = true // part is a copy
	m, err := Train(ctx, part, noise, o)
	if err != nil {
		return nil, err
	}
	size := max(1, temperatureBlock/max(1, data.D))
	if data.Stored().At.Shared() != nil {
		size = len(rest) // of which each rank has some
	}
	for block := range slices.Chunk(rest, max(1, size)) {
		if err := h.score(ctx, data, o.Engine, m.Model, block); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// score enters what m says of some examples.
func (h *HeldOut) score(
	ctx context.Context, data *dataset.Dataset, e engine.Engine, m *model.Model, which []int,
) error {
	x, release, err := data.Stored().Keep(which)
	defer release()
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
// length: by that of the weights' deviation, of which spreads has one for each fold.
func (h *HeldOut) unite(spreads []float64) {
	mean := 0.0
	for _, s := range spreads {
		mean += s
	}
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
