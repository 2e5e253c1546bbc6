package export

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

type ImportOptions struct {
	app.Common
	Coefficients string // file
	Out          string
	Temperature  float64 // 0 for none
}

// NewImport returns the command import.
func NewImport(run func(context.Context, *ImportOptions) error) *cli.Command {
	o := new(ImportOptions)
	return &cli.Command{
		Name:  "import",
		Usage: "convert coefficients of a scikit-learn linear classifier into a model",
		Description: `The file is JSON with coef_ and classes_, and optionally intercept_ and feature_names_in_,
written by

  json.dump({name: getattr(clf, name).tolist() for name in ["coef_", "intercept_", "classes_"]},
            open("coef.json", "w"))

Apply the preprocessing of clf to new data yourself. Numbers are rounded to float32. --temperature 1
gives the probabilities of LogisticRegression; for other classifiers, calibrate fits a temperature.
The model works with predict, eval, export and train --from.

Example: uma-gpu import --coefficients coef.json --out m.npz`,
		Flags: []cli.Flag{
			app.Required(app.Input(&o.Coefficients, "coefficients",
				"coefficients: `FILE`.json (required)")),
			app.Required(app.Output(&o.Out, "out", "model to write, `FILE`.npz (required)")),
			&cli.Float64Flag{Name: "temperature", DefaultText: "none", Destination: &o.Temperature,
				Usage: "`T` by which softmax divides the scores"},
			o.QuietFlag(),
		},
		Action: app.Action(o, run),
	}
}

// Import converts coefficients and writes the model.
func Import(ctx context.Context, o *ImportOptions) error {
	temperature := float32(o.Temperature)
	if o.Given("temperature") && !(temperature >= 0x1p-126 && temperature <= math.MaxFloat32) {
		return app.Usage("--temperature is %v, wanted a number above 0", o.Temperature)
	}
	m, err := app.Awaited(ctx, o.Coefficients, func(path string) (*model.Model, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, osfile.Cause(err)
		}
		defer f.Close() // only read
		return exchange.ReadCoefficients(f, temperature, app.Version)
	})
	if err != nil {
		return fmt.Errorf("coefficients %s: %w", o.Coefficients, err)
	}
	if err := m.Save(o.Out); err != nil {
		return err
	}
	o.Notes.Say("model: %s, %d classes × %d features", o.Out, m.Q, m.Meta.Features.Count)
	return nil
}
