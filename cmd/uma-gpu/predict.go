package main

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func predictCommand() *cli.Command {
	flags := append([]cli.Flag{app.ModelFlag()}, app.DataFlags("examples to classify")...)
	flags = append(flags,
		app.NoLabelsFlag(), app.MatchFlag(),
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out", Value: "-", Usage: "`FILE` for the predictions; - is standard output"}},
	)
	flags = append(append(flags, tableFlags()...), device.Flags()...)
	return &cli.Command{
		Name:  "predict",
		Usage: "print the class of each example of a file",
		Description: "Prints one class name per line, in the order of the examples, with no header. " +
			"Labels that the file has are\n" +
			"not used, but must be classes of the model; see eval for how right the predictions are.\n" +
			"With --id-column it is a CSV with the columns id and class.\n\n" +
			tableHelp + "\n\n" +
			"Example: uma-gpu predict --model m.npz --data new.csv --no-labels --out classes.txt\n" +
			"Example: uma-gpu predict --model m.npz --data new.csv --no-labels --proba --out probabilities.jsonl",
		Flags:  append(flags, app.QuietFlag()),
		Action: predict,
	}
}

func predict(c *cli.Context) error {
	if err := app.CheckUsage(c, "model", "data", "out"); err != nil {
		return err
	}
	out := c.String("out")
	as, err := tableOf(c)
	if err != nil {
		return err
	}
	r, err := classify(c, func(m *model.Model) (bool, error) {
		if as.what == probabilities && m.Meta.Temperature == 0 {
			return false, fmt.Errorf("model file %s: %w", c.String("model"), adviseCalibrate(model.ErrNoTemperature))
		}
		return as.what != "", nil
	})
	if err != nil {
		return err
	}
	defer r.data.Close() // of what was only read: nothing to lose
	write := r.writeNames
	if as.what != "" {
		if as.what == probabilities {
			if err := r.model.ToProbabilities(r.scores); err != nil {
				return err
			}
		}
		write = func(w io.Writer) error { return as.write(w, r) }
	}
	if out == "-" {
		return write(c.App.Writer)
	}
	return atomicfile.Write(out, write)
}

// writeNames writes one class name per line, or a table if examples have ids. A name has no line break: the
// reader of the training data refuses control characters.
func (r classified) writeNames(w io.Writer) error {
	if r.data.IDs != nil {
		return r.writeNamed(w)
	}
	for _, class := range r.predicted {
		if _, err := fmt.Fprintln(w, r.classes[class]); err != nil {
			return err
		}
	}
	return nil
}

func (r classified) writeNamed(out io.Writer) error {
	w := csv.NewWriter(out)
	if err := w.Write([]string{"id", "class"}); err != nil {
		return err
	}
	for i, class := range r.predicted {
		if err := w.Write([]string{r.data.IDs[i], r.classes[class]}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
