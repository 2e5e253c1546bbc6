// Package cv is the command that judges a learner by examples held out in turn.
package cv

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

type Options struct {
	training.Options
	Tables bool
	Try    cli.StringSlice
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "cv",
		Usage: "judge learners by examples held out in turn, without a right label",
		Description: `Cuts the examples in --folds parts. Each part is judged by a training on all others, which fits
preparation and kernel anew. Prints what eval prints, of all examples, and --tables what eval --tables
prints. With --confusion, by which the labels are noisy, accuracy and log-loss are corrected: they
estimate what right labels would show.

--annotators takes labels of several people. The trainings learn from all of them. They are judged by
the consensus that confusion estimate --annotators finds, and by its matrix.

--try "FLAGS", given several times, compares configurations on the same parts. FLAGS are flags
of train for the learner, the kernel and the preparation, added to the flags of cv. They are ranked
by the mean log-loss of the examples held out, corrected if there is a C. The column behind is the
distance from the best, ± twice its standard error, example by example. A * marks configurations
that these labels do not tell from the best. With --confusion none in FLAGS a training takes the
labels to be right, and with a file it learns with another C than the one that judges.

The same data, flags and seed give the same numbers on every device. Copies of an example may fall in
several parts; then all measures are better here than on new examples.

Example: uma-gpu cv --data noisy.csv --confusion C.csv --kernel rbf --folds 10
Example: uma-gpu cv --data noisy.csv --confusion C.csv --try "--learner softmax" \
           --try "--kernel rbf" --try "--learner uma --normalize l2"`,
		Flags: app.Flags(training.OutOfFoldFlags(&o.Options),
			&cli.StringSliceFlag{Name: "try", Destination: &o.Try,
				Usage: "compare trainings by these `FLAGS` with others; may be given again"},
			judgement.TablesFlag(&o.Tables), o.JSONFlag(),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what cv --json prints.
type Report struct {
	Learner             string `json:"learner"`
	Folds               int    `json:"folds"`
	judgement.Judgement        // of all examples, each by the model that has not seen it

	Classes []string      `json:"classes"`
	Device  engine.Device `json:"device"`
}

// Run makes the trainings and judges them.
func Run(ctx context.Context, o *Options) error {
	switch {
	case len(o.Try.Value()) == 0:
	case o.Tables:
		return app.Usage("--try cannot be combined with --tables: it prints a row for each " +
			"configuration")
	default:
		return compare(ctx, o)
	}
	f, err := training.FitOutOfFold(ctx, &o.Options)
	if err != nil {
		return err
	}
	defer f.Close()
	r := Report{Learner: o.Train.Learner.Definition().Name, Folds: o.Folds,
		Classes: f.Dataset.Classes, Device: f.Engine}
	if r.Judgement, _, err = judgeAll(f); err != nil {
		return err
	}
	judgement.Warn(o.Notes, (*umagpu.Judgement)(&r.Judgement))
	return o.Print(r, func(w io.Writer) error {
		fmt.Fprintf(w, "learner %s, %d folds, each example by the training that has not seen it\n",
			r.Learner, r.Folds)
		return judgement.Print(w, (*umagpu.Judgement)(&r.Judgement), o.Tables)
	})
}

// judgeAll judges all examples by their out-of-fold scores, and returns their probabilities; nil if
// there are none.
func judgeAll(f *training.OutOfFold) (j judgement.Judgement, p []float32, err error) {
	if p, err = f.Probabilities(); err == nil {
		j, err = judgement.Of(f.Dataset.Y, engine.Predicted(f.Held.Scores, f.Held.Q), p,
			f.Dataset.Classes, f.Noise)
	}
	return j, p, err
}
