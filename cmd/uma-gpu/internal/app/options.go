package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Data are the options of a file of examples and how it is read. The zero values of its fields
// stand for the defaults that help tells.
type Data struct {
	Path         string   `json:"data,omitempty"`
	Format       string   `json:"format,omitempty"`
	LabelColumn  string   `json:"label_column,omitempty"`
	Ignore       []string `json:"ignore_columns,omitempty"`
	IDColumn     string   `json:"id_column,omitempty"`
	Header       string   `json:"header,omitempty"`
	Separator    string   `json:"separator,omitempty"`
	Decimal      string   `json:"decimal,omitempty"`
	Labels       string   `json:"labels,omitempty"`
	SkipBad      int      `json:"skip_bad,omitempty"`
	NoLabels     bool     `json:"no_labels,omitempty"`
	WeightColumn string   `json:"weight_column,omitempty"`
	Between      string   `json:"candidates,omitempty"`
	UnknownLabel string   `json:"unknown_label,omitempty"`
	Unseen       string   `json:"unseen,omitempty"`
	umagpu.TableOptions
	Unlabelled bool `json:"-"` // the command has --no-labels

	common *Common
}

// Flags returns --data, which usage describes, and the flags of how files are read.
func (d *Data) Flags(o *Common, usage string) []cli.Flag {
	return Grouped("Data", d.PathFlag(o, usage), d.FormatFlags(o))
}

// PathFlag returns --data alone, for commands that read plain matrices.
func (d *Data) PathFlag(o *Common, usage string) cli.Flag {
	d.Bind(o)
	return Required(Input(&d.Path, "data", usage+DataUsage))
}

// Bind has the data of a command without their flags read with its streams and notes.
func (d *Data) Bind(o *Common) { d.common = o }

// zeroBased is the value of --format for LIBSVM files whose indices begin at 0.
const zeroBased = "libsvm0"

// DataUsage follows the description of --data.
const DataUsage = ": `FILE`, or - for standard input (required)"

// FormatFlags returns the flags of columns and labels that commands have.
func (d *Data) FormatFlags(o *Common) []cli.Flag {
	d.Bind(o)
	return Grouped("Data",
		&cli.StringFlag{Name: "label-column", Aliases: []string{"label"}, DefaultText: "last",
			Destination: &d.LabelColumn,
			Usage:       "`COLUMN` of the label: a name, a position from 1, first or last"},
		Flag(&d.Ignore, umagpu.Parameter{Name: "ignore_columns", Value: "LIST",
			Sentence: "comma-separated columns to leave out, names or positions from 1"}),
		&cli.StringFlag{Name: "id-column", Aliases: []string{"id"}, Destination: &d.IDColumn,
			Usage: "`COLUMN` that names the examples in reports and outputs; not a feature"},
		Input(&d.Labels, "labels", "second `FILE` with one label per example: IDX, .npy or text"))
}

