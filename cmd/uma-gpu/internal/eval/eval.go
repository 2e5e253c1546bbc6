// Package eval is the command that judges a model by examples.
package eval

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Options are the options of the command.
type Options struct {
	classify.Options
	Noise app.Noise
	Axes  string // of printed matrices
}

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "eval",
		Usage: "judge a model by examples whose labels are right, or noisy in a known way",
		Description: "Prints the error rate; the confusion rate, which weighs rare classes like " +
			"common ones (Frobenius\n" +
			"norm of the confusion matrix without its diagonal, over √Q); its operator norm; macro F1, " +
			"balanced\n" +
			"accuracy and kappa as scikit-learn computes them; recall, precision and F1 of each class; " +
			"and the\n" +
			"confusion matrix as counts, up to 30 classes, with --axes true-rows as scikit-learn prints " +
			"it. The JSON\n" +
			"object has all of it.\n\n" +
			"Of a model with a temperature (see calibrate) also how good its probabilities are: " +
			"log-loss; Brier score,\n" +
			"the mean of the summed squares of p - [true class], 0 to 2; and the expected calibration " +
			"error, how far\n" +
			"the share of right predictions is from the predicted class's probability, a mean over 15 " +
			"bins of equal\n" +
			"width. All of these take the labels for right.\n\n" +
			"With --confusion, by which the labels are noisy, it adds what they tell of right ones: the " +
			"corrected\n" +
			"accuracy, recall and precision, each with an interval that holds the true value in 95 of " +
			"100 cases, and\n" +
			"the corrected log-loss. No right label is needed for them. Of a matrix that confusion " +
			"estimate wrote, the\n" +
			"intervals have its standard errors in them.\n\n" +
			"Example: uma-gpu eval --model m.npz --data test.csv --json",
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common, "examples with labels"),
			o.Model.MatchFlag(),
			o.Noise.Flags("the labels are noisy by the matrix of this `FILE`, CSV or .npy"),
			app.PrintedAxesFlag(&o.Axes), o.Device.Flags(&o.Common), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// Report is what eval --json prints.
type Report struct {
	judgement.Judgement
	Classes []string      `json:"classes"`
	Model   string        `json:"model"`
	Device  engine.Device `json:"device"`
}

// Run prints how good the model is.
func Run(ctx context.Context, o *Options) error {
	if err := o.Noise.Check(&o.Common); err != nil {
		return err
	}
	r, err := o.Options.Run(ctx, func(m *model.Model) (bool, error) {
		if m.Meta.Temperature == 0 {
			o.Notes.Say("no log-loss, Brier score and calibration error: model file %s: %v", o.Model.Path,
				classify.AdviseCalibrate(model.ErrNoTemperature))
		}
		return m.Meta.Temperature > 0, nil
	})
	if err != nil {
		return err
	}
	defer r.Data.Close() // of what was only read: nothing to lose
	noise, err := o.Noise.Read(ctx, r.Classes)
	if err != nil {
		return err
	}
	if r.Scores != nil {
		if err := r.Model.ToProbabilities(r.Scores); err != nil {
			return err
		}
	}
	report := Report{Classes: r.Classes, Model: o.Model.Path, Device: r.Device}
	if report.Judgement, err = judgement.Of(r.Data.Y, r.Predicted, r.Scores, r.Classes,
		noise); err != nil {
		return err
	}
	report.Warn(o.Notes)
	report.Turn(o.Axes)
	return o.Print(report, report.Print)
}
