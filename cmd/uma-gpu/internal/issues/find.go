package issues

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
)

// chosen reports whether a flag chooses the model.
func (o *Options) chosen() bool {
	return o.Annotators != "" || slices.ContainsFunc(append(o.Learner.Parameters, "learner", "kernel",
		"max-steps", "weights", "folds"), o.Given)
}

// find judges the labels of f and returns what judged them.
func (o *Options) find(ctx context.Context, f *training.OutOfFold,
) (found []estimate.Issue, by Judges, err error) {
	d := f.Dataset
	if o.Noise.Path != "" || o.Annotators != "" {
		if f.Noise, err = o.ReadNoise(ctx, d.Classes); err != nil {
			return nil, by, err
		}
	} else {
		o.Notes.Say("confusion matrix: not given, estimated")
	}
	var p []float32
	switch {
	case o.chosen():
		by.Learner, by.Folds = o.Train.Learner.Definition().Name, o.Folds
		if err := f.Fit(ctx); err != nil {
			return nil, by, err
		}
		if o.Annotators != "" {
			found, err := f.Issues()
			return found, by, err
		}
		p, err = f.Told()
	case o.Probabilities != "":
		by.Learner = "probabilities"
		p, err = app.ReadProbabilities(ctx, o.Probabilities, d)
	default:
		by.Folds = clean.DefaultFolds
	}
	if err != nil {
		return nil, by, err
	}
	var r *clean.Result
	if p != nil {
		r, err = clean.Judge(d, p, f.Noise)
		err = o.Failure(ctx, err)
	} else {
		err = f.Learn(ctx, func(with host.Options) (err error) {
			r, err = clean.Suspects(ctx, d, clean.Options{Options: with, Given: f.Noise})
			return err
		})
	}
	if err != nil {
		return nil, by, err
	}
	if by.Learner == "" {
		by.Learner = r.By
		o.Notes.Say("held-out labels are most likely by %s", r.By)
	}
	if f.Noise == nil {
		by.EstimatedBy = r.Noise.Method
	}
	return r.Issues, by, nil
}
