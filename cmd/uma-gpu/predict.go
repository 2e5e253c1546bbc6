package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func predictCommand() *cli.Command {
	flags := append([]cli.Flag{modelFlag()}, dataFlags("examples to classify")...)
	flags = append(flags,
		noLabelsFlag(), matchFlag(),
		outputFlag{&cli.StringFlag{Name: "out", Value: "-", Usage: "`FILE` for the predictions; - is standard output"}},
	)
	flags = append(flags, deviceFlags()...)
	return &cli.Command{
		Name:  "predict",
		Usage: "print the class of each example of a file",
		Description: "Prints one class name per line, in the order of the examples, with no header. Labels that the file has are\n" +
			"not used, but must be classes of the model; see eval for how right the predictions are.\n\n" +
			"Example: uma-gpu predict --model m.npz --data new.csv --no-labels --out classes.txt",
		Flags:  append(flags, quietFlag()),
		Action: predict,
	}
}

func predict(c *cli.Context) error {
	if err := checkUsage(c, "model", "data", "out"); err != nil {
		return err
	}
	out := c.String("out")
	r, err := classify(c)
	if err != nil {
		return err
	}
	defer r.data.Close() // of what was only read: nothing to lose
	if out == "-" {
		return r.writeNames(c.App.Writer)
	}
	return atomicfile.Write(out, r.writeNames)
}

// writeNames writes one class name per line. A name has no line break: the
// reader of the training data refuses control characters.
func (r classified) writeNames(w io.Writer) error {
	for _, class := range r.predicted {
		if _, err := fmt.Fprintln(w, r.classes[class]); err != nil {
			return err
		}
	}
	return nil
}
