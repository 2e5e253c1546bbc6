package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// ErrNoTemperature is the error of package model with advice.
var ErrNoTemperature = fmt.Errorf("%w: fit one to held-out examples with uma-gpu calibrate",
	model.ErrNoTemperature)

// Classified is a data file with the predictions of a model.
type Classified struct {
	Data      *dataset.Dataset // prepared; the caller closes it
	Classes   []string         // the model's
	Predicted []int32          // class of each example
	Scores    []float32        // examples × classes, nil unless requested
	Model     *model.Model
	Device    engine.Device
}

// Classifier are the options of a command that predicts the classes of examples by a model.
type Classifier struct {
	Common
	Model  Model
	Data   Data
	Device Device
}

// WorkOfModel returns the work of scoring prepared examples by a model.
func WorkOfModel(m *model.Model, x dataset.Examples) Work {
	if m.Projection != nil {
		return WorkOn(x, m.D, m.Q)
	}
	return WorkOn(x, 0, m.Q)
}

// Classify loads the model, reads and prepares the data for it, and predicts. needsScores reports
// whether scores are needed, or refuses the model.
func (o *Classifier) Classify(ctx context.Context, needsScores func(*model.Model) (bool, error),
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
	o.Device.Data = r.Data.SHA256
	e, err := o.Device.Open(o.Notes, WorkOfModel(m, r.Data.Examples))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r.Classes, r.Model, r.Device = m.Meta.Classes, m, e.Device()
	if err := CheckPredicting(r.Device, r.Data.N, m.Q, scored); err != nil {
		return r, fmt.Errorf("%s: %w", r.Data.Path, err)
	}
	if scored {
		r.Scores, err = m.ScoresPrepared(ctx, e, r.Data.Examples)
		r.Predicted = engine.Predicted(r.Scores, m.Q)
	} else {
		r.Predicted, err = m.PredictPrepared(ctx, e, r.Data.Examples)
	}
	if err := Interrupted(ctx); err != nil {
		return r, err
	}
	return r, err
}

// read reads the examples and prepares them for m.
func (o *Classifier) read(ctx context.Context, m *model.Model) (*dataset.Dataset, error) {
	options := o.Data.Options()
	options.Classes, options.MayLackLabels = m.Meta.Classes, o.Data.Unlabelled
	if m.Meta.Preparation.Fills() {
		options.Storage = "dense"
	}
	d, err := o.Model.Read(ctx, &o.Data, options, m.Meta.Features)
	if err != nil {
		if o.Data.Unlabelled && !o.Data.NoLabels && !errors.Is(err, fs.ErrNotExist) &&
			!errors.Is(err, ErrInterrupted) {
			err = fmt.Errorf("%w (for a file without labels, use --no-labels)", err)
		}
		return nil, err
	}
	if err = features.PrepareBy(d, &m.Meta.Preparation, dataset.InPlace); err == nil {
		err = Interrupted(ctx)
	}
	if err != nil {
		d.Close() // only read
		return nil, err
	}
	return d, nil
}
