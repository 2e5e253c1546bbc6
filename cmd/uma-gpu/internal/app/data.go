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
	// Resumes says that the flags of learned columns may be given with a model, as the training that
	// is resumed was given them.
	Resumes bool

	ignore, decimal, categories, text string // comma lists, and a mark
	encode                            features.EncodeOptions
	common                            *Common
}

// Flags returns the flags of the data, but for --no-labels. usage is the text of --data.
func (d *Data) Flags(o *Common, usage string) []cli.Flag {
	return append([]cli.Flag{Required(Input(&d.Path, "data", usage+DataUsage))},
		d.FormatFlags(o)...)
}

// DataUsage stands behind what --data is.
const DataUsage = ": `FILE`, - for standard input, or parts: 'PATTERN*', or FILE,FILE (required)"

// FormatFlags returns the flags of the data but for --data.
func (d *Data) FormatFlags(o *Common) []cli.Flag {
	d.common = o
	e, formats := &d.encode, append([]string{"auto"}, file.Formats(false)...)
	return []cli.Flag{
		Choice(&d.Format, "format", "auto", "`FORMAT`: "+OrList(formats), formats...),
		&cli.StringFlag{Name: "label-column", Aliases: []string{"label"}, DefaultText: "last",
			Destination: &d.LabelColumn,
			Usage:       "`COLUMN` of the label: a name, a position from 1, first or last"},
		Text(&d.ignore, "ignore-columns", "",
			"comma `LIST` of columns to leave out, names or positions from 1"),
		&cli.StringFlag{Name: "id-column", Aliases: []string{"id"}, Destination: &d.IDColumn,
			Usage: "`COLUMN` that names the examples in reports and outputs; no feature"},
		Choice(&d.Header, "header", "auto",
			"`ANSWER` to whether a CSV begins with a header: auto, yes or no", "auto", "yes", "no"),
		CheckedFlag{Text(&d.Separator, "separator", "auto",
			"`CHARACTER` between the fields of a CSV, or comma, tab, semicolon, blanks"), d.checkSeparator},
		Choice(&d.decimal, "decimal", "point", "decimal `MARK` of a CSV: point or comma",
			"point", ".", "comma", ","),
		Input(&d.Labels, "labels", "second `FILE` with one label per example: IDX, .npy or text"),
		&cli.StringFlag{Name: "x-name", DefaultText: "X, x or the only matrix", Destination: &d.XName,
			Usage: "`NAME` of the features in an .npz"},
		&cli.StringFlag{Name: "y-name", DefaultText: "y or Y", Destination: &d.YName,
			Usage: "`NAME` of the labels in an .npz"},
		Switch(&d.ZeroBased, "zero-based", "indices of a LIBSVM file begin at 0, not at 1"),
		Choice(&d.Storage, "storage", "auto",
			"`FORM` of the features in memory: auto, dense or sparse",
			"auto", "dense", "sparse"),
		Count(&d.MaxErrors, "max-errors", 1, 1, math.MaxInt, "list the first `N` bad examples"),
		Switch(&d.SkipBad, "skip-bad", "pass over bad examples, and say which"),
		Text(&d.categories, "categories", "",
			"comma `LIST` of columns that are categories, as columns of words are"),
		Count(&e.Levels, "levels", 0, 1, math.MaxInt,
			"most `N` levels of a category, each a feature").Unless(fmt.Sprint(features.DefaultLevels)),
		Count(&e.Knots, "knots", features.UsualKnots, 0, mostKnots,
			fmt.Sprintf("most `N` knots, where the effect of a number bends; only tables with "+
				"words or missing values and at least %d examples have knots", features.KnotExamples)),
		CheckedFlag{Text(&d.text, "text", "",
			"comma `LIST` of columns of free text, whose tf-idf becomes features"), d.checkText},
		Count(&e.Text.Features, "text-features", 0, 1, math.MaxInt32, "most `N` terms, words and "+
			"runs of words, of a text's vocabulary").Unless(fmt.Sprint(features.DefaultTextFeatures)),
		Count(&e.Text.MinExamples, "text-min-df", 0, 1, math.MaxInt32, "fewest `N` examples that "+
			"have a term of it").Unless(fmt.Sprint(features.DefaultTextMinExamples)),
		Count(&e.Text.Words, "text-ngrams", 0, 1, features.MostTextWords,
			"most `N` words in a run").Unless(fmt.Sprint(features.DefaultTextWords)),
		Choice(&e.Missing, "missing", "auto",
			"`RULE` for missing values: error, mean, indicator (and a feature), or auto (and words among "+
				"numbers)", "auto", "error", "mean", "indicator"),
		Choice(&d.Unseen, "unseen", "zero",
			"`RULE` for levels that the model does not know: zero (none) or error", "zero", "error"),
	}
}

func (d *Data) NoLabelsFlag() cli.Flag {
	d.Unlabelled = true
	return Switch(&d.NoLabels, "no-labels",
		"all columns are features; LIBSVM's labels are passed over")
}

func (d *Data) checkSeparator(*cli.Context) error {
	if err := d.Options().CheckSeparator(); err != nil {
		return Usage("--separator: %v", err)
	}
	return nil
}

func (d *Data) checkText(c *cli.Context) error {
	for _, flag := range textColumns {
		if c.IsSet(flag) && d.text == "" {
			return Usage("--%s is given without --text", flag)
		}
	}
	return nil
}

const mostKnots = 100 // far beyond what helps

// textColumns are the flags about columns of text, learnedColumns those whose answer a model keeps.
var (
	textColumns    = []string{"text-features", "text-min-df", "text-ngrams"}
	learnedColumns = append([]string{"categories", "knots", "levels", "missing", "text"},
		textColumns...)
)

// Options returns how to read the data, with or without labels.
func (d *Data) Options() file.Options {
	o, e := d.readOptions, d.encode
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

// AsModel has o read the columns of a table as the columns of features f, whatever flags say of
// learned columns.
func (d *Data) AsModel(o *file.Options, f model.Features) {
	for _, flag := range learnedColumns {
		if d.common.Given(flag) && !d.Resumes {
			d.common.Notes.Say("--%s is left to the model, which knows what becomes of the columns", flag)
		}
	}
	if d.Resumes && d.encode.Missing == dataset.MissingAuto {
		o.SkipFew = true // as the training did
	}
	o.Features, o.Encoding, o.Encode = f.Count, f.Encoding, nil
}

// CheckOutput refuses an output whose name asks for a format that is only read, or that has no
// place for the labels.
func (d *Data) CheckOutput(out string) error { return checkFormat(out, d.NoLabels) }

// WriteCopy writes a copy of the examples, which o read, with labels y, those of -1 left out: the
// table's own rows and cells if they are a table of text and the copy is one, or else its features.
func (d *Data) WriteCopy(ctx context.Context, out string, of *dataset.Dataset, c file.Copy,
	w file.WriteOptions) (err error) {
	if c.Files, err = DataFiles(d.Path); err != nil {
		return err
	}
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
