// Package clean is the command that corrects the labels of a table and trains a model on it.
package clean

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

type Options struct {
	app.Common `json:"-"`
	Input      Input               `json:"input"`
	Request    umagpu.CleanRequest `json:"request,omitzero"`
	Output     Output              `json:"output"`
	Device     app.Device          `json:"-"`
}

// Input are files and how they are read.
type Input struct {
	app.Data
	app.Noise
	Checked string `json:"checked,omitempty"` // "" for none
}

// Output are the files of a cleaning.
type Output struct {
	Folder string `json:"dir,omitempty"`  // "" for one next to the data
	Show   string `json:"show,omitempty"` // column; "" for the first of texts

	Safe app.SafeCells `json:"safe_cells,omitempty"` // of rows.csv
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "clean",
		Usage: "find and correct the wrong labels of a table, and train a model",
		Description: `Takes a table whose labels may be wrong, and estimates how many are, which ones, and the
right labels. A mixture of models predicts rows that it has not seen, and estimates of how labels are
wrong compete to explain the labels by it; with --confusion, only that matrix does. If there is no
evidence of wrong labels, a note says so: what is corrected may then be a rare but right label.

--checked names a table of rows whose labels were verified: their number (column row, from 1) or id,
and the right label; also rows.csv with right labels in its column true. All models train on them, and each estimate has to explain them too. Twenty such
rows or more also measure how many labels are wrong.

Writes into the folder --dir, by default customers.clean for customers.csv:

  rows.csv     a line for each row of the table: whether its label is wrong, with
               what probability and why, the suggested label, and which rows to
               check first
  cleaned.csv  the table with corrected labels; no other byte changes
               (cleaned.xlsx of a .xlsx)
  model.npz    the model, for predict
  report.html  a report on both
  review.html  a page to check rows on, which saves checked.csv

Example: uma-gpu clean customers.csv --label churned
Example: uma-gpu clean customers.csv --label churned --checked checked.csv`,
		ArgsUsage: "TABLE",
		Flags: app.Flags(app.Input(&o.Input.Data.Path, "data", "same as TABLE"+app.DataUsage),
			o.Input.FormatFlags(&o.Common), o.Input.ReadingFlags(),
			app.ParameterFlags(&o.Input.TableOptions, "text"),
			o.Input.Noise.Flags("confusion matrix of the label noise: `FILE`, CSV or .npy "+
				"(default: estimated)"),
			app.Input(&o.Input.Checked, "checked",
				"verified labels of some rows: `FILE`, a CSV row,label or id,label"),
			&cli.StringFlag{Name: "dir", DefaultText: "the table's name, with .clean for its ending",
				Destination: &o.Output.Folder, Usage: "write into this `FOLDER`"},
			app.Text(&o.Output.Show, "show", "", "`COLUMN` to show beside suspects in report.html "+
				"(default: the first of --text)"),
			app.ParameterFlags(&o.Request, "seed"), o.Output.Safe.Flag(),
			o.Device.Flags(), o.RequestFlag(o), o.JSONFlag(),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run cleans the table.
func Run(ctx context.Context, o *Options) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	_, missing := os.Stat(o.Output.Folder)
	if err := os.MkdirAll(o.Output.Folder, 0o777); err != nil {
		return err
	}
	defer func() {
		if err != nil && missing != nil {
			os.Remove(o.Output.Folder) // which is empty
		}
	}()
	d, err := o.Input.Data.Read(ctx, o.Input.Options())
	if err != nil {
		return err
	}
	defer d.Close() // only read
	err = app.CheckRaw(d, "a cleaned table of prepared data is unreadable; clean the original data")
	if err != nil {
		return err
	}
	r := o.Request
	if r.Checked, err = app.ReadRight(ctx, o.Input.Checked, d); err != nil {
		return err
	}
	if r.Confusion, err = o.Input.Confusion(ctx, d.Classes); err != nil {
		return err
	}
	r.Data, r.Compute = umagpu.FromDataset(d), o.Device.Compute(o.Notes, app.Training)
	found, err := umagpu.Clean(ctx, &r)
	if err != nil {
		return err
	}
	report := &Report{Request: o, CleanResult: found, Table: d.Path, Examples: d.N,
		Next: app.SourceRows(d, found.Review), Identify: app.SourceRows(d, found.ToIdentify)}
	w := &writer{Options: o, d: d, request: &r, found: found}
	if report.Files, err = w.write(ctx); err != nil {
		return err
	}
	report.cleaned = w.cleaned
	found.Reasons = nil // which rows.csv has
	return o.Print(report, func(out io.Writer) error { return report.text(out, d) })
}

// check checks the options before a data file is read.
func (o *Options) check() error {
	switch path := &o.Input.Data.Path; {
	case len(o.Args) > 1 || len(o.Args) == 1 && *path != "":
		return app.Usage("unexpected argument %q, wanted one table, before all flags or behind them",
			o.Args[len(o.Args)-1])
	case len(o.Args) == 1:
		*path = o.Args[0]
	case *path == "":
		return app.Usage("the table is missing: uma-gpu clean TABLE --label COLUMN")
	}
	if o.Output.Folder == "" {
		if o.Input.Data.Path == "-" {
			return app.Missing("dir")
		}
		path, _ := file.SplitSheet(o.Input.Data.Path)
		o.Output.Folder = strings.TrimSuffix(path, filepath.Ext(path)) + ".clean"
	}
	return nil
}
