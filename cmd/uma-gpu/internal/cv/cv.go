// Package cv is the command that judges a learner by examples held out in turn.
package cv

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

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
preparation and kernel anew. Prints the mean over the parts of each measure and its standard error.
--tables adds what eval --tables prints, of all examples. With --confusion, by which the labels are noisy, the
measures are corrected: they estimate what right labels would show.

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
	Learner             string     `json:"learner"`
	Folds               int        `json:"folds"`
	MeasuresCorrected   bool       `json:"measures_corrected"`
	Measures            []averaged `json:"measures"`
	judgement.Judgement            // of all examples, each by the model that has not seen it

	Classes []string      `json:"classes"`
	Device  engine.Device `json:"device"`
}

// averaged is what several parts have of a measure.
type averaged struct {
	Name          string    `json:"name"`
	Mean          float64   `json:"mean"`
	StandardError float64   `json:"standard_error"` // as if the parts were independent of each other
	Parts         []float64 `json:"parts"`
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
		Classes: f.Dataset.Classes, MeasuresCorrected: f.Noise != nil, Device: f.Engine}
	if err := r.judge(f); err != nil {
		return err
	}
	r.Warn(o.Notes)
	return o.Print(r, func(w io.Writer) error { return r.text(w, o.Tables) })
}

// text prints the report for people, with the judgement of all examples if all.
func (r *Report) text(w io.Writer, all bool) error {
	what := ""
	if r.MeasuresCorrected {
		what = "corrected "
	}
	if err := app.Table(w, func(row app.Row) {
		row("learner\t%s\nfolds\t%d", r.Learner, r.Folds)
		for _, m := range r.Measures {
			row("%s%s\t%.4f ± %.4f", what, measureNames.Replace(m.Name), m.Mean, m.StandardError)
		}
	}); err != nil || !all {
		return err
	}
	fmt.Fprintf(w, "\nAll examples, each by the training that has not seen it:\n\n")
	return r.Print(w, true)
}

// measureNames turns names of measures into text for people.
var measureNames = strings.NewReplacer("log_loss", "log-loss", "_f1", " F1", "_", " ")

// judge judges all examples, and each fold of them.
func (r *Report) judge(f *training.OutOfFold) error {
	p, err := f.Probabilities()
	if err != nil {
		return err
	}
	labels, q := f.Dataset.Y, f.Held.Q
	predicted := engine.Predicted(f.Held.Scores, q)
	if r.Judgement, err = judgement.Of(labels, predicted, p, r.Classes, f.Noise); err != nil {
		return err
	}
	parts := map[string][]float64{}
	for k := range r.Folds {
		var of, said []int32
		var some []float32
		for i, fold := range f.Held.Fold {
			if fold != k {
				continue
			}
			of, said = append(of, labels[i]), append(said, predicted[i])
			if p != nil {
				some = append(some, p[i*q:(i+1)*q]...)
			}
		}
		if len(of) == 0 {
			continue
		}
		j, err := judgement.Of(of, said, some, r.Classes, f.Noise)
		if err != nil {
			return fmt.Errorf("fold %d of %d: %w", k+1, r.Folds, err)
		}
		for name, v := range measures(&j) {
			if v != nil {
				parts[name] = append(parts[name], *v)
			}
		}
	}
	for _, name := range []string{"accuracy", "macro_f1", "balanced_accuracy", "kappa", "log_loss"} {
		if of := parts[name]; len(of) > 1 {
			r.Measures = append(r.Measures, average(name, of))
		}
	}
	return nil
}

// measures are those whose mean is worth telling; nil of a measure that is not known.
func measures(j *judgement.Judgement) map[string]*float64 {
	m := map[string]*float64{"log_loss": j.CorrectedLogLoss}
	if j.CorrectedLogLoss == nil && j.Probabilities != nil {
		m["log_loss"] = &j.LogLoss
	}
	if c := j.Corrected; c != nil {
		m["accuracy"], m["macro_f1"] = &c.Accuracy.Value, c.MacroF1
		m["balanced_accuracy"], m["kappa"] = c.BalancedAccuracy, c.Kappa
		return m
	}
	accuracy := 1 - j.ErrorRate
	m["accuracy"], m["macro_f1"] = &accuracy, &j.MacroF1
	m["balanced_accuracy"], m["kappa"] = &j.BalancedAccuracy, j.Kappa
	return m
}

// average returns mean and standard error of at least two parts.
func average(name string, parts []float64) averaged {
	m := averaged{Name: name, Parts: parts}
	n := float64(len(parts))
	for _, v := range parts {
		m.Mean += v / n
	}
	sum := 0.0
	for _, v := range parts {
		sum += (v - m.Mean) * (v - m.Mean)
	}
	m.StandardError = math.Sqrt(sum / (n - 1) / n)
	return m
}
