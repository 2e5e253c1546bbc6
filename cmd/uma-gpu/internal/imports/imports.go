// Package imports is the command that converts coefficients of a linear classifier into a model.
package imports

import (
	"context"
	"fmt"
	"math"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/exchange"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Common
	NPZ         string // the coefficients
	Out         string
	Temperature float64 // 0 for none
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "import",
		Usage: "convert coefficients of a scikit-learn linear classifier into a model",
		Description: `The file has the arrays coef_ and classes_, and optionally intercept_ and
feature_names_in_, written by

  numpy.savez("coef.npz", coef_=clf.coef_, intercept_=clf.intercept_, classes_=clf.classes_)

Texts need .astype(str). Apply the preprocessing of clf to new data yourself. Numbers are rounded to
float32. --temperature 1 gives the probabilities of LogisticRegression; for other classifiers,
calibrate fits a temperature. The model works with predict, eval, export and train --from.

Example: uma-gpu import --npz coef.npz --out m.npz`,
		Flags: []cli.Flag{
			app.Required(app.Input(&o.NPZ, "npz", "coefficients: `FILE`.npz (required)")),
			app.Required(app.Output(&o.Out, "out", "model to write, `FILE`.npz (required)")),
			&cli.Float64Flag{Name: "temperature", DefaultText: "none", Destination: &o.Temperature,
				Usage: "`T` by which softmax divides the scores"},
			o.QuietFlag(),
		},
		Action: app.Action(o, run),
	}
}

// Run converts coefficients and writes the model.
func Run(_ context.Context, o *Options) error {
	temperature, path := float32(o.Temperature), o.NPZ
	if o.Given("temperature") && !(temperature >= 0x1p-126 && temperature <= math.MaxFloat32) {
		return app.Usage("--temperature is %v, wanted a number above 0", o.Temperature)
	}
	m, err := readCoefficients(path, temperature)
	if err != nil {
		return fmt.Errorf("coefficients %s: %w", path, err)
	}
	if err := m.Save(o.Out); err != nil {
		return err
	}
	o.Notes.Say("model: %s, %d classes × %d features", o.Out, m.Q, m.Meta.Features.Count)
	return nil
}

func readCoefficients(path string, temperature float32) (*model.Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, osfile.Cause(err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, fmt.Errorf("found %s, wanted a regular file", osfile.Kind(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, osfile.Cause(err)
	}
	defer f.Close() // only read
	return exchange.ReadCoefficients(f, info.Size(), temperature, app.Version)
}