// ReadingFlags returns the flags of files that are not read as they should without. Commands
// without them take them from --request.
func (d *Data) ReadingFlags() []cli.Flag {
	return Grouped("Data",
		Flag(&d.Format, umagpu.Parameter{Name: "format", Value: "FORMAT", Default: "auto",
			Sentence: "of the file", Choices: append([]string{"auto", zeroBased},
				file.Formats(false)...)}),
		Flag(&d.Header, umagpu.Parameter{Name: "header", Value: "ANSWER", Default: "auto",
			Sentence: "whether a CSV file begins with a header", Choices: []string{"auto", "yes", "no"}}),
		Checked(Text(&d.Separator, "separator", "",
			"`CHARACTER` between the fields of a CSV file, or comma, tab, semicolon, blanks"),
			d.checkSeparator).Unless("auto"),
		Flag(&d.Decimal, umagpu.Parameter{Name: "decimal", Value: "MARK", Default: "auto",
			Sentence: "decimal mark of a CSV file, auto for each column's own",
			Choices:  []string{"auto", "point", "comma"}}),
		Flag(&d.SkipBad, umagpu.Parameter{Name: "skip_bad", Value: "MANY",
			Sentence: "how many malformed rows are skipped and listed; one more is an error"}))
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

// Options returns how to read the data, with or without labels.
func (d *Data) Options() file.Options {
	o, e := file.Options{Format: d.Format, Labels: d.Labels, SkipBad: d.SkipBad,
		NoLabels: d.NoLabels, Storage: d.Storage, Stdin: d.common.In}, d.Encoding()
	o.Table = file.Table{Header: d.Header, Separator: d.Separator,
		Decimal: d.Decimal, LabelColumn: d.LabelColumn, IDColumn: d.IDColumn,
		WeightColumn: d.WeightColumn, Ignore: d.Ignore, Encode: &e, Unseen: d.Unseen}
	o.Between, o.UnknownLabel = d.Between, d.UnknownLabel
	if o.Format == zeroBased {
		o.Format, o.ZeroBased = "libsvm", true
	}
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
	if d.Text == nil && (d.TextFeatures != 0 || d.TextMinDF != 0 || d.TextNgrams != 0) {
		return nil, Usage("--text-features, --text-min-df or --text-ngrams is given without --text")
	}
	return ReadData(ctx, d.Path, o, d.common.Notes)
}

// CheckOutput refuses an output whose name asks for a format that is only read, or that has no
// place for the labels.
func (d *Data) CheckOutput(out string) error {
	asked, formats := file.FormatOfName(out), file.Formats(true)
	if asked != "" && !slices.Contains(formats, asked) {
		return Usage("%s: %s files can be read but not written, wanted a name for %s", out, asked,
			quote.Or(formats))
	}
	return CheckLabels(asked, d.NoLabels)
}

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
		if !of.Encoding.Plain() {
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

// Model are the options of a model and of how examples are matched with it.
type Model struct {
	Path  string `json:"model,omitempty"`
	Match string `json:"match_features,omitempty"` // by name or position
}

func (m *Model) Flag() cli.Flag {
	return Required(Input(&m.Path, "model", "model that train wrote: `FILE`.npz (required)"))
}

// MatchFlag returns the flag --match-features.
func MatchFlag(into *string) cli.Flag {
	return Flag(into, umagpu.Parameter{Name: "match_features", Value: "KEY", Default: "name",
		Sentence: "what matches features with the model's", Choices: []string{"name", "position"}})
}

// Read reads data for a model of features f. It selects and orders the columns by name, if there
// are names and --match-features is name.
func (m *Model) Read(ctx context.Context, d *Data, o file.Options, f model.Features,
) (*dataset.Dataset, error) {
	o.Features, o.Encoding, o.Encode = f.Count, f.Encoding, nil
	if m.Match != "position" && len(f.Names) > 0 {
		o.FeatureNames = f.Names
	}
	found, err := d.Read(ctx, o)
	if err == nil && o.FeatureNames == nil && found.Features != nil {
		d.common.Notes.Say("data: %s: features are matched by position, not by name",
			found.Path)
	}
	return found, err
}

// Noise are the options of the label noise: a confusion matrix in a file, or none.
type Noise struct {
	Path string `json:"confusion,omitempty"`
	Axes string `json:"confusion_axes,omitempty"` // of the file

	data []byte // of the file, once it has been read: it may be a pipe
}

// Flags returns the flags --confusion and --confusion-axes.
func (n *Noise) Flags(usage string) []cli.Flag {
	axes := Flag(&n.Axes, umagpu.Parameter{Name: "confusion_axes", Value: "AXES",
		Default: confusion.AxesAuto, Choices: []string{confusion.AxesAuto, "true-columns", "true-rows"},
		Sentence: "axes of the file; auto: names tell, true-columns sum to 1"}).(CheckedFlag)
	allowed := axes.Check
	axes.Check = func(c *cli.Context) error {
		if n.Path == "" && c.IsSet(axes.Name) {
			return Usage("--%s is given without --confusion", axes.Name)
		}
		return allowed(c)
	}
	return Grouped("Label noise", Input(&n.Path, "confusion", usage), axes)
}

// Read returns the matrix for these classes, nil if no file is given.
func (n *Noise) Read(ctx context.Context, classes []string) (*confusion.Matrix, error) {
	if n.Path == "" {
		return nil, nil
	}
	if n.data == nil {
		data, err := Awaited(ctx, n.Path, confusion.ReadBytes)
		if err != nil {
			return nil, err
		}
		n.data = data
	}
	t, err := confusion.Parse(n.Path, n.data, confusion.ReadOptions{Classes: classes, Axes: n.Axes})
	if err != nil {
		return nil, err
	}
	return t.Matrix()
}

// Confusion is Read for a request.
func (n *Noise) Confusion(ctx context.Context, classes []string) (*umagpu.Confusion, error) {
	m, err := n.Read(ctx, classes)
	return NewConfusion(m), err
}

// NewConfusion returns a matrix, nil for none, as requests have it.
func NewConfusion(m *confusion.Matrix) *umagpu.Confusion {
	if m == nil {
		return nil
	}
	return &umagpu.Confusion{P: Rows(m.P, m.Q()), Errors: Rows(m.Error, m.Q()),
		Axes: confusion.TrueColumns}
}

// NormalizeHelp describes the default of --normalize.
const NormalizeHelp = "--normalize auto prepares by " + dataset.DefaultSteps +
	", with a kernel function by " +
	dataset.DefaultStepsKernel + ", sparse data by " + dataset.DefaultStepsSparse + ",\n" +
	"texts with other columns beside them by " + dataset.DefaultStepsText +
	". Of a table, numbers\nare standardized and levels stay 0 or 1, in any storage."

// StepsFlag makes a flag accept only auto or a list of steps.
func StepsFlag(f *cli.StringFlag) cli.Flag {
	return CheckedFlag{StringFlag: f, Check: func(*cli.Context) error {
		if *f.Destination != "auto" {
			if _, err := dataset.ParseSteps(*f.Destination); err != nil {
				return Usage("--%s: %v", f.Name, err)
			}
		}
		return nil
	}}
}
