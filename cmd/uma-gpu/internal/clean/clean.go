// Package clean is the command that corrects the labels of a table and trains a model on it.
package clean

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

type Options struct {
	app.Common
	Data    app.Data
	Checked string // file; "" for none
	Folder  string // "" for one next to the data
	Steps   string // of the preparation
	Seed    uint64
	Device  app.Device
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "clean",
		Usage: "find and correct the wrong labels of a table, and train a model",
		Description: `Takes a table whose labels may be wrong, and estimates how many are, which ones, and the
right labels. Several models compete: some trust the labels, some do not. They are compared on
held-out rows. If there is no evidence of wrong labels, no label is changed.

--checked names a table of rows whose labels were verified: their number (column row, from 1) or id,
and the right label. With twenty such rows or more, these rows choose the model and estimate how many
labels are wrong. All models train on them. Without them the labels themselves decide, and only clear
errors are corrected.

Writes into the folder --dir, by default customers.clean for customers.csv:

  rows.csv     a line for each row of the table: whether its label is wrong, with what probability,
               the suggested label, and which rows to check first
  cleaned.csv  the table with corrected labels; nothing else changes
  model.npz    the model, for predict
  report.html  a report on both

Example: uma-gpu clean customers.csv --label churned
Example: uma-gpu clean customers.csv --label churned --checked checked.csv`,
		ArgsUsage: "TABLE",
		Flags: app.Flags(app.Input(&o.Data.Path, "data", "same as TABLE"+app.DataUsage),
			o.Data.FormatFlags(&o.Common), o.Data.TextFlag(), o.Data.ColumnFlags(),
			app.Input(&o.Checked, "checked",
				"verified labels of some rows: `FILE`, a CSV row,label or id,label"),
			&cli.StringFlag{Name: "dir", DefaultText: "the table's name, with .clean for its ending",
				Destination: &o.Folder, Usage: "write into this `FOLDER`"},
			app.NormalizeFlag(&o.Steps), app.SeedFlag(&o.Seed, "all random choices"),
			o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run cleans the table.
func Run(ctx context.Context, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	d, err := o.Data.Read(ctx, o.Data.Options())
	if err != nil {
		return err
	}
	defer d.Close() // only read
	err = app.CheckRaw(d, "a cleaned table of prepared data is unreadable; clean the original data")
	if err != nil {
		return err
	}
	right, err := app.ReadRight(ctx, o.Checked, d)
	if err != nil {
		return err
	}
	found, where, err := o.find(ctx, d, right)
	if err != nil {
		return err
	}
	r := newReport(d, found)
	r.Device = where
	if err := o.write(ctx, d, found, r); err != nil {
		return err
	}
	return o.Print(r, r.text)
}

// check checks the options before a data file is read, and makes the folder.
func (o *Options) check() (err error) {
	switch {
	case len(o.Args) > 1 || len(o.Args) == 1 && o.Data.Path != "":
		return app.Usage("unexpected argument %q, wanted one table", o.Args[len(o.Args)-1])
	case len(o.Args) == 1:
		o.Data.Path = o.Args[0]
	case o.Data.Path == "":
		return app.Usage("the table is missing: uma-gpu clean TABLE --label COLUMN")
	}
	if o.Folder == "" {
		if o.Data.Path == "-" {
			return app.Missing("dir")
		}
		o.Folder = strings.TrimSuffix(o.Data.Path, filepath.Ext(o.Data.Path)) + ".clean"
	}
	return os.MkdirAll(o.Folder, 0o777)
}

func (o *Options) find(ctx context.Context, d *dataset.Dataset, right []int32,
) (found *clean.Result, where engine.Device, err error) {
	e, err := o.Device.Open(o.Notes, app.WorkOn(d.Examples, 0, len(d.Classes)))
	if err != nil {
		return nil, where, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := app.CheckTraining(e.Device(), d.N, d.D, len(d.Classes)); err != nil {
		return nil, where, fmt.Errorf("%s: %w", d.Path, err)
	}
	found, err = clean.Find(ctx, d, clean.Options{Right: right, Options: host.Options{Engine: e,
		Preparation: o.Steps, Seed: o.Seed, Tool: app.Version}})
	return found, e.Device(), app.Failure(ctx, d.Path, err)
}
