// Package eval is the command that judges a model by examples.
package eval

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
	"github.com/uma-gpu/uma-gpu/host/model"
)

type Options struct {
	classify.Options
	Noise  app.Noise
	Tables judgement.Tables
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "eval",
		Usage: "judge a model by examples whose labels are right, or noisy in a known way",
		Description: `Prints the error rate; the confusion rate, which weighs rare classes like common
ones (Frobenius norm of the confusion matrix without its diagonal, over √Q); its operator norm;
macro F1, balanced accuracy and kappa as scikit-learn computes them. --tables adds recall, precision
and F1 of each class, and the confusion matrix as counts, up to 30 classes. --axes true-rows prints
these tables with the matrix as scikit-learn has it. The JSON object has all of it.

A model with a temperature (see calibrate) also has its probabilities judged, by labels taken to be
right: log-loss; Brier score, the mean of the summed squares of p - [true class], 0 to 2; and the
expected calibration error, which is how far the share of right predictions is from the predicted
class's probability, a mean over 15 bins of equal width.

With --confusion, the noise of the labels, it adds what noisy labels tell of right ones: the
corrected accuracy, recall and precision, each with an interval that holds the true value in 95 of
100 cases, and the corrected log-loss. No right label is needed for them. If confusion estimate
wrote the matrix, the intervals include its standard errors.

Prediction sets of the model (see calibrate --sets) have their coverage judged, with an interval,
and their mean size.

Example: uma-gpu eval --model m.npz --data test.csv --json`,
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common, "examples with labels"),
			o.Data.UnseenFlag(),
			o.Model.MatchFlag(),
			o.Noise.Flags("the labels are noisy by the matrix of this `FILE`, CSV or .npy"),
			o.Tables.Flags(), o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what eval --json prints.
type Report struct {
	judgement.Judgement
	Sets    []sets.Judged `json:"sets,omitempty"`
	Classes []string      `json:"classes"`
	Model   string        `json:"model"`
	Device  engine.Device `json:"device"`
}

// Run prints how good the model is.
func Run(ctx context.Context, o *Options) error {
	r, err := o.Options.Run(ctx, func(m *model.Model) (bool, error) {
		if m.Meta.Temperature == 0 {
			o.Notes.Say("no log-loss, Brier score and calibration error: model file %s: %v", o.Model.Path,
				classify.ErrNoTemperature)
		}
		return m.Meta.Temperature > 0, nil
	})
	if err != nil {
		return err
	}
	defer r.Data.Close() // only read
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
	report.Judgement, err = judgement.Of(r.Data.Y, r.Predicted, r.Scores, r.Classes, noise)
	if err != nil {
		return err
	}
	for _, rule := range r.Model.Meta.Sets {
		judged, err := rule.Judge(r.Scores, r.Data.Y, noise)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Data.Path, err)
		}
		report.Sets = append(report.Sets, judged)
	}
	report.Warn(o.Notes)
	report.Turn(o.Tables.Axes)
	return o.Print(report, func(w io.Writer) error {
		if err := report.Print(w, o.Tables.Wanted(&o.Common)); err != nil || report.Sets == nil {
			return err
		}
		return app.Table(w, func(row app.Row) {
			for _, s := range report.Sets {
				row("sets of level %v\tcoverage %.4f (%.4f to %.4f), %.2f classes", s.Level, s.Coverage,
					s.Coverage-2*s.Error, s.Coverage+2*s.Error, s.Size)
			}
		})
	})
}
