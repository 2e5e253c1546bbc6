package app

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/urfave/cli/v2"
)

// IDsLeftOut says that a file of a format, "" if its name says it, has no place for the ids of d.
func (n Notes) IDsLeftOut(d *dataset.Dataset, out, format string) {
	if format = cmp.Or(format, dataset.FormatOfName(out)); d.IDs != nil && format != "csv" {
		n.Say("the ids are left out of %s; %s has no place for them", out, format)
	}
}

// CopyOptions lays out a copy of d like the original, unless the name of the
// copy says otherwise.
func CopyOptions(out string, d *dataset.Dataset) dataset.WriteOptions {
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

// CheckFormat refuses an output whose name asks for a format that is only read,
// or that has no place for the labels.
func CheckFormat(c *cli.Context, out string) error {
	asked := dataset.FormatOfName(out)
	if asked != "" && !slices.Contains(dataset.WriteFormats(), asked) {
		return Usagef(c, "%s: %s can be read but not written, wanted a name for %s",
			out, asked, OrList(dataset.WriteFormats()))
	}
	return CheckLabelled(c, asked)
}

// CheckLabelled refuses, before anything is read, a format that has no place for
// labels if there will be some.
func CheckLabelled(c *cli.Context, format string) error {
	if format == "npy" && !c.Bool("no-labels") {
		return Usagef(c, "an .npy file has no place for the labels; write .npz")
	}
	return nil
}

// PackedText says how a file of that name is packed.
func PackedText(path string) string {
	switch name := strings.ToLower(path); {
	case strings.HasSuffix(name, ".gz"):
		return "gzip of "
	case strings.HasSuffix(name, ".zst"):
		return "zstd of "
	}
	return ""
}
