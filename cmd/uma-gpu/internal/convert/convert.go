// Package convert is the command that writes a data set in another format.
package convert

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

type Options struct {
	app.Common
	Data      app.Data
	Out       string
	To        string // format
	Encoding  string // model whose features to make
	Normalize string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "convert",
		Usage: "write a data set in another format",
		Description: `The name of --out says the format (.csv, .tsv, .svm, .npz, .npy) and
whether it is packed (.gz, .zst); --to forces the format. A table keeps the label where it was. An
.npz has the arrays X and y, or if most values are 0 those of scipy.sparse.save_npz and y. An .npy
has no place for labels and takes --no-labels. The copy has the content hash that info prints of the
original.

The float32 matrix of an .npy or .npz is mapped into memory instead of read, so it need not fit.
--normalize prepares the features once and for all, and keeps classes, names and preparation in an
.npz: train then takes them as they are, and the model still predicts from raw data.

Converting data of any size takes some hundred megabytes of memory. The features are kept in
temporary files in $TMPDIR or /var/tmp, which take up to three times their size there.

A table of text is copied to a table as it is, cell by cell, without the columns of
--ignore-columns. In any other format it is the features that train makes of it (info tells of
them). --encoding has them made, in a table too, as they are for a model that was trained before.

Example: uma-gpu convert --data images.parquet --label-column label --out images.svm.gz
Example: uma-gpu convert --data big.csv --normalize auto --out big.npz`,
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples to convert"), o.Data.ReadingFlags(),
			app.ParameterFlags(&o.Data.TableOptions, "text", "categories", "missing",
				"storage"), o.Data.NoLabelsFlag(),
			app.Required(app.Output(&o.Out, "out", "`FILE` to write (required)")),
			app.Input(&o.Encoding, "encoding", "encode columns as the model `FILE`.npz does"),
			app.Flag(&o.To, umagpu.Parameter{Name: "to", Value: "FORMAT", Default: "auto",
				Sentence: "to write", Choices: append([]string{"auto"}, file.Formats(true)...)}),
			app.StepsFlag(&cli.StringFlag{Name: "normalize", Value: "auto", DefaultText: "raw features",
				Destination: &o.Normalize, Usage: "prepare for an .npz, by `STEPS` as of train"}),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run writes the copy of the data.
func Run(ctx context.Context, o *Options) error {
	options := o.Data.Options()
	to, err := o.targetFormat()
	if err != nil {
		return err
	}
	if o.Given("normalize") && to != "npz" {
		return app.Usage("--normalize is given with an output in format %s, wanted npz: no other can "+
			"say that the examples are prepared", to)
	}
	if err := o.encodedAs(&options); err != nil {
		return err
	}
	options.Aside = true
	d, err := o.Data.Read(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	layout := app.CopyOptions(o.Out, d)
	if o.Given("normalize") {
		if layout.Rows, err = host.PrepareRows(d, o.Normalize); err != nil {
			return err
		}
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	layout.Format = to
	if o.Encoding == "" {
		err = o.Data.WriteCopy(ctx, o.Out, d, file.Copy{Options: options, WithoutIgnored: true}, layout)
	} else {
		err = app.WriteData(ctx, o.Out, d, layout)
	}
	if err != nil {
		return err
	}
	o.tell(d, to)
	return nil
}

// tell notes the size of the copy, and the parts that its format has no place for.
func (o *Options) tell(d *dataset.Dataset, to string) {
	size, prepared := "", ""
	if about, err := os.Stat(o.Out); err == nil {
		size = ", " + app.BytesText(about.Size())
	}
	if d.Prepared != nil {
		prepared = ", prepared by " + d.Prepared.Steps.String()
	}
	o.Notes.Say("%d examples × %d features%s written to %s as %s%s%s", d.N, d.FeatureCount(),
		app.ClassesOf(d),
		o.Out, app.PackedText(o.Out)+to, size, prepared)
	if d.Features != nil && to != "csv" && d.Prepared == nil {
		o.Notes.Say("the names of the features are left out; %s has no place for them", to)
	}
	o.Notes.IDsLeftOut(d, o.Out, to)
}

// encodedAs has a table read as the model of --encoding does.
func (o *Options) encodedAs(options *file.Options) error {
	if o.Encoding == "" {
		return nil
	}
	m, err := model.Load(o.Encoding)
	if err != nil {
		return err
	}
	if e := m.Meta.Features.Encoding; e.Plain() && e.Origins() == nil {
		return fmt.Errorf("model file %s: found features that are columns of numbers, wanted a model "+
			"of a table "+
			"with words or missing values", o.Encoding)
	}
	f := m.Meta.Features
	options.Features, options.Encoding, options.Encode = f.Count, f.Encoding, nil
	options.FeatureNames = m.Meta.Features.Names
	return nil
}

// targetFormat returns the format that --to or the name of --out asks for.
func (o *Options) targetFormat() (string, error) {
	if o.To != "" && o.To != "auto" {
		return o.To, app.CheckLabels(o.To, o.Data.NoLabels)
	}
	to := file.FormatOfName(o.Out)
	if to == "" {
		return "", app.Usage("the name %s does not tell a format; say --to %s", o.Out,
			quote.Or(file.Formats(true)))
	}
	return to, o.Data.CheckOutput(o.Out)
}
