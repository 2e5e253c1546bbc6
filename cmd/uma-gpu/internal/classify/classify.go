package classify

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

// Classified is a data file with the classes that a model gives to its examples.
type Classified struct {
	Data      *dataset.Dataset // prepared; for the caller to close
	Classes   []string         // the model's
	Predicted []int32          // class of each example
	Scores    []float32        // of each example and class, if they were asked for
	Model     *model.Model
	Device    engine.Device
}

// Classify is what predict, eval and calibrate share: it reads the model and the data of
// the flags, prepares the data as the model says, and predicts. needsScores may ask for the
// model's scores, or refuse the model. Only predict has --no-labels.
func Classify(c *cli.Context, needsScores func(*model.Model) (bool, error)) (r Classified, err error) {
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
	if r.Data, err = app.ReadFor(c, options, m.Meta.Features, n); err != nil {
		return r, AdviseNoLabels(c, err)
	}
	defer func() {
		if err != nil {
			r.Data.Close() // of what was only read: nothing to lose
		}
	}()
	if err := r.Data.PrepareBy(preparation, dataset.InPlace); err != nil {
		return r, err
	}
	if err := r.Data.CheckNarrow(); err != nil {
		return r, err
	}
	if err := app.Interrupted(c.Context); err != nil {
		return r, err
	}
	todo := device.WorkOn(r.Data, m.Q)
	if m.Projection != nil {
		todo = device.WorkOnComponents(r.Data.N, m.D, m.Q)
		todo.Shared = r.Data.Stored().At.Shared() != nil
	}
	e, err := where.Open(n, todo)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r.Classes, r.Model, r.Device = m.Meta.Classes, m, e.Device()
	if err := app.CheckPredicting(r.Device, r.Data.N, m.Q, scored); err != nil {
		return r, fmt.Errorf("%s: %w", r.Data.Path, err)
	}
	if scored {
		r.Scores, err = m.ScoresPrepared(c.Context, e, r.Data)
		r.Predicted = engine.Predicted(r.Scores, m.Q)
	} else {
		r.Predicted, err = m.PredictPrepared(c.Context, e, r.Data)
	}
	if err := app.Interrupted(c.Context); err != nil {
		return r, err
	}
	return r, err
}

// AdviseNoLabels adds to an error of reading data with labels what predict can
// do if there are none.
func AdviseNoLabels(c *cli.Context, err error) error {
	if c.Command.Name != "predict" || c.Bool("no-labels") || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, app.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%w (if the file has no labels, say --no-labels)", err)
}
