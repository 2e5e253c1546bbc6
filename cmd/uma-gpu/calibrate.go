package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func calibrateCommand() *cli.Command {
	flags := append([]cli.Flag{app.ModelFlag()}, app.DataFlags("examples that the model was not trained on")...)
	flags = append(flags, app.MatchFlag(),
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "confusion", Usage: "confusion matrix of their label noise: `FILE`, CSV or .npy"}},
		app.AxesFlag(),
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out", Usage: "the model with its new temperature, `FILE`.npz (required)"}})
	flags = append(flags, device.Flags()...)
	return &cli.Command{
		Name:  "calibrate",
		Usage: "fit the temperature of a model's probabilities to examples held out",
		Description: "Probabilities are softmax(scores / temperature). train fits the temperature to its own examples,\n" +
			"or with --temperature-folds to parts of them held out in turn; calibrate fits it to examples that\n" +
			"the model has never seen, which is best. Their labels may be noisy: it is the temperature of the\n" +
			"least Brier score, corrected by --confusion; without that the labels are taken to be right.\n" +
			"Nothing else changes.\n\n" +
			"Example: uma-gpu calibrate --model m.npz --data heldout.csv --confusion C.csv --out calibrated.npz",
		Flags:  append(flags, app.JSONFlag(), app.QuietFlag()),
		Action: calibrate,
	}
}

// calibrateReport is what calibrate --json prints.
type calibrateReport struct {
	Model       string   `json:"model"`
	Temperature float32  `json:"temperature"`
	Before      *float32 `json:"before"` // of the model as it was; null for none
	Examples    int      `json:"examples"`
}

func calibrate(c *cli.Context) error {
	if err := app.CheckUsage(c, "model", "data", "out"); err != nil {
		return err
	}
	noiseOf, err := noiseFlags(c)
	if err != nil {
		return err
	}
	out := c.String("out")
	r, err := classify(c, func(*model.Model) (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	defer r.data.Close() // of what was only read: nothing to lose
	noise, err := noiseOf(r.classes)
	if err != nil {
		return err
	}
	if noise == nil {
		app.NewNotes(c).Say("confusion matrix: none given, so the identity: all labels are taken to be right")
	}
	report := calibrateReport{Model: out, Examples: r.data.N}
	if before := r.model.Meta.Temperature; before > 0 {
		report.Before = &before
	}
	report.Temperature, err = confusion.Temperature(c.Context, r.scores, r.data.Y, len(r.classes), noise)
	if err != nil {
		return fmt.Errorf("%s: %w", r.data.Path, err)
	}
	r.model.Meta.Temperature, r.model.Meta.TemperatureFolds = report.Temperature, 0
	if err := r.model.Save(out); err != nil {
		return err
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, report)
	}
	before := "none"
	if report.Before != nil {
		before = fmt.Sprintf("%.4g", *report.Before)
	}
	t := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "model\t%s\n", out)
	fmt.Fprintf(t, "temperature\t%.4g (before: %s)\n", report.Temperature, before)
	return t.Flush()
}

// adviseCalibrate adds to the error of a model without a temperature how to fit one.
func adviseCalibrate(err error) error {
	if !errors.Is(err, model.ErrNoTemperature) {
		return err
	}
	return fmt.Errorf("%w: uma-gpu calibrate fits one to examples that were held out", err)
}
