// Package calibrate is the command that fits the temperature and prediction sets of a model.
package calibrate

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

type Options struct {
	app.Common `json:"-"`
	Input      app.Judged                   `json:"input"`
	Request    umagpu.PredictionSetsRequest `json:"request,omitzero"`
	Output     Output                       `json:"output"`
	Device     app.Device                   `json:"-"`
}

// Output is the file of the calibrated model.
type Output struct {
	Path string `json:"out,omitempty"`
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "calibrate",
		Usage: "fit probabilities and prediction sets to held-out examples",
		Description: `Probabilities are softmax(scores / temperature). train fits the temperature to its own
examples. calibrate fits it to examples that the model has never seen, which is better: the temperature minimises the Brier score, corrected by --confusion if
the labels are noisy. Nothing else in the model changes.

--sets 0.9 also fits prediction sets: predict --sets 0.9 then prints classes that include the true
one for 90 % of examples. With --confusion this holds for right labels although these are noisy;
with --by-class it holds within each class, which takes many examples of rare classes. It holds in the
mean over draws of the held-out examples; with --sure for 95 % of them, by larger sets.

Example: uma-gpu calibrate --model m.npz --data heldout.csv --confusion C.csv --out calibrated.npz
Example: uma-gpu calibrate --model m.npz --data heldout.csv --sets 0.9,0.95 --out calibrated.npz`,
		Flags: app.Flags(o.Input.Flags(&o.Common, "examples that the model was not trained on",
			"confusion matrix of their label noise: `FILE`, CSV or .npy"),
			app.ParameterFlags(&o.Request, "sets", "by_class", "sure"),
			app.Required(app.Output(&o.Output.Path, "out", "model to write, `FILE`.npz (required)")),
			o.Device.Flags(), o.RequestFlag(o), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what calibrate --json prints.
type Report struct {
	Request *Options `json:"request"`
	*umagpu.PredictionSetsResult
	Model string `json:"model"`
}

// Run writes the calibrated model.
func Run(ctx context.Context, o *Options) error {
	m, d, noise, err := o.Input.Open(ctx)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	r := o.Request
	r.Model, r.Data, r.Confusion = m, umagpu.FromDataset(d, dataset.InPlace), noise
	r.Compute = o.Device.Compute(o.Notes, app.Predicting(true))
	found, err := umagpu.PredictionSets(ctx, &r)
	if err != nil {
		return err
	}
	if err := found.Model.Save(o.Output.Path); err != nil {
		return err
	}
	before := "none"
	if found.Before != nil {
		before = fmt.Sprintf("%.4g", *found.Before)
	}
	return o.PrintTable(Report{o, found, o.Output.Path}, func(row app.Row) {
		row("model\t%s", o.Output.Path)
		row("temperature\t%.4g (before: %s)", found.Temperature, before)
		for _, s := range found.Sets {
			row("sets of level %v\t%.2f classes on average; 95 %% of draws of these examples cover %.3f or "+
				"more", s.Level, s.Size, s.AtLeast)
		}
	})
}
