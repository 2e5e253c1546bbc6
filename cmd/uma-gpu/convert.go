package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func convertCommand() *cli.Command {
	return &cli.Command{
		Name:  "convert",
		Usage: "write a data set in another format",
		Description: "The name of --out says the format (.csv, .tsv, .svm, .npz, .npy, .umab, …) and " +
			"whether it is packed\n" +
			"(.gz, .zst); --to forces the format. A table keeps the label where it was. An .npz has the arrays X\n" +
			"and y, or if most values are 0 those of scipy.sparse.save_npz and y; an .npy has no place for labels\n" +
			"and takes --no-labels. The copy has the content hash that info prints of the original.\n\n" +
			"A binary file (.umab) is mapped into memory instead of read: of any size it opens at once, the\n" +
			"processor computes on it in place, and it need not fit in memory. --normalize prepares the features\n" +
			"once and for all: train then takes them as they are, and the model still predicts from raw data.\n\n" +
			"Data of any size are converted in the memory of some hundred megabytes: what is beyond that lies in files\n" +
			"without names in $TMPDIR or /var/tmp, which takes up to twice the features there.\n\n" +
			"Of a table with words or missing values the features are written that train makes of it (info\n" +
			"tells of them); --encoding has them made as they are for a model that was trained before.\n\n" +
			"Example: uma-gpu convert --data images.parquet --label-column label --out images.svm.gz\n" +
			"Example: uma-gpu convert --data big.csv --normalize auto --out big.umab",
		Flags: append(app.DataFlags("examples to convert"),
			app.NoLabelsFlag(),
			app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out", Usage: "`FILE` to write (required)"}},
			app.InputFlag{StringFlag: &cli.StringFlag{Name: "encoding", Usage: "make features of columns as those of the model `FILE`.npz"}},
			&cli.StringFlag{Name: "to", Value: "auto", Usage: "`FORMAT` to write: auto, " + app.OrList(dataset.WriteFormats())},
			&cli.StringFlag{Name: "normalize", Value: "auto", DefaultText: "raw features",
				Usage: "prepare for binary, by `STEPS` as of train"},
			app.QuietFlag()),
		Action: convert,
	}
}

func convert(c *cli.Context) error {
	if err := app.CheckUsage(c, "data", "out"); err != nil {
		return err
	}
	options, err := app.WholeOptions(c)
	if err != nil {
		return err
	}
	to, err := targetFormat(c)
	if err != nil {
		return err
	}
	steps, err := app.NormalizeSteps(c)
	if err != nil {
		return err
	}
	if c.IsSet("normalize") && to != "binary" {
		return app.Usagef(c, "--normalize is given with an output in format %s, wanted binary (.umab): "+
			"no other can say that the examples are prepared", to)
	}
	out := c.String("out")
	n := app.NewNotes(c)
	if err := encodedAs(c, &options); err != nil {
		return err
	}
	options.Spill = true
	d, err := app.ReadWhole(c.Context, c.String("data"), options, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	o := app.CopyOptions(out, d)
	if c.IsSet("normalize") {
		if o.Rows, err = host.PrepareRows(d, steps); err != nil {
			return err
		}
		if err := d.CheckNarrow(); err != nil {
			return err
		}
	}
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	o.Format = to
	if err := app.WriteData(c.Context, out, d, o); err != nil {
		return err
	}
	size := ""
	if about, err := os.Stat(out); err == nil {
		size = ", " + app.BytesText(about.Size())
	}
	prepared := ""
	if d.Prepared != nil {
		prepared = ", prepared by " + d.Prepared.Steps.String()
	}
	n.Say("%d examples × %d features%s written to %s as %s%s%s", d.N, d.FeatureCount(), app.ClassesOf(d), out,
		app.PackedText(out)+to, size, prepared)
	if d.Features != nil && to != "csv" && to != "binary" {
		n.Say("the names of the features are left out; %s has no place for them", to)
	}
	n.IDsLeftOut(d, out, to)
	return nil
}

// encodedAs has o read a table as the model of --encoding does.
func encodedAs(c *cli.Context, o *dataset.Options) error {
	path := c.String("encoding")
	if path == "" {
		return nil
	}
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	if m.Meta.Features.Encoding == nil {
		return fmt.Errorf("model file %s: found features that are columns of numbers, wanted a model of a table "+
			"with words or missing values", path)
	}
	if err := app.AsModel(c, o, m.Meta.Features); err != nil {
		return err
	}
	o.FeatureNames = m.Meta.Features.Names
	return nil
}

// targetFormat is the format that --to or the name of --out asks for.
func targetFormat(c *cli.Context) (string, error) {
	to, err := app.OneOf(c, "to", append([]string{"auto"}, dataset.WriteFormats()...)...)
	if err != nil {
		return "", err
	}
	if to != "auto" {
		return to, app.CheckLabelled(c, to)
	}
	out := c.String("out")
	if to = dataset.FormatOfName(out); to == "" {
		return "", app.Usagef(c, "the name %s does not tell a format; say --to %s", out, app.OrList(dataset.WriteFormats()))
	}
	return to, app.CheckFormat(c, out)
}
