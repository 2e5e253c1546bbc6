package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/metric"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func evalCommand() *cli.Command {
	flags := append([]cli.Flag{modelFlag()}, dataFlags("examples with right labels")...)
	flags = append(flags, matchFlag(),
		inputFlag{&cli.StringFlag{Name: "confusion",
			Usage: "the labels are noisy by the matrix of this `FILE`, CSV or .npy"}},
		axesFlag())
	flags = append(flags, deviceFlags()...)
	return &cli.Command{
		Name:  "eval",
		Usage: "judge a model by examples whose labels are right",
		Description: "Prints the error rate; the confusion rate, which weighs rare classes like common ones (Frobenius\n" +
			"norm of the confusion matrix without its diagonal, over √Q); its operator norm; recall and precision\n" +
			"of each class; and the confusion matrix as counts, up to 30 classes. The JSON object has all of it.\n\n" +
			"Of a model with a temperature (see calibrate) also how good its probabilities are: log-loss; Brier score,\n" +
			"the mean of the summed squares of p - [true class], 0 to 2; and the expected calibration error, how far\n" +
			"the share of right predictions is from the predicted class's probability, a mean over 15 bins of equal\n" +
			"width. All of these take the labels for right. With --confusion the corrected log-loss is added, that of\n" +
			"labels which are noisy by that matrix.\n\n" +
			"Example: uma-gpu eval --model m.npz --data test.csv --json",
		Flags:  append(flags, jsonFlag(), quietFlag()),
		Action: eval,
	}
}

// evalReport is what eval --json prints.
type evalReport struct {
	metric.Report
	*metric.Probabilities          // of a model with a temperature
	CorrectedLogLoss      *float64 `json:"corrected_log_loss,omitempty"` // with a confusion matrix

	Classes []string      `json:"classes"`
	Model   string        `json:"model"`
	Device  engine.Device `json:"device"`
}

func eval(c *cli.Context) error {
	if err := checkUsage(c, "model", "data"); err != nil {
		return err
	}
	noiseOf, err := noiseFlags(c)
	if err != nil {
		return err
	}
	r, err := classify(c, func(m *model.Model) (bool, error) {
		if m.Meta.Temperature > 0 {
			return true, nil
		}
		err := fmt.Errorf("model file %s: %w", c.String("model"), adviseCalibrate(model.ErrNoTemperature))
		if c.String("confusion") != "" {
			return false, err
		}
		newNotes(c).say("no log-loss, Brier score and calibration error: %v", err)
		return false, nil
	})
	if err != nil {
		return err
	}
	defer r.data.Close() // of what was only read: nothing to lose
	noise, err := noiseOf(r.classes)
	if err != nil {
		return err
	}
	report := evalReport{Classes: r.classes, Model: c.String("model"), Device: r.device}
	if report.Report, err = metric.Evaluate(r.data.Y, r.predicted, r.classes); err != nil {
		return err
	}
	if r.scores != nil {
		if err := report.judge(r, noise); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, report)
	}
	return report.print(c.App.Writer)
}

// judge adds how good the probabilities are, whose scores r has and loses. noise is nil where
// the labels are right.
func (e *evalReport) judge(r classified, noise *confusion.Matrix) error {
	if err := r.model.ToProbabilities(r.scores); err != nil {
		return err
	}
	p, err := metric.EvaluateProbabilities(r.data.Y, r.scores, len(r.classes))
	if err != nil {
		return err
	}
	e.Probabilities = &p
	if noise == nil {
		return nil
	}
	loss, err := metric.CorrectedLogLoss(r.data.Y, r.scores, noise.P)
	e.CorrectedLogLoss = &loss
	return err
}

// noiseFlags checks the flags --confusion and --confusion-axes, and returns what reads the
// matrix for classes that are not known yet; nil if none is given.
func noiseFlags(c *cli.Context) (func(classes []string) (*confusion.Matrix, error), error) {
	path := c.String("confusion")
	axes, err := trueRows(c)
	if err != nil {
		return nil, err
	}
	if path == "" && c.IsSet("confusion-axes") {
		return nil, usagef(c, "--confusion-axes is given without --confusion")
	}
	return func(classes []string) (*confusion.Matrix, error) {
		if path == "" {
			return nil, nil
		}
		return confusion.Read(path, confusion.ReadOptions{Classes: classes, TrueRows: axes})
	}, nil
}

// print prints the report for people.
func (r evalReport) print(w io.Writer) error {
	classes := r.Classes
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "examples\t%d\n", r.Examples)
	fmt.Fprintf(t, "error rate\t%.4f\n", r.ErrorRate)
	fmt.Fprintf(t, "confusion rate\t%.4f\n", r.ConfusionRate)
	fmt.Fprintf(t, "operator norm\t%.4f\n\n", r.OperatorNorm)
	if p := r.Probabilities; p != nil {
		fmt.Fprintf(t, "log-loss\t%.4f\n", p.LogLoss)
		fmt.Fprintf(t, "Brier score\t%.4f\n", p.BrierScore)
		fmt.Fprintf(t, "calibration error\t%.4f\n", p.CalibrationError)
		if r.CorrectedLogLoss != nil {
			fmt.Fprintf(t, "corrected log-loss\t%.4f\n", *r.CorrectedLogLoss)
		}
		fmt.Fprintln(t)
	}
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
