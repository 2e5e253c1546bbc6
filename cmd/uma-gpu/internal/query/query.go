// Package query is the command that chooses the rows that an expert should label next.
package query

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/confusion/labels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Common `json:"-"`
	Input      Input               `json:"input"`
	Request    umagpu.QueryRequest `json:"request,omitzero"`
	Output     Output              `json:"output"`
	Device     app.Device          `json:"-"`
}

// Input are files and how they are read.
type Input struct {
	app.Labelled
	Shown   string   `json:"show,omitempty"`    // column for people to see
	Classes []string `json:"classes,omitempty"` // all of them; nil for those of the data
	Answers []string `json:"answers,omitempty"` // files

	answers cli.StringSlice // the flag
}

// Output are files to write.
type Output struct {
	Rows     string `json:"out,omitempty"` // "" for standard output
	Labelled string `json:"write_labelled,omitempty"`

	Safe app.SafeCells `json:"safe_cells,omitempty"` // of Rows
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "query",
		Usage: "choose which rows an expert should label next",
		Description: `Trains on the rows that have a label and prints those without one whose labels would teach most, the
best first: a CSV of row (counted from 1), the id of --id-column, the text of --show, and an empty
column label. Fill in the labels, with ? where the expert cannot tell, and pass the file to the next
call:

  uma-gpu query --data table.csv --show text --out round-1.csv
  uma-gpu query --data table.csv --show text --answers round-1.csv \
      --out round-2.csv

A call keeps nothing: the same files, options and seed give the same rows on every device. Answers
name the row or the id; rows without a label may be asked again. If no row has a label, --classes
names the classes, and the first rows are random.

--strategy margin, the default, asks where the two largest scores differ least, random anywhere.
docs/active.md says when each loses.

--confusion is the confusion matrix of the expert's errors, for learners that correct it.

Example: uma-gpu query --data table.csv --k 10
Example: uma-gpu query --data pool.svm --no-labels --classes spam,ham --answers round-1.csv`,
		Flags: app.Flags(app.NoisyFlags(&o.Input.Labelled, &o.Common),
			app.Switch(&o.Input.NoLabels, "no-labels", "no row has a label: all columns are features"),
			app.Flag(&o.Input.Classes, umagpu.Parameter{Name: "classes", Value: "LIST",
				Sentence: "comma list of all classes, where the data lack some of them"}),
			app.Inputs(&o.Input.answers, "answers",
				"labels so far: `FILE`, a CSV with the columns row or id, and label; may be repeated"),
			app.Text(&o.Input.Shown, "show", "",
				"`COLUMN` of the data to show to the expert: a text, or a picture's path"),
			app.ParameterFlags(&o.Request, "k", "strategy", "learner"),
			o.Device.Flags(), app.FileFlag{StringFlag: app.Text(&o.Output.Rows, "out", "-",
				"`FILE` for the rows; - is standard output"), Written: true},
			app.Output(&o.Output.Labelled, "write-labelled",
				"also write all labelled rows to `FILE`, to train on"),
			o.Output.Safe.Flag(), o.RequestFlag(o), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what query --json prints.
type Report struct {
	Request  *Options      `json:"request"`
	Strategy string        `json:"strategy"`
	Learner  string        `json:"learner"`
	Rows     []row         `json:"rows"`     // the best first
	Labelled int           `json:"labelled"` // rows with a label
	Left     int           `json:"left"`     // rows that are neither labelled nor chosen
	Device   engine.Device `json:"device"`
}

// row is a row to label.
type row struct {
	Row   int    `json:"row"` // counted from 1
	ID    string `json:"id,omitempty"`
	Shown string `json:"shown,omitempty"`
}

// Run prints the rows to label next.
func Run(ctx context.Context, o *Options) error {
	read, err := o.check()
	if err != nil {
		return err
	}
	d, labels, err := o.read(ctx, read)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	r := o.Request
	if r.Confusion, err = o.Input.Confusion(ctx, d.Classes); err != nil {
		return err
	}
	r.Labels = &umagpu.Labels{Classes: d.Classes, Codes: labels}
	for i, y := range labels {
		if y == active.Aside {
			r.Aside = append(r.Aside, int32(i))
		}
	}
	r.Data, r.Compute = umagpu.FromDataset(d), o.Device.Compute(o.Notes, app.Training)
	found, err := umagpu.Query(ctx, &r)
	if err != nil {
		return err
	}
	texts, err := o.texts(ctx, d, read, lists.As[int](found.Rows))
	if err != nil {
		return err
	}
	report := Report{o, found.Strategy, found.Learner, []row{}, found.Labelled, found.Left,
		found.Device}
	for _, i := range found.Rows {
		one := row{Row: d.SourceRow(i) + 1}
		if d.IDs != nil {
			one.ID = d.IDs[i]
		}
		one.Shown = texts[int(i)]
		report.Rows = append(report.Rows, one)
	}
	if o.Output.Labelled != "" {
		if err := o.writeLabelled(ctx, read, d, labels); err != nil {
			return err
		}
	}
	write := func(w io.Writer) error { return o.writeRows(w, report.Rows, d.IDs != nil) }
	switch {
	case o.Output.Rows != "-":
		if err := osfile.Write(o.Output.Rows, write); err != nil {
			return err
		}
	case !o.JSON:
		return write(o.Common.Out)
	}
	if o.JSON {
		return app.PrintJSON(o.Common.Out, report)
	}
	return nil
}

// check checks the options before a file is read, and returns how to read the data.
func (o *Options) check() (read file.Options, err error) {
	if err := o.Request.Check(); err != nil {
		return read, err
	}
	if given := o.Input.answers.Value(); len(given) > 0 {
		o.Input.Answers = given
	}
	in, bare := o.Input.Labelled, o.Input.NoLabels
	in.NoLabels = false // of data whose labels other files have
	if read, err = in.Check(); err != nil {
		return read, err
	}
	classes := slices.Clone(o.Input.Classes)
	for k, name := range classes {
		if classes[k] = strings.TrimSpace(name); classes[k] == "" || slices.Contains(classes[:k],
			classes[k]) {
			return read, app.Usage("--classes is %q, wanted different names",
				strings.Join(o.Input.Classes, ","))
		}
	}
	read.Classes, read.NoLabels = classes, bare
	if len(classes) == 1 || bare && classes == nil {
		return read, app.Usage("--classes is %q, wanted two classes or more; to begin without any "+
			"label, name the classes: --classes a,b,c", strings.Join(o.Input.Classes, ","))
	}
	if e := read.Encode; o.Input.Shown != "" && !slices.Contains(e.Text.Columns, o.Input.Shown) &&
		o.Input.Shown != o.Input.IDColumn { // a text may be shown and learned from
		read.Ignore = append(slices.Clone(read.Ignore), o.Input.Shown)
	}
	if o.Output.Labelled == "" {
		return read, nil
	}
	return read, o.Input.CheckOutput(o.Output.Labelled)
}

// read reads the data and the answers. It returns the label of each example, a class,
// active.Unknown or active.Aside.
func (o *Options) read(ctx context.Context, read file.Options) (d *dataset.Dataset, labels []int32,
	err error) {
	if d, err = app.ReadData(ctx, o.Input.Data.Path, read, o.Notes); err != nil {
		return nil, nil, err
	}
	if read.NoLabels {
		d.Classes = read.Classes
	}
	if err := app.CheckRaw(d, "give the original data"); err != nil {
		return nil, nil, err
	}
	labels = slices.Repeat([]int32{active.Unknown}, d.N)
	for i, y := range d.Y {
		if d.Evidence == nil || d.Evidence.One(i, len(d.Classes)) {
			labels[i] = y
		}
	}
	d.Evidence = nil
	return d, labels, o.readAnswers(ctx, d, labels)
}

// texts returns the texts to show of some examples; nil for none.
func (o *Options) texts(ctx context.Context, d *dataset.Dataset, read file.Options, rows []int,
) (map[int]string, error) {
	if o.Input.Shown == "" {
		return nil, nil
	}
	columns, cells, err := file.ReadRows(ctx, d,
		file.Copy{Path: o.Input.Data.Path, Options: read}, rows)
	if err != nil {
		return nil, cmp.Or(app.Interrupted(ctx), err)
	}
	at, err := file.FindColumn(columns, strings.TrimSpace(o.Input.Shown))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Input.Data.Path, err)
	}
	texts := map[int]string{}
	for i, row := range cells {
		texts[i] = strings.TrimSpace(row[at])
	}
	return texts, nil
}

