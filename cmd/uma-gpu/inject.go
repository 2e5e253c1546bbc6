package main

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func injectCommand() *cli.Command {
	flags := append(dataFlags("examples with right labels"), sourceFlags()...)
	return &cli.Command{
		Name:  "inject",
		Usage: "write a copy of the data with labels corrupted at random by a confusion matrix",
		Description: "The copy has the format and the label column of the original, unless its name (.csv, .tsv, .svm,\n" +
			".libsvm, .svmlight, .npz, and .gz or .zst behind it) asks for another format. The same seed corrupts\n" +
			"the same labels. Rates and shares are from 0 to 1.\n\n" +
			"Example: uma-gpu confusion inject --data train.csv --pairwise 0.4 --seed 1 --out noisy.csv \\\n" +
			"           --write-confusion C.csv",
		Flags: append(flags,
			seedFlag("the corruption and of --random"),
			outputFlag{&cli.StringFlag{Name: "out", Usage: "copy to write, `FILE` (required)"}},
			outputFlag{&cli.StringFlag{Name: "write-confusion", Usage: "also write the confusion matrix, `FILE`.csv"}},
			quietFlag()),
		Action: inject,
	}
}

func inject(c *cli.Context) error {
	if err := checkUsage(c, "data", "out"); err != nil {
		return err
	}
	options, err := dataOptions(c)
	if err != nil {
		return err
	}
	matrix, err := matrixSource(c)
	if err != nil {
		return err
	}
	out, keep := c.String("out"), c.String("write-confusion")
	if err := checkFormat(c, out); err != nil {
		return err
	}
	n := newNotes(c)
	d, err := readWhole(c.Context, c.String("data"), options, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := checkRaw(d, "a model would name the data without the changed labels; "+
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
	if err := interrupted(c.Context); err != nil {
		return err
	}
	var files atomicfile.Group
	defer files.Discard()
	if keep != "" {
		if err := files.Write(keep, m.WriteCSV); err != nil {
			return err
		}
	}
	if err := writeData(c.Context, out, d, together(&files, copyOptions(out, d))); err != nil {
		return err
	}
	if err := files.Commit(); err != nil {
		return err
	}
	n.idsLeftOut(d, out, copyOptions(out, d).Format)
	n.say("changed %d of %d labels (%.1f %%), written to %s", changed, d.N, 100*float64(changed)/float64(d.N), out)
	return nil
}

// idsLeftOut says that a file of a format, "" if its name says it, has no place for the ids of d.
func (n notes) idsLeftOut(d *dataset.Dataset, out, format string) {
	if format = cmp.Or(format, dataset.FormatOfName(out)); d.IDs != nil && format != "csv" {
		n.say("the ids are left out of %s; %s has no place for them", out, format)
	}
}

// copyOptions lays out a copy of d like the original, unless the name of the
// copy says otherwise.
func copyOptions(out string, d *dataset.Dataset) dataset.WriteOptions {
	var o dataset.WriteOptions
	name := strings.ToLower(out)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	if dataset.FormatOfName(out) == "" || strings.HasSuffix(name, ".data") { // no more than a habit of CSV files
		switch d.Format {
		case "csv", "arff", "parquet":
			o.Format = "csv"
		case "libsvm":
			o.Format = "libsvm"
		default: // the arrays of npy, npz and idx; only .npz has a place for labels
			o.Format = "npz"
		}
	}
	if d.LabelColumn > 0 && d.Encoding == nil { // else columns have become several, and the label goes last
		// Fewer columns may be left of the original's, if some were ignored.
		o.LabelColumn = strconv.Itoa(min(d.LabelColumn, d.TableWidth()))
	}
	return o
}
