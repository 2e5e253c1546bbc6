package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// Noise are the options of the label noise: a confusion matrix in a file, or none.
type Noise struct {
	Path string
	Axes string // of the file
}

// Flags returns the flags --confusion and --confusion-axes.
func (n *Noise) Flags(usage string) []cli.Flag {
	axes := n.AxesFlag()
	allowed := axes.Check
	axes.Check = func(c *cli.Context) error {
		if n.Path == "" && c.IsSet(axes.Name) {
			return Usage("--%s is given without --confusion", axes.Name)
		}
		return allowed(c)
	}
	return Grouped("Label noise", Input(&n.Path, "confusion", usage), axes)
}

func (n *Noise) AxesFlag() CheckedFlag {
	return Choice(&n.Axes, "confusion-axes", confusion.AxesAuto,
		"`AXES` of the file: auto (names tell), true-columns (they sum to 1) or true-rows",
		confusion.AxesAuto, "true-columns", "true-rows")
}

// Read returns the matrix for these classes, nil if no file is given.
func (n *Noise) Read(ctx context.Context, classes []string) (*confusion.Matrix, error) {
	if n.Path == "" {
		return nil, nil
	}
	return ReadMatrix(ctx, n.Path, confusion.ReadOptions{Classes: classes,
		Axes: n.Axes})
}

// NormalizeFlag returns the flag --normalize.
func NormalizeFlag(into *string) cli.Flag {
	return StepsFlag(Text(into, "normalize", "auto",
		"comma list of `STEPS`: standardize, maxabs, bias, l2; or none"))
}

// NormalizeHelp describes the default of --normalize.
const NormalizeHelp = "--normalize auto prepares by " + dataset.DefaultSteps +
	", with a kernel function by " +
	host.DefaultStepsKernel + ", sparse data by " + dataset.DefaultStepsSparse + ",\n" +
	"texts with other columns beside them by " + dataset.DefaultStepsText +
	". Of a table, numbers\nare standardized and levels stay 0 or 1, in any storage."

// StepsFlag makes a flag accept only auto or a list of steps.
func StepsFlag(f *cli.StringFlag) cli.Flag {
	return CheckedFlag{f, func(*cli.Context) error {
		if *f.Destination != "auto" {
			if _, err := dataset.ParseSteps(*f.Destination); err != nil {
				return Usage("--%s: %v", f.Name, err)
			}
		}
		return nil
	}}
}
