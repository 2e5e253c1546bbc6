package app

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
)

// TablesFlag returns the flag of the tables of classes that are printed.
func TablesFlag(into *bool) cli.Flag {
	return Switch(into, "tables", "also print the tables of classes and of their confusion")
}

// WarnOf prints the warnings.
func WarnOf(n Notes, j *umagpu.Judgement) {
	for _, w := range j.Warnings {
		n.Warn("%s", w)
	}
}

// PrintJudgement prints the judgement for people, with the tables of classes if tables.
func PrintJudgement(w io.Writer, j *umagpu.Judgement, tables bool) error {
	var classes []string
	if err := Table(w, func(row Row) {
		row("examples\t%d", j.Examples)
		row("error rate\t%.4f", j.ErrorRate)
		row("macro F1\t%.4f\nbalanced accuracy\t%.4f", j.MacroF1, j.BalancedAccuracy)
		if p := j.Probabilities; p != nil {
			row("log-loss\t%.4f\nBrier score\t%.4f\ncalibration error\t%.4f", p.LogLoss, p.BrierScore,
				p.CalibrationError)
			if j.CorrectedLogLoss != nil {
				row("corrected log-loss\t%.4f", *j.CorrectedLogLoss)
			}
		}
		if !tables {
			if j.Corrected != nil {
				row("corrected accuracy\t%s", EstimateText(&j.Corrected.Accuracy))
			}
			return
		}
		row("kappa\t%s\nconfusion rate\t%.4f\noperator norm\t%.4f", ShareText(j.Kappa),
			j.ConfusionRate, j.OperatorNorm)
		row("\nclass\texamples\trecall\tprecision\tF1")
		for _, p := range j.PerClass {
			classes = append(classes, p.Class)
			row("%s\t%d\t%s\t%s\t%s", Brief(p.Class), p.Examples, ShareText(p.Recall),
				ShareText(p.Precision), ShareText(p.F1))
		}
	}); err != nil || !tables {
		return err
	}
	if err := printCounts(w, "confusion matrix", "", classes, func(i, k int) string {
		return strconv.FormatInt(j.Report.Confusion[i][k], 10)
	}); err != nil || j.Corrected == nil {
		return err
	}
	c := j.Corrected
	fmt.Fprintf(w, "\nOn right labels, by the confusion matrix; in brackets 95 %% intervals:\n\n")
	if err := Table(w, func(row Row) {
		row("corrected accuracy\t%s\nmacro F1\t%s\nbalanced accuracy\t%s\nkappa\t%s\n",
			EstimateText(&c.Accuracy), possible(c.MacroF1), possible(c.BalancedAccuracy),
			possible(c.Kappa))
		row("class\tshare\trecall\tprecision\tF1")
		for _, p := range c.PerClass {
			row("%s\t%.4f\t%s\t%s\t%s", Brief(p.Class), p.Share, EstimateText(p.Recall),
				EstimateText(p.Precision), possible(p.F1))
		}
	}); err != nil {
		return err
	}
	remark := ""
	if slices.ContainsFunc(c.Confusion, func(row []float64) bool { return slices.Min(row) < 0 }) {
		remark = "; estimates below 0 are shown as 0"
	}
	return printCounts(w, "estimated confusion matrix", remark, classes, func(i, k int) string {
		return fmt.Sprintf("%.1f", max(0, c.Confusion[i][k]))
	})
}

// printCounts prints a confusion matrix in examples, unless there are too many classes.
func printCounts(w io.Writer, name, remark string, classes []string,
	cell func(i, k int) string) error {
	if len(classes) > MostClasses {
		return nil
	}
	fmt.Fprintf(w, "\n%s, examples: column = true class, row = predicted%s\n", name, remark)
	return PrintMatrix(w, classes, cell)
}

// EstimateText prints an estimated share with its interval, as far as both can be: from 0 to 1. One
// whose whole interval cannot be is unknown; "-" means no estimate.
func EstimateText(e *metric.Estimate) string {
	switch {
	case e == nil:
		return "-"
	case e.Low > 1 || e.High < 0:
		return "unknown"
	}
	share := func(v float64) float64 { return min(max(v, 0), 1) }
	return fmt.Sprintf("%.4f (%.4f to %.4f)", share(e.Value), share(e.Low), share(e.High))
}

// ShareText prints a share; "-" if it is nil.
func ShareText(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *share)
}

// possible prints an estimated score without an interval, at most the 1 that it can be.
func possible(score *float64) string {
	if score != nil && *score > 1 {
		return "1.0000"
	}
	return ShareText(score)
}
