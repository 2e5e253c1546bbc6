package main

import (
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/judge"
)

func checkCommand() *cli.Command {
	flags := training.NoisyDataFlags()
	flags = append(flags, training.FoldFlags()...)
	flags = append(flags, app.TrainKernelFlags()...)
	flags = append(flags, device.Flags()...)
	flags = append(flags, []cli.Flag{app.JSONFlag(), app.QuietFlag()}...)
	return &cli.Command{
		Name:  "check",
		Usage: "say whether a confusion matrix helps, and whether labels contradict it",
		Description: "Trains --folds times with the matrix and as often without, and compares what " +
			"both say of the noisy\n" +
			"labels of examples that they have not seen. The matrix helps if these labels are likelier " +
			"with it. It is\n" +
			"contradicted if no true classes at all would give them. No right label is used.\n\n" +
			"That a matrix does not help need not be its fault: where people err on hard examples, C " +
			"alone says\n" +
			"little; --correction em uses more.\n\n" +
			"Example: uma-gpu confusion check --data noisy.csv --confusion C.csv",
		Flags:  flags,
		Action: checkNoise,
	}
}

// checkReport is what confusion check --json prints.
type checkReport struct {
	Learner string `json:"learner"`
	*judge.NoiseCheck
	Milder   *float64 `json:"estimated_error_if_milder,omitempty"` // JSON has no NaN
	Stronger *float64 `json:"estimated_error_if_stronger,omitempty"`
}

func checkNoise(c *cli.Context) error {
	o, err := training.NewOutOfFold(c, false, "data", "confusion")
	if err != nil {
		return err
	}
	defer o.Close()
	with, noise := o.Held, o.Noise
	o.Noise = nil
	o.Notes.Say("the same without a confusion matrix")
	if err := o.Train(c.Context, c.Int("folds")); err != nil {
		return err
	}
	check, err := judge.CheckNoise(o.Data.Y, noise, with, o.Held)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Confusion, err)
	}
	for _, w := range check.Warnings {
		o.Notes.Warn("%s: %s", o.Confusion, w)
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, checkReport{o.Learner.Definition().Name, check,
			finite(check.Milder), finite(check.Stronger)})
	}
	w := c.App.Writer
	if check.Contradicted() {
		fmt.Fprintf(w, "Labels contradict the confusion matrix; what follows presumes it.\n\n")
	}
	switch check.Verdict {
	case judge.Helps:
		fmt.Fprintf(w, "The confusion matrix helps: labels held out are likelier with it.\n\n")
	case judge.Harms:
		fmt.Fprintf(w, "The confusion matrix harms: labels held out are less likely with it, and no "+
			"more are right.\n\n")
	default:
		fmt.Fprintf(w, "The confusion matrix does not help: it makes no clear difference to labels "+
			"held out.\n\n")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	d := check.LogLikelihood
	fmt.Fprintf(t, "log-likelihood of a label\t%+.4f ± %.4f\n", d.Mean, d.StandardError)
	d = check.Accuracy
	fmt.Fprintf(t, "corrected accuracy\t%+.2f ± %.2f %%\n", 100*d.Mean, 100*d.StandardError)
	fmt.Fprintf(t, "labels it cannot explain\t%.1f %%\n", 100*check.Explained.Unexplained)
	fmt.Fprintf(t, "probability of these by chance\t%.2g\n", check.Explained.P)
	fmt.Fprintf(t, "estimated error with a tenth less noise, more\t%.4f, %.4f\n", check.Milder,
		check.Stronger)
	return t.Flush()
}

// finite returns v, nil if it is no number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
