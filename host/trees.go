package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// settleTrees completes the options of a training of trees, which take columns as they are.
func (o *Options) settleTrees(data *dataset.Dataset) error {
	switch {
	case o.Kernel != nil:
		return errors.New("learner trees: found a kernel function, wanted none: trees take columns as " +
			"they are")
	case o.From != nil:
		return errors.New("learner trees: found a model to begin with, wanted none: trees begin with " +
			"no tree")
	case o.MaxSteps == NoSteps:
		return errors.New("learner trees: found 0 steps, wanted at least one")
	}
	if o.Preparation == "" && data.Prepared == nil && o.Resume == nil {
		o.Preparation = dataset.Steps{}.String()
	}
	return nil
}

// agreed returns data with the probabilities of its classes by the consensus of the annotators in
// place of their votes, for trees, which learn from no votes.
func (o *Options) agreed(ctx context.Context, data *dataset.Dataset) (*dataset.Dataset, error) {
	if _, ok := o.Learner.(*trees.Params); !ok || o.Annotations == nil {
		return data, nil
	}
	if err := o.Annotations.Check(data.N, len(data.Classes)); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	found, err := crowd.Fit(ctx, o.Annotations, crowd.Options{})
	if err != nil {
		return nil, fmt.Errorf("train: annotations: %w", err)
	}
	o.note("learner trees: the consensus of the annotators (%s) is learned, as probabilities",
		found.Method)
	part := *data
	part.Y = found.Consensus
	o.Annotations = nil
	return &part, part.SetEvidence(&dataset.Evidence{Classes: found.Posterior})
}

// grow learns trees and completes the model.
func (t *trainer) grow(ctx context.Context, p *trees.Params) (*Trained, error) {
	if t.data.Encoding.HasText() {
		t.o.note("warning: learner trees learns nothing from columns of text; a linear learner does")
	}
	t.phase(Loaded)
	w := trees.Watch{Note: t.o.note, Most: t.o.MaxSteps}
	if r := t.o.Resume; r != nil {
		w.From = &trees.State{Model: r.Trees, Temperature: r.Meta.Temperature}
		if err := json.Unmarshal(r.State.Learner, &w.From.Settled); err != nil || r.Trees == nil {
			return nil, fmt.Errorf("train: %w: state: %w", ErrResume,
				errors.Join(err, learners.Check(&w.From.Settled)))
		}
	}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "growing trees", Unit: "step"})
	defer task.End()
	due, kept := t.o.Checkpoint.due(), 0 // steps of the last checkpoint
	result := Result{Stop: Converged, Inverse: t.inverse}
	w.Step = func(s *trees.State) error {
		result.Steps = s.Model.Steps()
		task.Reach(int64(result.Steps))
		if t.o.Watch.Step != nil {
			t.o.Watch.Step(Report{Step: result.Steps})
		}
		switch {
		case t.o.Checkpoint.Path == "":
		case t.o.Checkpoint.Failed:
			kept = result.Steps
		case due(result.Steps):
			if err := t.saveTrees(s); err != nil {
				return err
			}
			kept = result.Steps
		}
		switch {
		case ctx.Err() != nil:
			result.Stop = Interrupted
		case t.problem.TimeSpent() >= 1:
			result.Stop = TimeUp
		default:
			return nil
		}
		return errStop
	}
	grown, err := trees.Fit(ctx, p, t.problem, t.data.Encoding, w)
	switch {
	case err == nil || errors.Is(err, errStop):
	case grown != nil && ctx.Err() != nil:
		result.Stop = Interrupted
	default:
		return nil, t.failed(err, kept, func() error { return t.saveTrees(grown) })
	}
	result.Steps, result.Settled = grown.Model.Steps(), &grown.Settled
	if result.Stop == Converged && t.o.MaxSteps > 0 && result.Steps == t.o.MaxSteps {
		result.Stop = MaxSteps
	}
	t.countTrees(&result, grown)
	m := t.treesModel(grown, &result.EstimatedError, string(result.Stop))
	if m.State != nil && (result.Stop == Converged || result.Stop == MaxSteps) {
		m.State = nil
	}
	if t.o.Trial {
		t.phase(Learned)
		return &Trained{Model: m, Run: result, Given: t.inverse, HeldOut: t.held}, nil
	}
	return t.judged(ctx, m, result)
}

// treesModel returns the model of a fit of trees, with what it continues from.
func (t *trainer) treesModel(s *trees.State, estimate *float64, stop string) *model.Model {
	m := t.model
	m.SetTrees(s.Model)
	m.Meta.EstimatedError, m.Meta.Steps, m.Meta.Stop = estimate, s.Model.Steps(), stop
	m.Meta.Temperature = s.Temperature
	t.setDevice(&m)
	settled, _ := json.Marshal(s.Settled) // plain numbers and names, which cannot fail
	m.State = &model.State{Steps: m.Meta.Steps, Learner: settled}
	return &m
}

// saveTrees writes a checkpoint.
func (t *trainer) saveTrees(s *trees.State) error {
	return t.treesModel(s, nil, "checkpoint").Save(t.o.Checkpoint.Path)
}

// countTrees counts the training examples by prediction and noisy label, and estimates the error.
func (t *trainer) countTrees(r *Result, s *trees.State) {
	x, q, scores := t.problem.X, t.problem.Q, s.Scores
	if scores == nil {
		scores = make([]float32, x.N*q)
		s.Model.Scores(scores, x, t.model.Confusion)
	}
	predicted := engine.Predicted(scores, q)
	r.Counts = make([]int64, q*q)
	engine.Count(r.Counts, predicted, t.problem.Evidence.Labels(predicted, t.problem.Y, q), q)
	r.EstimatedError = t.inverse.EstimatedError(r.Counts, x.N)
}
