package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/metric"
)

func evalCommand() *cli.Command {
	flags := append([]cli.Flag{modelFlag()}, dataFlags("examples with right labels")...)
	flags = append(append(flags, matchFlag()), deviceFlags()...)
	return &cli.Command{
		Name:  "eval",
		Usage: "judge a model by examples whose labels are right",
		Description: "Prints the error rate; the confusion rate, which weighs rare classes like common ones (Frobenius\n" +
			"norm of the confusion matrix without its diagonal, over √Q); its operator norm; recall and precision\n" +
			"of each class; and the confusion matrix as counts, up to 30 classes. The JSON object has all of it.\n\n" +
			"Example: uma-gpu eval --model m.npz --data test.csv --json",
		Flags:  append(flags, jsonFlag(), quietFlag()),
		Action: eval,
	}
}

// evalReport is what eval --json prints.
type evalReport struct {
	metric.Report
	Classes []string      `json:"classes"`
	Model   string        `json:"model"`
	Device  engine.Device `json:"device"`
}

func eval(c *cli.Context) error {
	if err := checkUsage(c, "model", "data"); err != nil {
		return err
	}
	r, err := classify(c)
	if err != nil {
		return err
	}
	defer r.data.Close() // of what was only read: nothing to lose
	report, err := metric.Evaluate(r.data.Y, r.predicted, r.classes)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, evalReport{report, r.classes, c.String("model"), r.device})
	}
	return printReport(c.App.Writer, report, r.classes)
}

func printReport(w io.Writer, r metric.Report, classes []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "examples\t%d\n", r.Examples)
	fmt.Fprintf(t, "error rate\t%.4f\n", r.ErrorRate)
	fmt.Fprintf(t, "confusion rate\t%.4f\n", r.ConfusionRate)
	fmt.Fprintf(t, "operator norm\t%.4f\n\n", r.OperatorNorm)
	fmt.Fprintf(t, "class\texamples\trecall\tprecision\n")
	for _, p := range r.PerClass {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", p.Class, p.Examples, shareText(p.Recall), shareText(p.Precision))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(classes) > mostClasses {
		return nil
	}
	fmt.Fprintf(w, "\nconfusion matrix, examples: column = true class, row = predicted\n")
	return printMatrix(w, "", classes, func(i, j int) string { return strconv.FormatInt(r.Confusion[i][j], 10) })
}

// shareText prints a share that there may be none of.
func shareText(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *share)
}
