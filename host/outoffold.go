package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// leastSettled is from how many examples on one fold's search is good enough for all.
const leastSettled = 2000

// OutOfFold returns out-of-fold scores: each example is scored by a model trained on the other
// folds, whose preparation and kernel map have not seen the example either. From leastSettled
// examples on, all trainings use the penalty that the first has found. Each fold has its share of
// every noisy label. data is only read; o.Seed draws the folds and seeds each training.
//
// o's From, Resume, Checkpoint and HoldOut must be empty. Each training is a Trial. Only the Note
// of o's Watch is called. The result has the same bits on every engine and any number of
// processors. A cancelled ctx ends it with ctx's error; other errors come from Train.
//
// With o.Annotations the labels are the annotators' votes, and each training learns their noise.
// Folds then have their shares of data's labels, if data has labels.
func OutOfFold(ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix, o Options,
	folds int) (*judge.HeldOut, error) {
	y, h, err := drawFolds(data, &o, folds)
	if err != nil {
		return nil, err
	}
	note, annotations := o.Watch.Note, o.Annotations
	o.Trial, o.Watch = true, Watch{}
	o.Memory = append(slices.Clone(o.Memory), dataset.InPlace) // the parts are copies
	spreads, steps, stops := make([]float64, folds), make([]int, folds), []string{}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "learning without each fold", Unit: "fold",
		Total: int64(folds)})
	defer task.End()
	for f := range folds {
		fit, rest := dataset.DivideFolds(h.Fold, f)
		part := *data
		part.Y, part.SHA256 = lists.At(y, fit), ""
		part.Evidence = data.Evidence.Pick(fit, h.Q)
		if annotations != nil {
			o.Annotations = annotations.Pick(fit)
		}
		var m *Trained
		if part.Examples, err = data.Copy(fit); err == nil {
			m, err = Train(ctx, &part, noise, o)
		}
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = Score(ctx, o.Engine, m.Model, data, rest, func(i int, scores []float32) {
				copy(h.Scores[i*h.Q:], scores)
			})
		}
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, folds, err)
		}
		if m.Run.Settled != nil && data.N >= leastSettled {
			o.Learner = m.Run.Settled
		}
		if m.Trees == nil { // their scores have a unit
			spreads[f] = deviation(engine.Weights{Q: m.Q, D: m.D, W: m.W})
		}
		if m.Run.Noise != nil {
			h.Learned = append(h.Learned, m.Run.Noise)
		}
		if steps[f] = m.Meta.Steps; !slices.Contains(stops, m.Meta.Stop) {
			stops = append(stops, m.Meta.Stop)
		}
		task.Add(1)
	}
	if o.Watch.Note = note; annotations != nil {
		noise = meanLearned(h, data.Classes)
	}
	o.note("%d folds: %d to %d steps, %s", folds, slices.Min(steps), slices.Max(steps),
		strings.Join(stops, " or "))
	unite(h, spreads)
	if h.Temperature, err = confusion.Temperature(ctx, h.Scores, y, h.Q, noise); err != nil {
		o.note("no probabilities: %v", err)
	}
	return h, nil
}

// Score calls use with the scores by m of some of the examples of data, which are raw or prepared
// as
// the model's were.
func Score(ctx context.Context, e *engine.Engine, m *model.Model, data *dataset.Dataset, some []int,
	use func(i int, scores []float32)) error {
	of := m.Scores
	if data.Prepared != nil {
		of = m.ScoresPrepared
	}
	for block := range slices.Chunk(some, dataset.BlockRows(data.Examples)) {
		x, err := data.Copy(block)
		if err != nil {
			return err
		}
		scores, err := of(ctx, e, x)
		if err != nil {
			return err
		}
		for k, i := range block {
			use(i, scores[k*m.Q:(k+1)*m.Q])
		}
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

// drawFolds draws the folds of data, and returns the labels that are learned.
func drawFolds(data *dataset.Dataset, o *Options, folds int) ([]int32, *judge.HeldOut, error) {
	y, q := data.Y, len(data.Classes)
	if o.Annotations != nil {
		if err := o.Annotations.Check(data.N, q); err != nil {
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
	shared := data.Y
	if len(shared) != data.N ||
		slices.ContainsFunc(shared, func(k int32) bool { return k < 0 || int(k) >= q }) {
		shared = y
	}
	return y, &judge.HeldOut{Q: q, Fold: dataset.DrawFolds(shared, q, folds, o.Seed,
		dataset.OuterFolds),
		Scores: make([]float32, data.N*q)}, nil
}

// unite brings the scores of all folds into one unit, as weights of several trainings differ in
// length: by the deviation of the weights, spreads, one for each fold.
func unite(h *judge.HeldOut, spreads []float64) {
	mean := lists.Mean(spreads)
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

// deviation returns how far the weight vectors of w are from their mean: the root of the sum
// of the squared distances. Differences of scores are in proportion to it.
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
