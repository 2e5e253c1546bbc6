// Package eval is the command that evaluates a model on labelled examples.
package eval

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

type Options struct {
	app.Common `json:"-"`
	Input      app.Judged             `json:"input"`
	Request    umagpu.EvaluateRequest `json:"request,omitzero"`
	Tables     bool                   `json:"-"`
	Device     app.Device             `json:"-"`
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
		Flags: app.Flags(o.Input.Flags(&o.Common, "examples with labels",
			"confusion matrix of the label noise: `FILE`, CSV or .npy"),
			app.TablesFlag(&o.Tables), o.Device.Flags(), o.Device.AuditFlag(), o.RequestFlag(o),
			o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what eval --json prints.
type Report struct {
	Request *Options `json:"request"`
	*umagpu.EvaluateResult
	Model string `json:"model"`
}

// Run evaluates a model and prints the report.
func Run(ctx context.Context, o *Options) error {
	m, d, noise, err := o.Input.Open(ctx)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	r := o.Request
	r.Model, r.Data, r.Confusion = m, umagpu.FromDataset(d, dataset.InPlace), noise
	r.Compute = o.Device.Compute(o.Notes, app.Predicting(m.Host().Meta.Temperature > 0))
	found, err := umagpu.Evaluate(ctx, &r)
	if err != nil {
		return err
	}
	app.WarnOf(o.Notes, &found.Judgement)
	return o.Print(Report{o, found, o.Input.Model.Path}, func(w io.Writer) error {
		if err := app.PrintJudgement(w, &found.Judgement, o.Tables); err != nil || found.Sets == nil {
			return err
		}
		return app.Table(w, func(row app.Row) {
			for _, s := range found.Sets {
				row("sets of level %v\tcoverage %.4f (%.4f to %.4f), %.2f classes", s.Level, s.Coverage,
					s.Coverage-2*s.Error, s.Coverage+2*s.Error, s.Size)
			}
		})
	})
}
