package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// readOptions has the options of a file that are values of flags as they are.
type readOptions = file.Options

type Data struct {
	Path string
	readOptions
	Unlabelled bool // the command has --no-labels

	ignore, decimal, categories, text string // comma lists, and a mark
	encode                            features.EncodeOptions
	common                            *Common
}

// Flags returns --data, which usage describes, and the flags of how files are read.
func (d *Data) Flags(o *Common, usage string) []cli.Flag {
	return Grouped("Data", d.PathFlag(o, usage), d.FormatFlags(o))
}

// PathFlag returns --data alone, for commands that read plain matrices.
func (d *Data) PathFlag(o *Common, usage string) cli.Flag {
	d.bind(o)
	return Required(Input(&d.Path, "data", usage+DataUsage))
}

// bind sets the options that a command without their flags has.
func (d *Data) bind(o *Common) {
	d.common = o
	d.encode = features.EncodeOptions{Missing: dataset.MissingAuto, Knots: features.UsualKnots}
}

// zeroBased is the value of --format for LIBSVM files whose indices begin at 0.
const zeroBased = "libsvm0"

// DataUsage follows the description of --data.
const DataUsage = ": `FILE`, or - for standard input (required)"

// FormatFlags returns the flags of how files are read.
func (d *Data) FormatFlags(o *Common) []cli.Flag {
	d.bind(o)
	formats := append([]string{"auto", zeroBased}, file.Formats(false)...)
	return Grouped("Data",
		Choice(&d.Format, "format", "auto", "`FORMAT`: "+OrList(formats), formats...),
		&cli.StringFlag{Name: "label-column", Aliases: []string{"label"}, DefaultText: "last",
			Destination: &d.LabelColumn,
			Usage:       "`COLUMN` of the label: a name, a position from 1, first or last"},
		Text(&d.ignore, "ignore-columns", "",
			"comma-separated `LIST` of columns to leave out, names or positions from 1"),
		&cli.StringFlag{Name: "id-column", Aliases: []string{"id"}, Destination: &d.IDColumn,
			Usage: "`COLUMN` that names the examples in reports and outputs; not a feature"},
		Choice(&d.Header, "header", "auto",
			"whether a CSV file begins with a header, `ANSWER`: auto, yes or no", "auto", "yes", "no"),
		CheckedFlag{Text(&d.Separator, "separator", "auto",
			"`CHARACTER` between the fields of a CSV file, or comma, tab, semicolon, blanks"),
			d.checkSeparator},
		Choice(&d.decimal, "decimal", "point", "decimal `MARK` of a CSV file: point or comma",
			"point", ".", "comma", ","),
		Input(&d.Labels, "labels", "second `FILE` with one label per example: IDX, .npy or text"),
		Switch(&d.SkipBad, "skip-bad",
			"skip malformed examples, and say which; without it they are an error"))
}

// ColumnFlags returns the flags that say what the columns of a table are, but for --text.
func (d *Data) ColumnFlags() []cli.Flag {
	return Grouped("Data", Text(&d.categories, "categories", "",
		"comma-separated `LIST` of columns of numbers that are categories"),
		Choice(&d.encode.Missing, "missing", "auto",
			"`RULE` for missing values: error, mean, indicator (and a feature), or auto (and words among "+
				"numbers)", "auto", "error", "mean", "indicator"))
}

// TextFlag returns the flag of columns of text.
func (d *Data) TextFlag() cli.Flag {
	return Grouped("Data", CheckedFlag{Text(&d.text, "text", "",
		"comma-separated `LIST` of columns of free text, whose tf-idf becomes features"), d.checkText})[0]
}

