package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func cvCommand() *cli.Command {
	flags := append(training.NoisyDataFlags(), training.AnnotatorFlags()...)
	flags = append(flags, training.FoldFlags()...)
	flags = append(flags, app.TrainKernelFlags()...)
	flags = append(flags, device.Flags()...)
	flags = append(flags, []cli.Flag{app.PrintedAxesFlag(nil), app.JSONFlag(), app.QuietFlag()}...)
	return &cli.Command{
		Name:  "cv",
		Usage: "judge a learner by examples held out in turn, without a right label",
		Description: "Cuts the examples in --folds parts, trains on all but one of them, judges by " +
			"that one, and so on.\n" +
			"Preparation and kernel are fitted anew each time. Prints the mean over the parts of each " +
			"measure and\n" +
			"its standard error, and then what eval prints, of all examples. With --confusion, by which " +
			"the labels\n" +
			"are noisy, the measures are corrected: those of right labels.\n\n" +
			"With --annotators, labels of several people, the trainings learn from all of these, and are " +
			"judged by the\n" +
			"consensus that confusion estimate --annotators finds, and by its matrix.\n\n" +
			"The same data, flags and seed give the same numbers on every device. Of examples that " +
			"repeat, copies\n" +
			"may fall in several parts; then all is better here than elsewhere.\n\n" +
			"Example: uma-gpu cv --data noisy.csv --confusion C.csv --kernel rbf --folds 10",
		Flags:  flags,
		Action: crossValidate,
	}
}

// cvReport is what cv --json prints.
type cvReport struct {
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

func crossValidate(c *cli.Context) error {
	o, err := training.NewOutOfFold(c, false, "data")
	if err != nil {
		return err
	}
	defer o.Close()
	p, err := o.Held.Probabilities()
	if errors.Is(err, model.ErrNoTemperature) {
		p, err = nil, nil
	}
	if err != nil {
		return err
	}
	report := cvReport{Learner: o.Learner.Definition().Name, Folds: c.Int("folds"),
		Classes:           o.Data.Classes,
		MeasuresCorrected: o.Noise != nil, Device: o.Device}
	if report.Judgement, report.Measures, err = judgeFolds(o, p, report.Folds); err != nil {
		return err
	}
	report.Warn(o.Notes)
	report.Turn(o.Axes)
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, report)
	}
	w := c.App.Writer
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "learner\t%s\n", report.Learner)
	fmt.Fprintf(t, "folds\t%d\n\n", report.Folds)
	what := ""
	if report.MeasuresCorrected {
		what = "corrected "
	}
	for _, m := range report.Measures {
		fmt.Fprintf(t, "%s%s\t%.4f ± %.4f\n", what, measureNames.Replace(m.Name), m.Mean, m.StandardError)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nAll examples, each by the training that has not seen it:\n\n")
	return report.Print(w)
}

// measureNames are those of measures for people.
var measureNames = strings.NewReplacer("log_loss", "log-loss", "_f1", " F1", "_", " ")

// judgeFolds judges all examples, and each fold of them, by predictions and probabilities p; nil
// for none of these.
func judgeFolds(o *training.OutOfFold, p []float32, folds int) (all judgement.Judgement,
	list []averaged,
	err error) {
	labels, predicted, q := o.Data.Y, engine.Predicted(o.Held.Scores, o.Held.Q), o.Held.Q
	if all, err = judgement.Of(labels, predicted, p, o.Data.Classes, o.Noise); err != nil {
		return all, nil, err
	}
	parts := map[string][]float64{}
	for f := range folds {
		var of, said []int32
		var some []float32
		for i, fold := range o.Held.Fold {
			if fold != f {
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
		j, err := judgement.Of(of, said, some, o.Data.Classes, o.Noise)
		if err != nil {
			return all, nil, fmt.Errorf("fold %d of %d: %w", f+1, folds, err)
		}
		for name, v := range measures(&j) {
			if v != nil {
				parts[name] = append(parts[name], *v)
			}
		}
	}
	for _, name := range []string{"accuracy", "macro_f1", "balanced_accuracy", "kappa", "log_loss"} {
		if of := parts[name]; len(of) > 1 {
			list = append(list, newAveraged(name, of))
		}
	}
	return all, list, nil
}

// measures are those of which a mean is worth telling; nil of one that there is not.
func measures(j *judgement.Judgement) map[string]*float64 {
	m := map[string]*float64{}
	if j.CorrectedLogLoss != nil {
		m["log_loss"] = j.CorrectedLogLoss
	} else if j.Probabilities != nil {
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

// newAveraged returns mean and standard error of at least two parts.
func newAveraged(name string, parts []float64) averaged {
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