// readAnswers enters the labels of --answers.
func (o *Options) readAnswers(ctx context.Context, d *dataset.Dataset, known []int32) error {
	answered := 0
	for _, path := range o.Input.Answers {
		n, err := app.Awaited(ctx, path, func(path string) (int, error) {
			return labels.Answers(ctx, path, d, known, active.Aside)
		})
		if err != nil {
			return err
		}
		answered += n
	}
	if len(o.Input.Answers) > 0 {
		o.Notes.Say("answers: %d rows have one", answered)
	}
	return nil
}

// writeRows writes a CSV of rows with an empty column label.
func (o *Options) writeRows(w io.Writer, rows []row, ids bool) error {
	line := func(number, id, shown, label string) []string {
		cells := []string{number}
		if ids {
			cells = append(cells, id)
		}
		if o.Input.Shown != "" {
			cells = append(cells, shown)
		}
		return append(cells, label)
	}
	shown := o.Input.Shown
	if slices.Contains([]string{"row", "id", "label"}, shown) {
		shown += "_shown" // the other columns have these names
	}
	lines := [][]string{line("row", "id", shown, "label")}
	for _, r := range rows {
		lines = append(lines, line(strconv.Itoa(r.Row), r.ID, r.Shown, ""))
	}
	for _, cells := range lines {
		o.Output.Safe.Of(cells)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// writeLabelled writes the examples with a label as data to train on.
func (o *Options) writeLabelled(ctx context.Context, read file.Options, d *dataset.Dataset,
	labels []int32) error {
	path, known := o.Output.Labelled, *d
	known.Y = make([]int32, d.N)
	for i, y := range labels {
		known.Y[i] = max(y, dataset.Unlabelled)
	}
	if slices.Max(known.Y) == dataset.Unlabelled {
		return fmt.Errorf("%s: found no labelled row yet, wanted one to write", path)
	}
	err := o.Input.WriteCopy(ctx, path, &known, file.Copy{Options: read, Y: known.Y},
		app.CopyOptions(path, d))
	if err == nil {
		o.Notes.Say("labelled: rows with a label are in %s", path)
	}
	return err
}
