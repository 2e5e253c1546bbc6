package host

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/learners"
)

// TrainStream returns the model of one pass over a stream of examples, in memory that does not
// grow with their number. W has the bits that Train gives it in one step. The learner must have a
// Definition.Stream, and the preparation must need no statistics, unless Options.From brings one.
// Kernel, Annotations, Resume, Checkpoint, HoldOut, TemperatureFolds, Time and rules other than
// learners.Last are errors.
//
// The model has no estimated error, no hash of the data and no temperature: these need a second
// pass. Counts and EstimatedError of the result count predictions made before learning
// from the example. If ctx is cancelled, TrainStream returns the model so far.
func TrainStream(ctx context.Context, s *file.Stream, noise *confusion.Matrix,
	o Options) (*Trained, error) {
	if err := checkStream(o); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	o.MaxSteps = 1
	first, err := s.Next()
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(first, noise, o)
	if err != nil {
		return nil, err
	}
	t.model.Meta.DataSHA256 = "" // it belongs to the first block
	if err := t.checkRowWise(); err != nil {
		return nil, err
	}
	if err := t.prepare(); err != nil {
		return nil, err
	}
	if err := t.model.Meta.Check(); err != nil {
		return nil, err
	}
	t.phase(Prepared)
	if err := t.open(); err != nil {
		return nil, err
	}
	w := engine.NewWeights(t.problem.Q, t.problem.X.D)
	if o.From != nil {
		copy(w.W, o.From.W)
	}
	run, err := o.Learner.Definition().Stream(t.problem, w)
	if err != nil {
		return nil, err
	}
	t.phase(Loaded)
	result := Result{W: w, Stop: MaxSteps, Inverse: t.inverse}
	for d := &t.data; ; {
		if err := run.Learn(d.Examples, d.Y); err != nil {
			return nil, err
		}
		if d, err = s.Next(); err == nil {
			err = features.PrepareBy(d, t.data.Prepared)
		}
		if ctx.Err() != nil {
			result.Stop = Interrupted
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	step, err := run.Result(w)
	if err != nil {
		return nil, err
	}
	if step.Done && result.Stop != Interrupted {
		result.Stop = Converged
	} else if !step.Done {
		result.Steps = 1
	}
	result.Counts = run.Counts()
	n := int(lists.Sum(result.Counts))
	result.EstimatedError = t.inverse.EstimatedError(result.Counts, n)
	if t.o.Watch.Step != nil && !step.Done {
		t.o.Watch.Step(Report{Step: 1, EstimatedError: result.EstimatedError, Fields: step.Fields})
	}
	t.phase(Learned)
	return &Trained{Model: t.with(w, nil, result.Steps, string(result.Stop)), Run: result}, nil
}

// checkStream returns an error for options that need an example more than once.
func checkStream(o Options) error {
	learner := o.Learner.Definition()
	switch {
	case learner.Stream == nil:
		return errors.New("found a learner that needs all examples at once, wanted one that sees one " +
			"after another, such as online.New(\"pa1\")")
	case o.Kernel != nil || o.From != nil && o.From.Projection != nil:
		return errors.New("found a kernel map for examples that come once, wanted none")
	case o.Annotations != nil || o.Resume != nil || o.Checkpoint.Path != "" ||
		o.TemperatureFolds > 0 || o.HoldOut > 0 || o.Time != 0:
		return errors.New("found annotations, a training to go on with, a checkpoint, folds or a time " +
			"for examples that come once, wanted none of these")
	case o.MaxSteps < 0 || o.MaxSteps > 1:
		return fmt.Errorf("found %d passes over examples that come once, wanted 1", o.MaxSteps)
	}
	if rule, err := learner.Rule(string(o.Weights)); err != nil || rule != learners.Last {
		return fmt.Errorf("found the rule %s for weights of a single pass, wanted %s", o.Weights,
			learners.Last)
	}
	return nil
}

// checkRowWise returns an error for a preparation that needs statistics of all examples.
func (t *trainer) checkRowWise() error {
	if t.o.From != nil {
		return nil
	}
	steps, _, err := stepsFor(&t.data, t.o.Preparation, false)
	if err == nil && (steps.Standardize || steps.MaxAbs) {
		err = fmt.Errorf("normalization %s takes statistics of all examples, which come once here; ask "+
			"for one that needs none (%s), or begin with a model that has it (%s)", steps,
			option.Named("normalize", "bias,l2"), option.Named("from"))
	}
	return err
}
