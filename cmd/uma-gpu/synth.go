package main

import (
	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/synth"
)

func synthCommand() *cli.Command {
	return &cli.Command{
		Name:  "synth",
		Usage: "write a synthetic data set of any size, the same on every machine",
		Description: "Draws class centres on a sphere and round noise about them, " +
			"so that a linear classifier is the best\n" +
			"one. Classes are named 0, 1, ...; values have three decimals. More examples of the same seed begin\n" +
			"with the same ones. A binary file (.umab) need not fit in memory.\n\n" +
			"Example: uma-gpu synth --examples 200000 --features 64 --classes 12 --out synthetic.csv.gz",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "examples", Usage: "number `N` of examples (required)"},
			&cli.IntFlag{Name: "features", Value: 64, Usage: "number `D` of features"},
			&cli.IntFlag{Name: "classes", Value: 12, Usage: "number `Q` of classes"},
			app.SeedFlag("the examples"),
			app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out", Usage: "`FILE` to write, label last; its name says the format (required)"}},
			app.QuietFlag(),
		},
		Action: synthesize,
	}
}

func synthesize(c *cli.Context) error {
	if err := app.CheckUsage(c, "out"); err != nil {
		return err
	}
	if !c.IsSet("examples") {
		return app.Usagef(c, "--examples is missing")
	}
	n, d, q := c.Int("examples"), c.Int("features"), c.Int("classes")
	for _, f := range []struct {
		name         string
		value, least int
	}{{"examples", n, 1}, {"features", d, 1}, {"classes", q, 2}} {
		if f.value < f.least {
			return app.Usagef(c, "--%s is %d, wanted at least %d", f.name, f.value, f.least)
		}
	}
	out := c.String("out")
	if err := app.CheckFormat(c, out); err != nil {
		return err
	}
	set := &dataset.Dataset{Examples: dataset.Examples{N: n, D: d}}
	o := dataset.WriteOptions{}
	var err error
	if dataset.FormatOfName(out) == "binary" {
		err = rowByRow(c, set, q, &o)
	} else {
		set.X, set.Y, err = synth.GenerateContext(c.Context, n, d, q, c.Uint64("seed"))
	}
	if stopped := app.Interrupted(c.Context); stopped != nil {
		err = stopped
	}
	if err != nil {
		return err
	}
	if set.Classes, err = app.ClassNames(q); err != nil {
		return err
	}
	if err := app.WriteData(c.Context, out, set, o); err != nil {
		return err
	}
	app.NewNotes(c).Say("%d examples × %d features, %d classes, written to %s", n, d, q, out)
	return nil
}

// rowByRow labels the examples of set, and has o make them while they are written.
func rowByRow(c *cli.Context, set *dataset.Dataset, q int, o *dataset.WriteOptions) error {
	s, err := synth.New(set.N, set.D, q, c.Uint64("seed"))
	if err != nil {
		return err
	}
	o.Rows = s.Rows
	set.Y, err = s.Labels(c.Context)
	return err
}
