package main

import (
	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func evalCommand() *cli.Command {
	flags := append([]cli.Flag{app.ModelFlag()}, app.DataFlags("examples with labels")...)
	flags = append(flags, app.MatchFlag(),
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "confusion",
			Usage: "the labels are noisy by the matrix of this `FILE`, CSV or .npy"}},
		app.AxesFlag(), app.PrintedAxesFlag())
	flags = append(flags, device.Flags()...)
	return &cli.Command{
		Name:  "eval",
		Usage: "judge a model by examples whose labels are right, or noisy in a known way",
		Description: "Prints the error rate; the confusion rate, which weighs rare classes like common ones (Frobenius\n" +
			"norm of the confusion matrix without its diagonal, over √Q); its operator norm; macro F1, balanced\n" +
			"accuracy and kappa as scikit-learn computes them; recall, precision and F1 of each class; and the\n" +
			"confusion matrix as counts, up to 30 classes, with --axes true-rows as scikit-learn prints it. The JSON\n" +
			"object has all of it.\n\n" +
			"Of a model with a temperature (see calibrate) also how good its probabilities are: log-loss; Brier score,\n" +
			"the mean of the summed squares of p - [true class], 0 to 2; and the expected calibration error, how far\n" +
			"the share of right predictions is from the predicted class's probability, a mean over 15 bins of equal\n" +
			"width. All of these take the labels for right.\n\n" +
			"With --confusion, by which the labels are noisy, it adds what they tell of right ones: the corrected\n" +
			"accuracy, recall and precision, each with an interval that holds the true value in 95 of 100 cases, and\n" +
			"the corrected log-loss. No right label is needed for them. Of a matrix that confusion estimate wrote, the\n" +
			"intervals have its standard errors in them.\n\n" +
			"Example: uma-gpu eval --model m.npz --data test.csv --json",
		Flags:  append(flags, app.JSONFlag(), app.QuietFlag()),
		Action: eval,
	}
}

// evalReport is what eval --json prints.
type evalReport struct {
	judgement
	Classes []string      `json:"classes"`
	Model   string        `json:"model"`
	Device  engine.Device `json:"device"`
}

func eval(c *cli.Context) error {
	if err := app.CheckUsage(c, "model", "data"); err != nil {
		return err
	}
	noiseOf, err := noiseFlags(c)
	if err != nil {
		return err
	}
	axes, err := app.PrintedAxes(c)
	if err != nil {
		return err
	}
	n := app.NewNotes(c)
	r, err := classify(c, func(m *model.Model) (bool, error) {
		if m.Meta.Temperature == 0 {
			n.Say("no log-loss, Brier score and calibration error: model file %s: %v", c.String("model"),
				adviseCalibrate(model.ErrNoTemperature))
		}
		return m.Meta.Temperature > 0, nil
	})
	if err != nil {
		return err
	}
	defer r.data.Close() // of what was only read: nothing to lose
	noise, err := noiseOf(r.classes)
	if err != nil {
		return err
	}
	if r.scores != nil {
		if err := r.model.ToProbabilities(r.scores); err != nil {
			return err
		}
	}
	report := evalReport{Classes: r.classes, Model: c.String("model"), Device: r.device}
	if report.judgement, err = judgementOf(r.data.Y, r.predicted, r.scores, r.classes, noise); err != nil {
		return err
	}
	report.warn(n)
	report.turn(axes)
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, report)
	}
	return report.print(c.App.Writer)
}

// noiseFlags checks the flags --confusion and --confusion-axes, and returns what reads the
// matrix for classes that are not known yet; nil if none is given.
func noiseFlags(c *cli.Context) (func(classes []string) (*confusion.Matrix, error), error) {
	path := c.String("confusion")
	axes, err := app.TrueRows(c)
	if err != nil {
		return nil, err
	}
	if path == "" && c.IsSet("confusion-axes") {
		return nil, app.Usagef(c, "--confusion-axes is given without --confusion")
	}
	return func(classes []string) (*confusion.Matrix, error) {
		if path == "" {
			return nil, nil
		}
		return app.ReadMatrix(c.Context, path, confusion.ReadOptions{Classes: classes, TrueRows: axes})
	}, nil
}
