package main

import (
	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
)

func confusionCommand() *cli.Command {
	return &cli.Command{
		Name:        "confusion",
		Usage:       "estimate a confusion matrix, corrupt labels by one, look at one, or doubt it",
		Subcommands: []*cli.Command{estimateCommand(), injectCommand(), showCommand(), checkCommand()},
	}
}

// sourceFlags say which confusion matrix; exactly one of them is given.
func sourceFlags() []cli.Flag {
	return []cli.Flag{
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "confusion",
			Usage: "confusion matrix in a `FILE`, CSV or .npy"}},
		app.AxesFlag(),
		&cli.Float64Flag{Name: "symmetric",
			Usage: "labels are wrong at this `RATE`, all wrong classes alike"},
		&cli.Float64Flag{Name: "pairwise",
			Usage: "class q becomes q+1, the last one the first, at this `RATE`"},
		&cli.Float64Flag{Name: "random",
			Usage: "this `SHARE` of a random matrix, the rest of the identity"},
	}
}

// source is a confusion matrix still to be made, for classes that are not known
// before the data are read.
type source func(classes []string) (*confusion.Matrix, error)

// matrixSource checks the flags of sourceFlags.
func matrixSource(c *cli.Context) (source, error) {
	axes, err := app.TrueRows(c)
	if err != nil {
		return nil, err
	}
	rate := 0.0
	var given []string
	for _, name := range []string{"symmetric", "pairwise", "random"} {
		if c.IsSet(name) {
			given = append(given, name)
			if rate = c.Float64(name); !(rate >= 0 && rate <= 1) {
				return nil, app.Usagef(c, "--%s is %v, wanted a number from 0 to 1", name, rate)
			}
		}
	}
	path := c.String("confusion")
	if path != "" {
		given = append(given, "confusion")
	} else if c.IsSet("confusion-axes") {
		return nil, app.Usagef(c, "--confusion-axes is given without --confusion")
	}
	if len(given) != 1 {
		return nil, app.Usagef(c,
			"found %d confusion matrices, wanted exactly one of --confusion, --symmetric, "+
				"--pairwise and --random", len(given))
	}
	return func(classes []string) (*confusion.Matrix, error) {
		switch given[0] {
		case "symmetric":
			return confusion.Symmetric(classes, rate)
		case "pairwise":
			return confusion.Pairwise(classes, rate)
		case "random":
			return confusion.Random(classes, rate, c.Uint64("seed"))
		}
		return app.ReadMatrix(c.Context, path, confusion.ReadOptions{Classes: classes, TrueRows: axes})
	}, nil
}