// EncodingFlags returns the flags of how many features columns become, and how they are stored.
func (d *Data) EncodingFlags() []cli.Flag {
	e := &d.encode
	return Grouped("Data",
		Count(&e.Levels, "levels", 0, 1, math.MaxInt,
			"at most `N` levels of a category become features").Unless(fmt.Sprint(features.DefaultLevels)),
		Count(&e.Knots, "knots", features.UsualKnots, 0, mostKnots,
			fmt.Sprintf("at most `N` knots, where the effect of a number bends; only tables with "+
				"words or missing values and at least %d examples have knots", features.KnotExamples)),
		Count(&e.Text.Features, "text-features", 0, 1, math.MaxInt32, "at most `N` terms, words and "+
			"runs of words, of a text's vocabulary").Unless(fmt.Sprint(features.DefaultTextFeatures)),
		Count(&e.Text.MinExamples, "text-min-df", 0, 1, math.MaxInt32, "at least `N` examples "+
			"have each term").Unless(fmt.Sprint(features.DefaultTextMinExamples)),
		Count(&e.Text.Words, "text-ngrams", 0, 1, features.MostTextWords,
			"at most `N` words in a run").Unless(fmt.Sprint(features.DefaultTextWords)),
		d.StorageFlag())
}

func (d *Data) StorageFlag() cli.Flag {
	return Choice(&d.Storage, "storage", "auto",
		"`FORM` of the features in memory: auto, dense or sparse", "auto", "dense", "sparse")
}

// UnseenFlag returns the flag of levels that a model does not know.
func (d *Data) UnseenFlag() cli.Flag {
	return Choice(&d.Unseen, "unseen", "zero",
		"`RULE` for levels that the model does not know: zero (none) or error", "zero", "error")
}

func (d *Data) NoLabelsFlag() cli.Flag {
	d.Unlabelled = true
	return Switch(&d.NoLabels, "no-labels", "all columns are features; ignore LIBSVM's labels")
}

func (d *Data) checkSeparator(*cli.Context) error {
	if err := d.Options().CheckSeparator(); err != nil {
		return Usage("--separator: %v", err)
	}
	return nil
}

func (d *Data) checkText(c *cli.Context) error {
	for _, flag := range []string{"text-features", "text-min-df", "text-ngrams"} {
		if c.IsSet(flag) && d.text == "" {
			return Usage("--%s is given without --text", flag)
		}
	}
	return nil
}

const mostKnots = 100 // far beyond what helps

// Options returns how to read the data, with or without labels.
func (d *Data) Options() file.Options {
	o, e := d.readOptions, d.encode
	if o.Format == zeroBased {
		o.Format, o.ZeroBased = "libsvm", true
	}
	o.Stdin, o.Encode = d.common.In, &e
	o.Ignore, o.DecimalComma = List(d.ignore), d.decimal == "comma" || d.decimal == ","
	e.Categories, e.Text.Columns = List(d.categories), List(d.text)
	return o
}

// List cuts a comma list; an empty text is no list.
func List(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// Read reads the data; the caller closes what it gets, after all that uses its examples.
func (d *Data) Read(ctx context.Context, o file.Options) (*dataset.Dataset, error) {
	return ReadData(ctx, d.Path, o, d.common.Notes)
}

// AsModel has o read the columns of a table as the columns of features f.
func (d *Data) AsModel(o *file.Options, f model.Features) {
	o.Features, o.Encoding, o.Encode = f.Count, f.Encoding, nil
}

// CheckOutput refuses an output whose name asks for a format that is only read, or that has no
// place for the labels.
func (d *Data) CheckOutput(out string) error { return checkFormat(out, d.NoLabels) }

// WriteCopy writes a copy of the examples with labels c.Y, without examples labelled -1. A copy of
// a text table to a text table keeps its rows and cells; any other copy has the features.
func (d *Data) WriteCopy(ctx context.Context, out string, of *dataset.Dataset, c file.Copy,
	w file.WriteOptions) (err error) {
	c.Path = d.Path
	if cmp.Or(w.Format, file.FormatOfName(out)) == "csv" {
		err = file.CopyTable(ctx, out, of, c, w)
		if !errors.Is(err, file.ErrNoTable) {
			return writing(ctx, out, err)
		}
		if of.Encoding != nil {
			d.common.Notes.Say("%s has the features that columns become, not the columns themselves: %v",
				out, err)
		}
	}
	some := *of
	if c.Y != nil {
		var kept []int
		for i, y := range c.Y {
			if y >= 0 {
				kept = append(kept, i)
			}
		}
		if of.Y != nil {
			some.Y = c.Y
		}
		if len(kept) < of.N {
			part, err := some.Choose(kept)
			if err != nil {
				return err
			}
			some = *part
		}
		some.SHA256 = some.Hash()
	}
	return WriteData(ctx, out, &some, w)
}
