package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
)

// OutOfFold is data with the scores of models that have not seen the example.
type OutOfFold struct {
	*Options
	Dataset     *dataset.Dataset // raw, for the caller to close
	Noise       *confusion.Matrix
	Held        *judge.HeldOut
	EstimatedBy outoffold.NoiseMethod // "" if C was not estimated
	Engine      engine.Device
	// Suspects is what a contest of models has found; nil if the options chose the model.
	Suspects *clean.Result
}

// OutOfFold checks the options, reads the data and makes the trainings without each part. Labels of
// annotators become their consensus, and C that of it. estimates has C estimated where it is not
// given; then labels of annotators stay.
func (o *Options) OutOfFold(ctx context.Context, estimates bool) (_ *OutOfFold, err error) {
	if err := o.Check(nil); err != nil {
		return nil, err
	}
	f := &OutOfFold{Options: o}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	shared := !estimates || o.Noise.Path != "" || o.learnsNoise()
	if f.Dataset, err = o.ReadExamples(ctx, nil, shared); err != nil {
		return nil, err
	}
	if o.Annotators != "" {
		if err := o.ReadAnnotations(ctx, f.Dataset); err != nil {
			return nil, err
		}
	}
	if !shared {
		o.Notes.Say("confusion matrix: none given; it is estimated")
	} else if f.Noise, err = o.ReadNoise(ctx, f.Dataset.Classes); err != nil {
		return nil, err
	}
	var consensus *confusion.Matrix
	if o.Annotators != "" && !estimates {
		if consensus, err = o.JudgeByConsensus(ctx, f.Dataset); err != nil {
			return nil, err
		}
	}
	if err := f.Fit(ctx, !shared); err != nil {
		return nil, err
	}
	f.Noise = cmp.Or(f.Noise, consensus)
	return f, nil
}

// Close frees the data.
func (f *OutOfFold) Close() {
	if f.Dataset != nil {
		f.Dataset.Close() // only read
	}
}

// Fit makes the trainings, with a matrix that it estimates first if estimates.
func (f *OutOfFold) Fit(ctx context.Context, estimates bool) (err error) {
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	d := f.Dataset
	e, err := f.Where.Open(f.Notes, f.Work(d))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	f.Engine = e.Device()
	if err := app.CheckTraining(f.Engine, d.N, d.D, len(d.Classes)); err != nil {
		return fmt.Errorf("%s: %w", f.Data.Path, err)
	}
	o := f.Train
	o.Engine, o.Watch = e, host.Watch{Note: f.Notes.Say}
	if estimates && f.unchosen() && !d.Stored().Shared() {
		found, err := clean.Suspects(ctx, d, clean.Options{Options: o})
		if err != nil {
			return f.Failure(ctx, err)
		}
		f.Suspects, f.Noise = found, &found.Noise.Matrix
		f.EstimatedBy = outoffold.NoiseMethod(found.Noise.Method)
		f.Notes.Say("labels held out are likeliest by %s", found.By)
		return nil
	}
	if estimates {
		found, err := outoffold.EstimateNoise(ctx, d,
			outoffold.NoiseOptions{Options: o, Method: outoffold.JointLikelihood})
		if err != nil {
			return f.Failure(ctx, err)
		}
		f.Noise, f.EstimatedBy = &found.Matrix, found.Chosen
		f.Notes.Say("confusion matrix: estimated by %s", found.Chosen)
	}
	f.Held, err = outoffold.Scores(ctx, d, f.Noise, o, f.Folds)
	return f.Failure(ctx, err)
}

// unchosen says that no flag is about the model that finds wrong labels.
func (o *Options) unchosen() bool {
	return o.Annotators == "" && !slices.ContainsFunc(append(o.Learner.Names(), "learner", "kernel",
		"max-steps", "weights", "folds"), o.Given)
}

// Failure returns what went wrong with a training, with its file and what can be done about it; nil
// if err is nil and ctx has not ended.
func (o *Options) Failure(ctx context.Context, err error) error {
	file := o.Data.Path
	if inseparable := (*confusion.InseparableError)(nil); errors.As(err, &inseparable) {
		file = cmp.Or(o.Noise.Path, file)
	}
	return app.Failure(ctx, file, err)
}

// Probabilities returns those of the examples, nil if the models have none.
func (f *OutOfFold) Probabilities() ([]float32, error) {
	p, err := f.Held.Probabilities()
	if errors.Is(err, model.ErrNoTemperature) {
		return nil, nil
	}
	return p, err
}

// Issues judges the labels by the models that have not seen them, and finds equal examples.
func (f *OutOfFold) Issues() (found []estimate.Issue, same []int32, err error) {
	if f.Suspects != nil {
		return f.Suspects.Issues, f.Dataset.Firsts(), nil
	}
	p, err := f.Held.Probabilities()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: the models cannot tell the classes apart; give another "+
			"learner or kernel, or check the confusion matrix", f.Data.Path, err)
	}
	d := f.Dataset
	same = d.Firsts()
	if a := f.Train.Annotations; a != nil {
		found, err = estimate.FindCrowdIssues(p, a, d.Y, same, func(i int) []confusion.Annotator {
			return f.Held.Learned[f.Held.Fold[i]].Annotators
		})
	} else {
		found, err = estimate.FindIssues(p, d.Y, same, len(d.Classes), f.Noise)
	}
	return found, same, err
}
