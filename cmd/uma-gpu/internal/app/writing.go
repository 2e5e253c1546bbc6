package app

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// IDsLeftOut says that a file of a format, "" if its name says it, has no place for the ids of d.
func (n Notes) IDsLeftOut(d *dataset.Dataset, out, format string) {
	if format = cmp.Or(format, file.FormatOfName(out)); d.IDs != nil && format != "csv" {
		n.Say("the ids are left out of %s; %s has no place for them", out, format)
	}
}

// CopyOptions lays out a copy of d like the original, unless the name of the
// copy says otherwise.
func CopyOptions(out string, d *dataset.Dataset) file.WriteOptions {
	var o file.WriteOptions
	name := strings.ToLower(out)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	// no more than a habit of CSV files
	if file.FormatOfName(out) == "" || strings.HasSuffix(name, ".data") {
		switch d.Format {
		case "csv", "arff", "parquet":
			o.Format = "csv"
		case "libsvm":
			o.Format = "libsvm"
		default: // the arrays of npy, npz and idx; only .npz has a place for labels
			o.Format = "npz"
		}
	}
	// else columns have become several, and the label goes last
	if d.LabelColumn > 0 && d.Encoding == nil {
		// Fewer columns may be left of the original's, if some were ignored.
		o.LabelColumn = strconv.Itoa(min(d.LabelColumn, file.TableWidth(d)))
	}
	return o
}

// checkFormat refuses an output whose name asks for a format that is only read, or that has no
// place for the labels.
func checkFormat(out string, noLabels bool) error {
	asked, formats := file.FormatOfName(out), file.WriteFormats()
	if asked != "" && !slices.Contains(formats, asked) {
		return Usage("%s: %s can be read but not written, wanted a name for %s", out, asked,
			OrList(formats))
	}
	return CheckLabels(asked, noLabels)
}

// CheckLabels refuses, before anything is read, a format that has no place for labels if there
// will be some.
func CheckLabels(format string, noLabels bool) error {
	if format == "npy" && !noLabels {
		return Usage("an .npy file has no place for the labels; write .npz")
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
