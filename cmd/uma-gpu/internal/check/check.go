// Package check is the command that tests whether a confusion matrix helps.
package check

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/judge"
)

type Options struct {
	app.Common `json:"-"`
	Input      app.Labelled             `json:"input"`
	Request    umagpu.CheckNoiseRequest `json:"request,omitzero"`
	Device     app.Device               `json:"-"`
}

// New returns the command confusion check.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "check",
		Usage: "test whether a confusion matrix helps and whether the labels contradict it",
		Description: `Compares out-of-fold predictions with and without the matrix, from --folds trainings each. The
matrix helps if held-out noisy labels are more likely with it, or equally likely and more predictions
are right by it. It is rejected if the labels contradict it, and transposed if they do not contradict
its transpose. No right label is used.

A correct matrix may not help: where people err on hard examples, C alone says little, and
--correction em uses more.

Example: uma-gpu confusion check --data noisy.csv --confusion C.csv`,
		Flags: app.Flags(app.NoisyFlags(&o.Input, &o.Common), app.ParameterFlags(&o.Request, "learner",
			"folds"), app.LearnerFlags(&o.Request.Settings, "l2"),
			o.Device.Flags(), o.RequestFlag(o), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what confusion check --json prints.
type Report struct {
	Request *Options `json:"request"`
	*umagpu.CheckNoiseResult
}

// Run compares out-of-fold predictions with and without the matrix.
func Run(ctx context.Context, o *Options) error {
	if o.Input.Noise.Path == "" {
		return app.Missing("confusion")
	}
	read, err := o.Input.Check()
	if err != nil {
		return err
	}
	d, err := o.Input.Data.Read(ctx, read)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	r := o.Request
	if r.Confusion, err = o.Input.Confusion(ctx, d.Classes); err != nil {
		return err
	}
	r.Data, r.Compute = umagpu.FromDataset(d), o.Device.Compute(o.Notes, app.Training)
	found, err := umagpu.CheckNoise(ctx, &r)
	if err != nil {
		return err
	}
	for _, w := range found.Warnings {
		o.Notes.Warn("%s: %s", o.Input.Noise.Path, w)
	}
	report := Report{o, found}
	return o.Print(report, report.text)
}

var verdicts = map[string]string{
	judge.Helps:        "helps: held-out labels are more likely with it",
	judge.NoDifference: "makes no clear difference on held-out labels",
	judge.Harms:        "harms: held-out labels are less likely with it",
	judge.Rejected:     "is rejected: the labels contradict it, or it has no inverse",
	judge.Turned: "is transposed: with its axes exchanged it explains held-out labels " +
		"(--confusion-axes true-rows)",
}

func (r Report) text(w io.Writer) error {
	verdict := verdicts[r.Verdict]
	if r.Contradicted && (r.Verdict == judge.Helps || r.Verdict == judge.NoDifference) {
		verdict += fmt.Sprintf(", though it cannot explain %.1f %% of them",
			100*r.Explained.Unexplained)
	}
	fmt.Fprintf(w, "The confusion matrix %s.\n", verdict)
	if r.LogLikelihood.StandardError == 0 { // it was not trained with
		return nil
	}
	fmt.Fprintln(w)
	return app.Table(w, func(row app.Row) {
		l, a := r.LogLikelihood, r.Accuracy
		row("gain in log-likelihood of a label\t%+.4f ± %.4f", l.Mean, l.StandardError)
		row("gain in accuracy\t%+.2f ± %.2f %%", 100*a.Mean, 100*a.StandardError)
		row("unexplained labels\t%.1f %%", 100*r.Explained.Unexplained)
		row("p-value of these\t%.2g", r.Explained.P)
	})
}
