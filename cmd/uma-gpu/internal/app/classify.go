package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Classified are the files of a command that predicts the classes of examples by a model.
type Classified struct {
	Model
	Data
}

// Flags returns the flags of the files, of examples that usage describes.
func (f *Classified) Flags(o *Common, usage string) []cli.Flag {
	return Flags(f.Model.Flag(), f.Data.Flags(o, usage), f.MatchFlag())
}

// Read reads the examples for m; the caller closes them.
func (f *Classified) Read(ctx context.Context, m *umagpu.Model) (*dataset.Dataset, error) {
	options := f.Data.Options()
	options.MayLackLabels = f.Unlabelled
	d, err := readFor(ctx, &f.Model, &f.Data, options, m.Host())
	if err != nil && f.Unlabelled && !f.NoLabels && !errors.Is(err, fs.ErrNotExist) &&
		!errors.Is(err, ErrInterrupted) {
		err = fmt.Errorf("%w (for a file without labels, use --no-labels)", err)
	}
	return d, err
}

// readFor reads data as the features of a model, in its classes.
func readFor(ctx context.Context, m *Model, d *Data, o file.Options, of *model.Model,
) (*dataset.Dataset, error) {
	o.Classes = of.Meta.Classes
	if of.Meta.Preparation.Fills() {
		o.Storage = "dense"
	}
	return m.Read(ctx, d, o, of.Meta.Features)
}

// Predicting returns what allows the work of predicting, as CheckPredicting does.
func Predicting(scored bool) func(engine.Device, host.Work) error {
	return func(where engine.Device, w host.Work) error {
		return CheckPredicting(where, w.Data.N, w.Classes, scored)
	}
}
