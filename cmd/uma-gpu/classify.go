package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// classified is a data file with the classes that a model gives to its examples.
type classified struct {
	data      *dataset.Dataset // prepared; for the caller to close
	classes   []string         // the model's
	predicted []int32          // class of each example
	scores    []float32        // of each example and class, if they were asked for
	model     *model.Model
	device    engine.Device
}

// classify is what predict, eval and calibrate share: it reads the model and the data of
// the flags, prepares the data as the model says, and predicts. needsScores may ask for the
// model's scores, or refuse the model. Only predict has --no-labels.
func classify(c *cli.Context, needsScores func(*model.Model) (bool, error)) (r classified, err error) {
	options, err := app.DataOptions(c)
	if err != nil {
		return r, err
	}
	where, err := device.Choose(c)
	if err != nil {
		return r, err
	}
	m, err := model.Load(c.String("model"))
	if err != nil {
		return r, err
	}
	scored, err := needsScores(m)
	if err != nil {
		return r, err
	}
	preparation := &m.Meta.Preparation
	n := app.NewNotes(c)
	options.NoLabels, options.Classes = c.Bool("no-labels"), m.Meta.Classes
	if preparation.Steps.NeedsDense() && options.Storage != "narrow" {
		options.Storage = "dense"
	}
	if err := device.ShareReading(c.String("data"), &options); err != nil {
		return r, err
	}
	if r.data, err = app.ReadFor(c, options, m.Meta.Features, n); err != nil {
		return r, adviseNoLabels(c, err)
	}
	defer func() {
		if err != nil {
			r.data.Close() // of what was only read: nothing to lose
		}
	}()
	if err := r.data.PrepareBy(preparation, dataset.InPlace); err != nil {
		return r, err
	}
	if err := r.data.CheckNarrow(); err != nil {
		return r, err
	}
	if err := app.Interrupted(c.Context); err != nil {
		return r, err
	}
	todo := device.WorkOn(r.data, m.Q)
	if m.Projection != nil {
		todo = device.WorkOnComponents(r.data.N, m.D, m.Q)
		todo.Shared = r.data.Stored().At.Shared() != nil
	}
	e, err := where.Open(n, todo)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r.classes, r.model, r.device = m.Meta.Classes, m, e.Device()
	if err := app.CheckPredicting(r.device, r.data.N, m.Q, scored); err != nil {
		return r, fmt.Errorf("%s: %w", r.data.Path, err)
	}
	if scored {
		r.scores, err = m.ScoresPrepared(c.Context, e, r.data)
		r.predicted = engine.Predicted(r.scores, m.Q)
	} else {
		r.predicted, err = m.PredictPrepared(c.Context, e, r.data)
	}
	if err := app.Interrupted(c.Context); err != nil {
		return r, err
	}
	return r, err
}

// adviseNoLabels adds to an error of reading data with labels what predict can
// do if there are none.
func adviseNoLabels(c *cli.Context, err error) error {
	if c.Command.Name != "predict" || c.Bool("no-labels") || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, app.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%w (if the file has no labels, say --no-labels)", err)
}
