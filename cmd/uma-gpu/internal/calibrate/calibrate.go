// Package calibrate is the command that fits the temperature of a model.
package calibrate

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Options are the options of the command.
type Options struct {
	classify.Options
	Noise app.Noise
	Out   string
}

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "calibrate",
		Usage: "fit the temperature of a model's probabilities to examples held out",
		Description: "Probabilities are softmax(scores / temperature). train fits the temperature to " +
			"its own examples,\nor with --temperature-folds to parts of them held out in turn; calibrate " +
			"fits it to examples " +
			"that\nthe model has never seen, which is best. Their labels may be noisy: it is the " +
			"temperature of " +
			"the\nleast Brier score, corrected by --confusion; without that the labels are taken to be " +
			"right.\nNothing else changes.\n\nExample: uma-gpu calibrate --model m.npz --data heldout.csv " +
			"--confusion C.csv --out calibrated.npz",
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common,
			"examples that the model was not trained on"),
			o.Model.MatchFlag(), o.Noise.Flags("confusion matrix of their label noise: `FILE`, CSV or .npy"),
			app.Required(app.Output(&o.Out, "out",
				"the model with its new temperature, `FILE`.npz (required)")),
			o.Device.Flags(&o.Common), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
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
	defer r.Data.Close() // of what was only read: nothing to lose
	noise, err := o.Noise.Read(ctx, r.Classes)
	if err != nil {
		return err
	}
	if noise == nil {
		o.Notes.Say("confusion matrix: none given, so the identity: all labels are taken to be right")
	}
	report := Report{Model: o.Out, Examples: r.Data.N}
	if before := r.Model.Meta.Temperature; before > 0 {
		report.Before = &before
	}
	report.Temperature, err = confusion.Temperature(ctx, r.Scores, r.Data.Y, len(r.Classes), noise)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Data.Path, err)
	}
	r.Model.Meta.Temperature, r.Model.Meta.TemperatureFolds = report.Temperature, 0
	if err := r.Model.Save(o.Out); err != nil {
		return err
	}
	return o.Print(report, report.print)
}

// print prints the report for people.
func (r Report) print(w io.Writer) error {
	before := "none"
	if r.Before != nil {
		before = fmt.Sprintf("%.4g", *r.Before)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "model\t%s\n", r.Model)
	fmt.Fprintf(t, "temperature\t%.4g (before: %s)\n", r.Temperature, before)
	return t.Flush()
}
