// Package classify reads examples and has a model predict their classes.
package classify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// ErrNoTemperature is that of package model with what to do.
var ErrNoTemperature = fmt.Errorf("%w: uma-gpu calibrate fits one to examples that were held out",
	model.ErrNoTemperature)

// Classified is a data file with the classes that a model gives to its examples.
type Classified struct {
	Data      *dataset.Dataset // prepared; for the caller to close
	Classes   []string         // the model's
	Predicted []int32          // class of each example
	Scores    []float32        // of each example and class, if they were asked for
	Model     *model.Model
	Device    engine.Device
}

type Options struct {
	app.Common
	Model  app.Model
	Data   app.Data
	Device device.Device
}

// Run reads the model and the data, prepares the data as the model says, and predicts. needsScores
// may ask for the model's scores, or refuse the model.
func (o *Options) Run(ctx context.Context, needsScores func(*model.Model) (bool, error),
) (r Classified, err error) {
	m, err := model.Load(o.Model.Path)
	if err != nil {
		return r, err
	}
	scored, err := needsScores(m)
	if err != nil {
		return r, err
	}
	if r.Data, err = o.read(ctx, m); err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			r.Data.Close() // only read
		}
	}()
	e, err := o.Device.Open(o.Notes, device.WorkOnModel(r.Data.Examples, m))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r.Classes, r.Model, r.Device = m.Meta.Classes, m, e.Device()
	if err := app.CheckPredicting(r.Device, r.Data.N, m.Q, scored); err != nil {
		return r, fmt.Errorf("%s: %w", r.Data.Path, err)
	}
	if scored {
		r.Scores, err = m.ScoresPrepared(ctx, e, r.Data.Examples)
		r.Predicted = engine.Predicted(r.Scores, m.Q)
	} else {
		r.Predicted, err = m.PredictPrepared(ctx, e, r.Data.Examples)
	}
	if err := app.Interrupted(ctx); err != nil {
		return r, err
	}
	return r, err
}

// read returns the examples, prepared for m.
func (o *Options) read(ctx context.Context, m *model.Model) (*dataset.Dataset, error) {
	options := o.Data.Options()
	options.Classes, options.MayLackLabels = m.Meta.Classes, o.Data.Unlabelled
	if m.Meta.Preparation.Fills() {
		options.Storage = "dense"
	}
	if err := device.CompareReading(o.Data.Path, &options); err != nil {
		return nil, err
	}
	d, err := o.Model.Read(ctx, &o.Data, options, m.Meta.Features)
	if err != nil {
		if o.Data.Unlabelled && !o.Data.NoLabels && !errors.Is(err, fs.ErrNotExist) &&
			!errors.Is(err, app.ErrInterrupted) {
			err = fmt.Errorf("%w (if the file has no labels, say --no-labels)", err)
		}
		return nil, err
	}
	if err = features.PrepareBy(d, &m.Meta.Preparation, dataset.InPlace); err == nil {
		err = app.Interrupted(ctx)
	}
	if err != nil {
		d.Close() // only read
		return nil, err
	}
	return d, nil
}
