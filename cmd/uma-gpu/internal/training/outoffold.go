package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// OutOfFold is data with the scores of models that have not seen the example.
type OutOfFold struct {
	*Options
	Dataset *dataset.Dataset // raw, for the caller to close
	Noise   *confusion.Matrix
	Held    *judge.HeldOut
	Engine  engine.Device
}

// FitOutOfFold checks the options, reads the data and makes the trainings without each part. Labels
// of annotators become their consensus, with its C.
func FitOutOfFold(ctx context.Context, o *Options) (_ *OutOfFold, err error) {
	f, err := ReadFolded(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.Noise, err = o.ReadNoise(ctx, f.Dataset.Classes); err != nil {
		return nil, err
	}
	var consensus *confusion.Matrix
	if o.Annotators != "" {
		if consensus, err = JudgeByConsensus(ctx, o, f.Dataset); err != nil {
			return nil, err
		}
	}
	err = f.Fit(ctx)
	f.Noise = cmp.Or(f.Noise, consensus)
	return f, err
}

// ReadFolded checks the options, and reads the data and the labels of annotators.
func ReadFolded(ctx context.Context, o *Options) (*OutOfFold, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.NeedLabels {
		o.Read.Unlabelled = false
	}
	d, err := o.ReadExamples(ctx, nil)
	if err != nil {
		return nil, err
	}
	if o.Annotators != "" {
		if err := ReadAnnotations(ctx, o, d); err != nil {
			d.Close() // only read
			return nil, err
		}
	}
	return &OutOfFold{Options: o, Dataset: d}, nil
}

// Close frees the data.
func (f *OutOfFold) Close() { f.Dataset.Close() } // only read

// Fit makes the trainings.
func (f *OutOfFold) Fit(ctx context.Context) error {
	return f.Learn(ctx, func(o host.Options) (err error) {
		f.Held, err = host.OutOfFold(ctx, f.Dataset, f.Noise, o, f.Folds)
		return err
	})
}

// Learn calls learn with the options of trainings and an engine that is open meanwhile.
func (f *OutOfFold) Learn(ctx context.Context, learn func(host.Options) error) (err error) {
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	d := f.Dataset
	f.Device.Data = d.SHA256
	e, err := f.Device.Open(f.Notes, f.Work(d))
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
	return f.Failure(ctx, learn(o))
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

// Probabilities returns out-of-fold probabilities; nil if the models have none.
func (f *OutOfFold) Probabilities() ([]float32, error) {
	p, err := f.Held.Probabilities()
	if errors.Is(err, model.ErrNoTemperature) {
		return nil, nil
	}
	return p, err
}

// Told returns the probabilities, which the models must have.
func (f *OutOfFold) Told() ([]float32, error) {
	p, err := f.Held.Probabilities()
	if err != nil {
		err = fmt.Errorf("%s: %w: the models cannot tell the classes apart; give another "+
			"learner or kernel, or check the confusion matrix", f.Data.Path, err)
	}
	return p, err
}

// Issues judges the labels by the models that have not seen them.
func (f *OutOfFold) Issues() (found []estimate.Issue, err error) {
	p, err := f.Told()
	if err != nil {
		return nil, err
	}
	d := f.Dataset
	first := dataset.Firsts(d.Examples)
	if a := f.Train.Annotations; a != nil {
		return estimate.FindCrowdIssues(p, a, d.Y, first, func(i int) []confusion.Annotator {
			return f.Held.Learned[f.Held.Fold[i]].Annotators
		})
	}
	return estimate.FindIssues(p, d.Y, first, len(d.Classes), f.Noise)
}
