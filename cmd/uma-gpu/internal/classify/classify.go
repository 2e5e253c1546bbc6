// Package classify reads examples and has a model predict their classes: what predict, eval and
// calibrate share.
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

// Classified is a data file with the classes that a model gives to its examples.
type Classified struct {
	Data      *dataset.Dataset // prepared; for the caller to close
	Classes   []string         // the model's
	Predicted []int32          // class of each example
	Scores    []float32        // of each example and class, if they were asked for
	Model     *model.Model
	Device    engine.Device
}

// Options are the options of a model and of the examples that it classifies.
type Options struct {
	app.Common
	Model  app.Model
	Data   app.Data
	Device device.Options
	// Unlabelled says that the command has --no-labels.
	Unlabelled bool
}

// Run reads the model and the data, prepares the data as the model says, and predicts. needsScores
// may ask for the model's scores, or refuse the model.
func (o *Options) Run(ctx context.Context, needsScores func(*model.Model) (bool, error),
) (r Classified, err error) {
	options, err := o.Data.Options()
	if err != nil {
		return r, err
	}
	where, err := o.Device.Choose()
	if err != nil {
		return r, err
	}
	m, err := model.Load(o.Model.Path)
	if err != nil {
		return r, err
	}
	scored, err := needsScores(m)
	if err != nil {
		return r, err
	}
	preparation := &m.Meta.Preparation
	options.Classes = m.Meta.Classes
	if preparation.Steps.NeedsDense() && options.Storage != "narrow" {
		options.Storage = "dense"
	}
	if err := device.ShareReading(o.Data.Path, &options); err != nil {
		return r, err
	}
	if r.Data, err = o.Model.Read(ctx, &o.Data, options, m.Meta.Features); err != nil {
		return r, o.adviseNoLabels(err)
	}
	defer func() {
		if err != nil {
			r.Data.Close() // of what was only read: nothing to lose
		}
	}()
	if err := features.PrepareBy(r.Data, preparation, dataset.InPlace); err != nil {
		return r, err
	}
	if err := r.Data.CheckNarrow(); err != nil {
		return r, err
	}
	if err := app.Interrupted(ctx); err != nil {
		return r, err
	}
	todo := device.WorkOn(r.Data, m.Q)
	if m.Projection != nil {
		todo = device.WorkOnComponents(r.Data.N, m.D, m.Q)
		todo.Shared = r.Data.Stored().At.Shared() != nil
	}
	e, err := where.Open(o.Notes, todo)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r.Classes, r.Model, r.Device = m.Meta.Classes, m, e.Device()
	if err := app.CheckPredicting(r.Device, r.Data.N, m.Q, scored); err != nil {
		return r, fmt.Errorf("%s: %w", r.Data.Path, err)
	}
	if scored {
		r.Scores, err = m.ScoresPrepared(ctx, e, r.Data)
		r.Predicted = engine.Predicted(r.Scores, m.Q)
	} else {
		r.Predicted, err = m.PredictPrepared(ctx, e, r.Data)
	}
	if err := app.Interrupted(ctx); err != nil {
		return r, err
	}
	return r, err
}

// DataFor returns the examples, prepared for m. The caller closes them.
func (o *Options) DataFor(ctx context.Context, m *model.Model) (*dataset.Dataset, error) {
	options, err := o.Data.Options()
	if err != nil {
		return nil, err
	}
	options.Classes = m.Meta.Classes
	if m.Meta.Preparation.Steps.NeedsDense() {
		options.Storage = "dense"
	}
	d, err := o.Model.Read(ctx, &o.Data, options, m.Meta.Features)
	if err != nil {
		return nil, err
	}
	if err := features.PrepareBy(d, &m.Meta.Preparation); err != nil {
		d.Close() // of what was only read: nothing to lose
		return nil, err
	}
	return d, nil
}

// adviseNoLabels adds to an error of reading data with labels what to do if there are none, where
// the command has --no-labels.
func (o *Options) adviseNoLabels(err error) error {
	if !o.Unlabelled || o.Data.NoLabels || errors.Is(err, fs.ErrNotExist) || errors.Is(err,
		app.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%w (if the file has no labels, say --no-labels)", err)
}

// AdviseCalibrate adds to the error of a model without a temperature how to fit one.
func AdviseCalibrate(err error) error {
	if !errors.Is(err, model.ErrNoTemperature) {
		return err
	}
	return fmt.Errorf("%w: uma-gpu calibrate fits one to examples that were held out", err)
}
