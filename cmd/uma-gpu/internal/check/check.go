// Package check is the command that says whether a confusion matrix helps.
package check

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/judge"
)

type Options struct{ training.Options }

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "check",
		Usage: "say whether a confusion matrix helps, and whether labels contradict it",
		Description: `Trains --folds times with the matrix and as often without. Both predict the noisy labels of
examples that they have not seen. The matrix helps if these labels are likelier with it, or as
likely and more predictions are right by it. It is turned if the labels contradict it, and not with
its axes exchanged. No right label is used.

That a matrix does not help need not be its fault. Where people err on hard examples, C alone says
little; --correction em uses more.

Example: uma-gpu confusion check --data noisy.csv --confusion C.csv`,
		Flags: app.Flags(o.NoisyDataFlags(), o.FoldFlags(), o.EngineFlags(), o.JSONFlag(),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what confusion check --json prints.
type Report struct {
	Learner string `json:"learner"`
	*judge.NoiseCheck
	Milder   *float64 `json:"estimated_error_if_milder,omitempty"` // JSON has no NaN
	Stronger *float64 `json:"estimated_error_if_stronger,omitempty"`
}

// Run trains with the matrix and without, and compares both.
func Run(ctx context.Context, o *Options) error {
	if o.Noise.Path == "" {
		return app.Missing("confusion")
	}
	f, err := o.OutOfFold(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	with, noise := f.Held, f.Noise
	f.Noise = nil
	o.Notes.Say("the same without a confusion matrix")
	if err := f.Fit(ctx); err != nil {
		return err
	}
	check, err := judge.CheckNoise(f.Dataset.Y, noise, with, f.Held)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Noise.Path, err)
	}
	for _, w := range check.Warnings {
		o.Notes.Warn("%s: %s", o.Noise.Path, w)
	}
	r := Report{o.Train.Learner.Definition().Name, check, finite(check.Milder), finite(check.Stronger)}
	return o.Print(r, r.text)
}

var verdicts = map[string]string{
	judge.Helps:        "helps: it tells more of labels held out",
	judge.NoDifference: "makes no clear difference to labels held out",
	judge.Harms:        "harms: labels held out are less likely with it",
	judge.Turned: "is turned: with its axes exchanged it explains labels held out " +
		"(--confusion-axes true-rows)",
}

func (r Report) text(w io.Writer) error {
	verdict := verdicts[r.Verdict]
	if r.Contradicted && r.Verdict != judge.Turned {
		verdict += fmt.Sprintf(", though it cannot explain %.1f %% of them",
			100*r.Explained.Unexplained)
	}
	fmt.Fprintf(w, "The confusion matrix %s.\n\n", verdict)
	return app.Table(w, func(row app.Row) {
		l, a := r.LogLikelihood, r.Accuracy
		row("log-likelihood of a label\t%+.4f ± %.4f", l.Mean, l.StandardError)
		row("corrected accuracy\t%+.2f ± %.2f %%", 100*a.Mean, 100*a.StandardError)
		row("labels it cannot explain\t%.1f %%", 100*r.Explained.Unexplained)
		row("probability of these by chance\t%.2g", r.Explained.P)
		row("estimated error with a tenth less noise, more\t%.4f, %.4f", r.NoiseCheck.Milder,
			r.NoiseCheck.Stronger)
	})
}

// finite returns v, nil if it is no number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
