// Package predict is the command that prints the class of each example.
package predict

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// Options are the options of the command.
type Options struct {
	classify.Options
	Out           string
	Probabilities bool
	Scores        bool
	To            string // format of these
}

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := &Options{Options: classify.Options{Unlabelled: true}}
	return &cli.Command{
		Name:  "predict",
		Usage: "print the class of each example of a file",
		Description: "Prints one class name per line, in the order of the examples, with no header. " +
			"Labels that the file has are\n" +
			"not used, but must be classes of the model; see eval for how right the predictions are.\n" +
			"With --id-column it is a CSV with the columns id and class.\n\n" +
			tableHelp + "\n\n" +
			"Example: uma-gpu predict --model m.npz --data new.csv --no-labels --out classes.txt\n" +
			"Example: uma-gpu predict --model m.npz --data new.csv --no-labels --proba --out " +
			"probabilities.jsonl",
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common, "examples to classify"),
			o.Data.NoLabelsFlag(),
			o.Model.MatchFlag(),
			app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out", Value: "-", Destination: &o.Out,
				Required: true,
				Usage:    "`FILE` for the predictions; - is standard output"}},
			&cli.BoolFlag{Name: probabilities, Destination: &o.Probabilities,
				Usage: "write the probability of each class"},
			&cli.BoolFlag{Name: scores, Destination: &o.Scores,
				Usage: "write the score of each class; the largest decides"},
			app.Choice(&o.To, "to", "auto",
				"`FORMAT` of these: auto (the name of --out says), csv, jsonl or npy",
				"auto", "csv", "jsonl", "npy"),
			o.Device.Flags(&o.Common), o.QuietFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// Run writes the classes, or a table of scores or probabilities.
func Run(ctx context.Context, o *Options) error {
	as, err := o.table()
	if err != nil {
		return err
	}
	r, err := o.Options.Run(ctx, func(m *model.Model) (bool, error) {
		if as.what == probabilities && m.Meta.Temperature == 0 {
			return false, fmt.Errorf("model file %s: %w", o.Model.Path,
				classify.AdviseCalibrate(model.ErrNoTemperature))
		}
		return as.what != "", nil
	})
	if err != nil {
		return err
	}
	defer r.Data.Close() // of what was only read: nothing to lose
	write := func(w io.Writer) error { return writeNames(r, w) }
	if as.what != "" {
		if as.what == probabilities {
			if err := r.Model.ToProbabilities(r.Scores); err != nil {
				return err
			}
		}
		write = func(w io.Writer) error { return as.write(w, r) }
	}
	if o.Out == "-" {
		return write(o.Common.Out)
	}
	return atomicfile.Write(o.Out, write)
}

// writeNames writes one class name per line, or a table if examples have ids. A name has no line
// break: the reader of the training data refuses control characters.
func writeNames(r classify.Classified, w io.Writer) error {
	if r.Data.IDs != nil {
		return writeNamed(r, w)
	}
	for _, class := range r.Predicted {
		if _, err := fmt.Fprintln(w, r.Classes[class]); err != nil {
			return err
		}
	}
	return nil
}

func writeNamed(r classify.Classified, out io.Writer) error {
	w := csv.NewWriter(out)
	if err := w.Write([]string{"id", "class"}); err != nil {
		return err
	}
	for i, class := range r.Predicted {
		if err := w.Write([]string{r.Data.IDs[i], r.Classes[class]}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
