package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// The values of --axes and --confusion-axes.
const (
	TrueColumns = "true-columns"
	InTrueRows  = "true-rows"
)

// Noise are the options of the label noise: a confusion matrix in a file, or none.
type Noise struct {
	Path string
	Axes string // of the file
}

// Flags returns the flags --confusion and --confusion-axes.
func (n *Noise) Flags(usage string) []cli.Flag {
	return []cli.Flag{
		InputFlag{&cli.StringFlag{Name: "confusion", Usage: usage, Destination: &n.Path}},
		n.AxesFlag(),
	}
}

func (n *Noise) AxesFlag() cli.Flag {
	return Choice(&n.Axes, "confusion-axes", confusion.AxesAuto,
		"`AXES` of the file: auto (names tell), true-columns (they sum to 1) or true-rows",
		confusion.AxesAuto, TrueColumns, InTrueRows)
}

// Check refuses axes without a file.
func (n *Noise) Check(o *Common) error {
	if n.Path == "" && o.Given("confusion-axes") {
		return Usage("--confusion-axes is given without --confusion")
	}
	return nil
}

// Read returns the matrix for these classes, nil if no file is given.
func (n *Noise) Read(ctx context.Context, classes []string) (*confusion.Matrix, error) {
	if n.Path == "" {
		return nil, nil
	}
	return ReadMatrix(ctx, n.Path, confusion.ReadOptions{Classes: classes,
		Axes: n.Axes})
}

// NormalizeFlag returns the flag --normalize, whose value CheckSteps checks.
func NormalizeFlag(into *string) cli.Flag {
	return &cli.StringFlag{Name: "normalize", Value: "auto", Usage: NormalizeUsage, Destination: into}
}

// NormalizeUsage says what --normalize takes, NormalizeHelp what the default is.
const (
	NormalizeUsage = "comma list of `STEPS`: standardize, maxabs, bias, l2; or none"
	NormalizeHelp  = "--normalize auto prepares by " + dataset.DefaultSteps +
		", with a kernel function by " +
		host.DefaultStepsKernel + ", sparse data by " + dataset.DefaultStepsSparse + ",\n" +
		"texts with other columns beside them by " + dataset.DefaultStepsText +
		". Of a table, numbers\nare standardized and levels stay 0 or 1, in any storage."
)

// CheckSteps refuses a value of --normalize that is neither auto nor a list of steps.
func CheckSteps(steps string) error {
	if steps != "auto" {
		if _, err := dataset.ParseSteps(steps); err != nil {
			return Usage("--normalize: %v", err)
		}
	}
	return nil
}
