package main

import (
	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func injectCommand() *cli.Command {
	flags := append(app.DataFlags("examples with right labels"), sourceFlags()...)
	return &cli.Command{
		Name:  "inject",
		Usage: "write a copy of the data with labels corrupted at random by a confusion matrix",
		Description: "The copy has the format and the label column of the original, unless its name " +
			"(.csv, .tsv, .svm,\n" +
			".libsvm, .svmlight, .npz, and .gz or .zst behind it) asks for another format. The same seed " +
			"corrupts\n" +
			"the same labels. Rates and shares are from 0 to 1.\n\n" +
			"Example: uma-gpu confusion inject --data train.csv --pairwise 0.4 --seed 1 --out noisy.csv " +
			"\\\n" +
			"           --write-confusion C.csv",
		Flags: append(flags,
			app.SeedFlag(nil, "the corruption and of --random"),
			app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out",
				Usage: "copy to write, `FILE` (required)"}},
			app.OutputFlag{StringFlag: &cli.StringFlag{Name: "write-confusion",
				Usage: "also write the confusion matrix, `FILE`.csv"}},
			app.QuietFlag()),
		Action: inject,
	}
}

func inject(c *cli.Context) error {
	if err := app.CheckUsage(c, "data", "out"); err != nil {
		return err
	}
	options, err := app.DataOptions(c)
	if err != nil {
		return err
	}
	matrix, err := matrixSource(c)
	if err != nil {
		return err
	}
	out, keep := c.String("out"), c.String("write-confusion")
	if err := app.CheckFormat(c, out); err != nil {
		return err
	}
	n := app.NewNotes(c)
	d, err := app.ReadWhole(c.Context, c.String("data"), options, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := app.CheckRaw(d, "a model would name the data without the changed labels; "+
		"corrupt the original data"); err != nil {
		return err
	}
	m, err := matrix(d.Classes)
	if err != nil {
		return err
	}
	noisy, err := m.Inject(d.Y, c.Uint64("seed"))
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
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	var files atomicfile.Group
	defer files.Discard()
	if keep != "" {
		if err := files.Write(keep, m.WriteCSV); err != nil {
			return err
		}
	}
	if err := app.WriteData(c.Context, out, d, app.Together(&files, app.CopyOptions(out,
		d))); err != nil {
		return err
	}
	if err := files.Commit(); err != nil {
		return err
	}
	n.IDsLeftOut(d, out, app.CopyOptions(out, d).Format)
	n.Say("changed %d of %d labels (%.1f %%), written to %s", changed, d.N,
		100*float64(changed)/float64(d.N), out)
	return nil
}
