// Package eval is the command that evaluates a model on labelled examples.
package eval

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
	"github.com/uma-gpu/uma-gpu/host/model"
)

type Options struct {
	app.Classifier
	Noise  app.Noise
	Tables bool
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "eval",
		Usage: "evaluate a model on labels that are right, or noisy in a known way",
		Description: `Prints the error rate, and macro F1 and balanced accuracy as in scikit-learn. --tables adds
its kappa; the confusion rate, which weighs all classes alike (Frobenius norm of the confusion
matrix without its diagonal, over √Q); its operator norm; recall, precision and F1 of each class;
and the matrix as counts, up to 30 classes: its columns are the true classes. --json has all of it.

If the model has a temperature (see calibrate), its probabilities are evaluated too, assuming right
labels: log-loss; Brier score, the mean over examples of Σ (p - [true class])², from 0 to 2; and
expected calibration error over 15 bins of equal width.

--confusion gives the noise of the labels. It adds the corrected accuracy, recall and precision with
95 % intervals, and the corrected log-loss, which need no right label. If confusion estimate wrote
the matrix, the intervals include its standard errors.

If the model has prediction sets (see calibrate --sets), their coverage is evaluated, with an
interval, and their mean size.

Example: uma-gpu eval --model m.npz --data test.csv --json`,
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common, "examples with labels"),
			o.Data.UnseenFlag(),
			o.Model.MatchFlag(),
			o.Noise.Flags("confusion matrix of the label noise: `FILE`, CSV or .npy"),
			judgement.TablesFlag(&o.Tables), o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
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

// Run evaluates a model and prints the report.
func Run(ctx context.Context, o *Options) error {
	r, err := o.Classify(ctx, func(m *model.Model) (bool, error) {
		if m.Meta.Temperature == 0 {
			o.Notes.Say("no log-loss, Brier score and calibration error: model file %s: %v", o.Model.Path,
				app.ErrNoTemperature)
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
	return o.Print(report, func(w io.Writer) error {
		if err := report.Print(w, o.Tables); err != nil || report.Sets == nil {
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
