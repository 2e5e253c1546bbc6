package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// modelFlag says which model predicts.
func modelFlag() cli.Flag {
	return inputFlag{&cli.StringFlag{Name: "model", Usage: "model that train wrote: `FILE`.npz (required)"}}
}

// matchFlag says how the features of the data are matched with those of a model.
func matchFlag() cli.Flag {
	return &cli.StringFlag{Name: "match-features", Value: "name",
		Usage: "match features with those of the model by `KEY`: name or position"}
}

// readFor reads the data of the flags for what was fitted to features f: these are
// chosen by name and brought into order, if there are names and --match-features
// agrees.
func readFor(c *cli.Context, o dataset.Options, f model.Features, n notes) (*dataset.Dataset, error) {
	how, err := oneOf(c, "match-features", "name", "position")
	if err != nil {
		return nil, err
	}
	if err := asModel(c, &o, f); err != nil {
		return nil, err
	}
	if how == "name" && len(f.Names) > 0 {
		o.FeatureNames = f.Names
	}
	d, err := readData(c.Context, c.String("data"), o, n)
	if err == nil && o.FeatureNames == nil && d.Features != nil {
		n.say("data: %s: the features are matched by position, whatever their names", d.Path)
	}
	return d, err
}

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
	options, err := dataOptions(c)
	if err != nil {
		return r, err
	}
	where, err := chooseDevice(c)
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
	n := newNotes(c)
	options.NoLabels, options.Classes = c.Bool("no-labels"), m.Meta.Classes
	if preparation.Steps.NeedsDense() && options.Storage != "narrow" {
		options.Storage = "dense"
	}
	if err := shareReading(c.String("data"), &options); err != nil {
		return r, err
	}
	if r.data, err = readFor(c, options, m.Meta.Features, n); err != nil {
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
	if err := interrupted(c.Context); err != nil {
		return r, err
	}
	todo := workOn(r.data, m.Q)
	if m.Projection != nil {
		todo = workOnComponents(r.data.N, m.D, m.Q)
		todo.shared = r.data.Stored().At.Shared() != nil
	}
	e, err := where.open(n, todo)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r.classes, r.model, r.device = m.Meta.Classes, m, e.Device()
	if err := checkPredicting(r.device, r.data.N, m.Q, scored); err != nil {
		return r, fmt.Errorf("%s: %w", r.data.Path, err)
	}
	if scored {
		r.scores, err = m.ScoresPrepared(c.Context, e, r.data)
		r.predicted = engine.Predicted(r.scores, m.Q)
	} else {
		r.predicted, err = m.PredictPrepared(c.Context, e, r.data)
	}
	if err := interrupted(c.Context); err != nil {
		return r, err
	}
	return r, err
}

// adviseNoLabels adds to an error of reading data with labels what predict can
// do if there are none.
func adviseNoLabels(c *cli.Context, err error) error {
	if c.Command.Name != "predict" || c.Bool("no-labels") || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, errInterrupted) {
		return err
	}
	return fmt.Errorf("%w (if the file has no labels, say --no-labels)", err)
}
