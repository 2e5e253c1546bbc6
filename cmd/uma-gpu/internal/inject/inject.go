// Package inject is the command that corrupts labels by a confusion matrix.
package inject

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// Options are the options of the command.
type Options struct {
	app.Common
	Data  app.Data
	Noise app.Noise // the matrix of a file
	Source
	Seed uint64
	Out  string
	Keep string // file for the matrix, "" for none
}

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "inject",
		Usage: "write a copy of the data with labels corrupted at random by a confusion matrix",
		Description: "The copy has the format and the label column of the original, unless its name " +
			"(.csv, .tsv, .svm,\n.libsvm, .svmlight, .npz, and .gz or .zst behind it) asks for another " +
			"format. The same seed corrupts\nthe same labels. Rates and shares are from 0 to 1.\n\n" +
			"Example: uma-gpu confusion inject --data train.csv --pairwise 0.4 --seed 1 --out noisy.csv " +
			"\\\n           --write-confusion C.csv",
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples with right labels"),
			o.Noise.Flags("confusion matrix in a `FILE`, CSV or .npy"), o.Source.flags(),
			app.SeedFlag(&o.Seed, "the corruption and of --random"),
			app.Required(app.Output(&o.Out, "out", "copy to write, `FILE` (required)")),
			app.Output(&o.Keep, "write-confusion", "also write the confusion matrix, `FILE`.csv"),
			o.QuietFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// Run writes the copy and the matrix.
func Run(ctx context.Context, o *Options) error {
	options, err := o.Data.Options()
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	out, keep := o.Out, o.Keep
	if err := o.Data.CheckOutput(out); err != nil {
		return err
	}
	d, err := o.Data.ReadWhole(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := app.CheckRaw(d, "a model would name the data without the changed labels; corrupt the "+
		"original data"); err != nil {
		return err
	}
	m, err := o.matrix(ctx, d.Classes)
	if err != nil {
		return err
	}
	noisy, err := m.Inject(d.Y, o.Seed)
	if err != nil {
		return err
	}
	changed := 0
	for i, y := range noisy {
		if y != d.Y[i] {
			changed++
		}
	}
	d.Y = noisy
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	var files atomicfile.Group
	defer files.Discard()
	if keep != "" {
		if err := files.Write(keep, m.WriteCSV); err != nil {
			return err
		}
	}
	if err := app.WriteData(ctx, out, d, app.Together(&files, app.CopyOptions(out, d))); err != nil {
		return err
	}
	if err := files.Commit(); err != nil {
		return err
	}
	o.Notes.IDsLeftOut(d, out, app.CopyOptions(out, d).Format)
	o.Notes.Say("changed %d of %d labels (%.1f %%), written to %s", changed, d.N,
		100*float64(changed)/float64(d.N), out)
	return nil
}
