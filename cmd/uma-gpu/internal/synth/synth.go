// Package synth is the command that writes synthetic data.
package synth

import (
	"context"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/synth"
)

type Options struct {
	app.Common
	Examples int
	Features int
	Classes  int
	Seed     uint64
	Out      string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := &Options{Features: 64, Classes: 12}
	atLeast := func(n float64) umagpu.Range { return umagpu.Range{Least: n} }
	return &cli.Command{
		Name:   "synth",
		Hidden: true,
		Usage:  "write a synthetic data set of any size, the same on every machine",
		Description: `Draws class centres on a sphere and round noise about them, so that a linear
classifier is the best one. Classes are named 0, 1, ...; values have three decimals. More examples
of the same seed begin with the same ones.

Example: uma-gpu synth --examples 200000 --features 64 --classes 12 --out synthetic.csv.gz`,
		Flags: app.Flags(app.Required(app.Flag(&o.Examples, umagpu.Parameter{Name: "examples",
			Value: "N", Sentence: "number of examples (required)", Range: atLeast(1)})),
			app.Flag(&o.Features, umagpu.Parameter{Name: "features", Value: "D",
				Sentence: "number of features", Range: atLeast(1)}),
			app.Flag(&o.Classes, umagpu.Parameter{Name: "classes", Value: "Q",
				Sentence: "number of classes", Range: atLeast(2)}),
			app.SeedFlag(&o.Seed, "the examples"),
			app.Required(app.Output(&o.Out, "out",
				"`FILE` to write, label last; its name says the format (required)")), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run writes the data.
func Run(ctx context.Context, o *Options) error {
	if err := new(app.Data).CheckOutput(o.Out); err != nil {
		return err
	}
	set := &dataset.Dataset{Examples: dataset.Examples{N: o.Examples, D: o.Features}}
	var err error
	set.X, set.Y, err = synth.Generate(ctx, o.Examples, o.Features, o.Classes, o.Seed)
	if stopped := app.Interrupted(ctx); stopped != nil {
		err = stopped
	}
	if err != nil {
		return err
	}
	if set.Classes, err = app.ClassNames(o.Classes); err != nil {
		return err
	}
	if err := app.WriteData(ctx, o.Out, set, file.WriteOptions{}); err != nil {
		return err
	}
	o.Notes.Say("%d examples × %d features, %d classes, written to %s", o.Examples, o.Features,
		o.Classes, o.Out)
	return nil
}
