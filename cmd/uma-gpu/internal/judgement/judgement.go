// Package judgement says how good predictions are, as far as labels tell.
package judgement

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
)

// Judgement is how good predictions are, as far as the labels tell: part of what --json prints.
type Judgement struct {
	metric.Report         // the labels taken for right
	*metric.Probabilities // nil of predictions without
	// with a confusion matrix
	CorrectedLogLoss *float64 `json:"corrected_log_loss,omitempty"`
	// likewise, if it can be inverted
	Corrected *metric.Corrected `json:"corrected,omitempty"`
	Axes      string            `json:"axes"` // of the matrices
	Warnings  []string          `json:"warnings,omitempty"`
}

// Of compares predictions with labels, which are noisy by the matrix, or right if that is nil.
// p are probabilities, Q of each example; nil for none.
func Of(labels, predicted []int32, p []float32, classes []string, noise *confusion.Matrix,
) (j Judgement, err error) {
	j.Axes = app.TrueColumns
	if j.Report, err = metric.Evaluate(labels, predicted, classes); err != nil {
		return j, err
	}
	if p != nil {
		quality, err := metric.EvaluateProbabilities(labels, p, len(classes))
		if err != nil {
			return j, err
		}
		j.Probabilities = &quality
	}
	if noise == nil {
		return j, nil
	}
	if p != nil {
		loss, err := metric.CorrectedLogLoss(labels, p, noise.P)
		if err != nil {
			return j, err
		}
		j.CorrectedLogLoss = &loss
	}
	inverse, err := noise.Invert()
	if inseparable := new(confusion.InseparableError); errors.As(err, &inseparable) {
		j.Warnings = append(j.Warnings, fmt.Sprintf("no corrected accuracy: %v", err))
		return j, nil
	}
	if err != nil {
		return j, err
	}
	corrected, err := metric.Correct(j.Report.Confusion, classes, noise.P, inverse.V, noise.Error)
	if err != nil {
		return j, err
	}
	j.Corrected = &corrected
	if a := corrected.Accuracy; corrected.Impossible() {
		j.Warnings = append(j.Warnings,
			fmt.Sprintf("a corrected accuracy of %.4f (%.4f to %.4f) cannot be: these labels are not noisy "+
				"by this confusion matrix, which claims too much noise, or has its axes swapped; estimate it "+
				"anew, or compare its columns with labels that were checked", a.Value, a.Low, a.High))
	}
	return j, nil
}

// Turn brings the confusion matrices to the axes.
func (j *Judgement) Turn(axes string) {
	if axes == j.Axes {
		return
	}
	j.Axes = axes
	j.Report.Confusion = Transposed(j.Report.Confusion)
	if j.Corrected != nil {
		j.Corrected.Confusion = Transposed(j.Corrected.Confusion)
	}
}

func Transposed[T any](table [][]T) [][]T {
	turned := make([][]T, len(table))
	for i := range turned {
		for _, row := range table {
			turned[i] = append(turned[i], row[i])
		}
	}
	return turned
}

// Heading says what a printed confusion matrix has at its borders.
func Heading(axes string) string {
	if axes == app.InTrueRows {
		return "row = true class, column = predicted"
	}
	return "column = true class, row = predicted"
}

// Warn tells the warnings.
func (j *Judgement) Warn(n app.Notes) {
	for _, w := range j.Warnings {
		n.Warn("%s", w)
	}
}

// Print prints the judgement for people.
func (j *Judgement) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "examples\t%d\n", j.Examples)
	fmt.Fprintf(t, "error rate\t%.4f\n", j.ErrorRate)
	fmt.Fprintf(t, "confusion rate\t%.4f\n", j.ConfusionRate)
	fmt.Fprintf(t, "operator norm\t%.4f\n\n", j.OperatorNorm)
	fmt.Fprintf(t, "macro F1\t%.4f\n", j.MacroF1)
	fmt.Fprintf(t, "balanced accuracy\t%.4f\n", j.BalancedAccuracy)
	fmt.Fprintf(t, "kappa\t%s\n\n", ShareText(j.Kappa))
	if p := j.Probabilities; p != nil {
		fmt.Fprintf(t, "log-loss\t%.4f\n", p.LogLoss)
		fmt.Fprintf(t, "Brier score\t%.4f\n", p.BrierScore)
		fmt.Fprintf(t, "calibration error\t%.4f\n", p.CalibrationError)
		if j.CorrectedLogLoss != nil {
			fmt.Fprintf(t, "corrected log-loss\t%.4f\n", *j.CorrectedLogLoss)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(t, "class\texamples\trecall\tprecision\tF1\n")
	var classes []string
	for _, p := range j.PerClass {
		classes = append(classes, p.Class)
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", app.Brief(p.Class), p.Examples, ShareText(p.Recall),
			ShareText(p.Precision), ShareText(p.F1))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(classes) <= app.MostClasses {
		fmt.Fprintf(w, "\nconfusion matrix, examples: %s\n", Heading(j.Axes))
		err := app.PrintMatrix(w, "", classes, func(i, k int) string {
			return strconv.FormatInt(j.Report.Confusion[i][k], 10)
		})
		if err != nil {
			return err
		}
	}
	if j.Corrected == nil {
		return nil
	}
	return j.printCorrected(w, classes)
}

// printCorrected prints what the noisy labels tell of right ones.
func (j *Judgement) printCorrected(w io.Writer, classes []string) error {
	c := j.Corrected
	fmt.Fprintf(w, "\nOn right labels, by the confusion matrix; in brackets 95 %% intervals:\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "corrected accuracy\t%s\n", EstimateText(&c.Accuracy))
	fmt.Fprintf(t, "macro F1\t%s\n", ShareText(c.MacroF1))
	fmt.Fprintf(t, "balanced accuracy\t%s\n", ShareText(c.BalancedAccuracy))
	fmt.Fprintf(t, "kappa\t%s\n\n", ShareText(c.Kappa))
	fmt.Fprintf(t, "class\tshare\trecall\tprecision\tF1\n")
	for _, p := range c.PerClass {
		fmt.Fprintf(t, "%s\t%.4f\t%s\t%s\t%s\n", app.Brief(p.Class), p.Share, EstimateText(p.Recall),
			EstimateText(p.Precision), ShareText(p.F1))
	}
	if err := t.Flush(); err != nil || len(classes) > app.MostClasses {
		return err
	}
	fmt.Fprintf(w, "\nestimated confusion matrix, examples: %s\n", Heading(j.Axes))
	return app.PrintMatrix(w, "", classes, func(i, k int) string {
		return fmt.Sprintf("%.1f", c.Confusion[i][k])
	})
}

// EstimateText prints an estimate with its interval, for which there may be nothing.
func EstimateText(e *metric.Estimate) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f (%.4f to %.4f)", e.Value, e.Low, e.High)
}

// ShareText prints a share that there may be none of.
func ShareText(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *share)
}
