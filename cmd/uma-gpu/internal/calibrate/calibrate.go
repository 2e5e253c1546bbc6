// Package calibrate is the command that fits the temperature of a model.
package calibrate

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
)

type Options struct {
	classify.Options
	Noise app.Noise
	Out   string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "calibrate",
		Usage: "fit the temperature of a model's probabilities to examples held out",
		Description: `Probabilities are softmax(scores / temperature). train fits the temperature to its
own examples, or with --temperature-folds to parts of them held out in turn. calibrate fits it to
examples that the model has never seen, which is best. It takes the temperature of the least Brier
score. Noisy labels need --confusion, by which the score is corrected. Nothing else changes.

Example: uma-gpu calibrate --model m.npz --data heldout.csv --confusion C.csv --out calibrated.npz`,
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common,
			"examples that the model was not trained on"),
			o.Model.MatchFlag(), o.Noise.Flags("confusion matrix of their label noise: `FILE`, CSV or .npy"),
			app.Required(app.Output(&o.Out, "out",
				"the model with its new temperature, `FILE`.npz (required)")),
			o.Device.Flags(&o.Common), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what calibrate --json prints.
type Report struct {
	Model       string   `json:"model"`
	Temperature float32  `json:"temperature"`
	Before      *float32 `json:"before"` // of the model as it was; null for none
	Examples    int      `json:"examples"`
}

// Run writes the model with its new temperature.
func Run(ctx context.Context, o *Options) error {
	if err := o.Noise.Check(&o.Common); err != nil {
		return err
	}
	r, err := o.Options.Run(ctx, func(*model.Model) (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	defer r.Data.Close() // only read
	noise, err := o.Noise.Read(ctx, r.Classes)
	if err != nil {
		return err
	}
	if noise == nil {
		o.Notes.Say("confusion matrix: none given, so the identity: all labels are taken to be right")
	}
	report, meta, before := Report{Model: o.Out, Examples: r.Data.N}, &r.Model.Meta, "none"
	if t := meta.Temperature; t > 0 {
		report.Before, before = &t, fmt.Sprintf("%.4g", t)
	}
	meta.Temperature, err = confusion.Temperature(ctx, r.Scores, r.Data.Y, len(r.Classes), noise)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Data.Path, err)
	}
	report.Temperature, meta.TemperatureFolds = meta.Temperature, 0
	if err := r.Model.Save(o.Out); err != nil {
		return err
	}
	return o.PrintTable(report, func(row app.Row) {
		row("model\t%s", report.Model)
		row("temperature\t%.4g (before: %s)", report.Temperature, before)
	})
}
