package app

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/confusion"
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

// AxesFlag returns the flag --confusion-axes.
func (n *Noise) AxesFlag() cli.Flag {
	return Choice(&n.Axes, "confusion-axes", TrueColumns,
		"`AXES` of the file: true-columns (they sum to 1) or true-rows", TrueColumns, InTrueRows)
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
		TrueRows: n.Axes == InTrueRows})
}

// PrintedAxesFlag returns the flag --axes.
func PrintedAxesFlag(into *string) cli.Flag {
	return Choice(into, "axes", TrueColumns, "`AXES` of printed matrices: true-columns or true-rows",
		TrueColumns, InTrueRows)
}

// NormalizeFlag returns the flag --normalize, whose value CheckSteps checks.
func NormalizeFlag(into *string) cli.Flag {
	return &cli.StringFlag{Name: "normalize", Value: "auto", Usage: NormalizeUsage, Destination: into}
}
