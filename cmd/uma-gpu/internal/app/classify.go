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
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Classified are the files of a command that predicts the classes of examples by a model.
type Classified struct {
	Model
	Data
}

// Flags returns the flags of the files, of examples that usage describes.
func (f *Classified) Flags(o *Common, usage string) []cli.Flag {
	return Flags(f.Model.Flag(), f.Data.Flags(o, usage), MatchFlag(&f.Match))
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

// Judged are the files of a command that compares a model with labels, which may be noisy.
type Judged struct {
	Classified
	Noise
}

// Flags returns the flags of the files: of examples, and of the noise of their labels.
func (f *Judged) Flags(o *Common, examples, noise string) []cli.Flag {
	return Flags(f.Classified.Flags(o, examples), f.Noise.Flags(noise))
}

// Open reads the model, the examples and the noise of their labels, nil for none. The caller closes
// the examples.
func (f *Judged) Open(ctx context.Context) (m *umagpu.Model, d *dataset.Dataset,
	noise *umagpu.Confusion, err error) {
	if m, err = umagpu.Load(f.Model.Path); err != nil {
		return nil, nil, nil, err
	}
	if d, err = f.Classified.Read(ctx, m); err != nil {
		return nil, nil, nil, err
	}
	if noise, err = f.Confusion(ctx, m.Classes()); err != nil {
		return nil, nil, nil, errors.Join(err, d.Close())
	}
	return m, d, noise, nil
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

// Training refuses a training that the host's memory cannot hold besides the examples and their
// class sums, which the engine judges itself: weights (current, kept and their sum), tables of
// pairs of classes (confusion matrix, inverse, counts, norms), and on a processor the scores.
func Training(where engine.Device, w host.Work) error {
	n, d, q := w.Data.N, w.Data.D, w.Classes
	need := memory.Sum(memory.Product(q, d, 24), memory.Product(q, q, 48))
	if where.Kind == "cpu" {
		need = memory.Sum(need, memory.Product(n, q, 4), memory.Product(n, 16))
	}
	return memory.Check(need, fmt.Sprintf("training on %d examples × %d features in %d classes", n, d,
		q))
}

// Predicting is Training for predicting and judging, with all scores in memory if scored.
func Predicting(scored bool) func(engine.Device, host.Work) error {
	return func(where engine.Device, w host.Work) error {
		n, q := w.Data.N, w.Classes
		need := memory.Product(q, q, 16) // of eval; a model holds as much
		if scored {
			need = memory.Sum(need, memory.Product(n, q, 8)) // as they came, and together
		}
		if where.Kind == "cpu" {
			need = memory.Sum(need, memory.Product(n, q, 4))
		}
		return memory.Check(need, fmt.Sprintf("predicting %d examples in %d classes", n, q))
	}
}
