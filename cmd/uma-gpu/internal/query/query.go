// Package query is the command that chooses the rows that an expert should label next.
package query

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	training.Options
	Bare          bool            // no row has a label
	Shown         string          // column for people to see; "" for none
	Classes       string          // comma list
	Answers       cli.StringSlice // files
	Ask           active.Options
	Strategy      string
	Out           string
	WriteLabelled string
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
  uma-gpu query --data table.csv --show text --answers round-1.csv --out round-2.csv

A call keeps nothing: the same files, options and seed give the same rows on every device. Answers
name the row or the id; rows without a label may be asked again. If no row has a label, --classes
names the classes, and the first rows are random.

Strategies: ` + strings.Join(app.Texts(active.Strategies), ", ") + `.
docs/active.md says what each is, and when it loses.

--confusion is the confusion matrix of the expert's errors, for learners that correct it.

Example: uma-gpu query --data table.csv --k 10
Example: uma-gpu query --data pool.svm --no-labels --classes spam,ham --answers round-1.csv`,
		Flags: app.Flags(
			training.NoisyDataFlags(&o.Options),
			app.Switch(&o.Bare, "no-labels", "no row has a label: all columns are features"),
			app.Text(&o.Classes, "classes", "",
				"comma `LIST` of all classes, where the data lack some of them"),
			app.Inputs(&o.Answers, "answers",
				"labels so far: `FILE`, a CSV with the columns row or id, and label; may be repeated"),
			app.Text(&o.Shown, "show", "",
				"`COLUMN` of the data to show to the expert: a text, or a picture's path"),
			app.Choice(&o.Strategy, "strategy", string(active.Margin), "`STRATEGY` by which to choose",
				app.Texts(active.Strategies)...),
			app.Count(&o.Ask.K, "k", 10, 1, math.MaxInt, "choose `K` rows"),
			training.UsualFlags(&o.Options), training.EngineFlags(&o.Options),
			app.FileFlag{StringFlag: app.Text(&o.Out, "out", "-",
				"`FILE` for the rows; - is standard output"), Written: true},
			app.Output(&o.WriteLabelled, "write-labelled",
				"also write all labelled rows to `FILE`, to train on"),
			o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what query --json prints.
type Report struct {
	Strategy active.Strategy `json:"strategy"`
	Learner  string          `json:"learner"`
	Rows     []row           `json:"rows"`     // the best first
	Labelled int             `json:"labelled"` // rows with a label
	Left     int             `json:"left"`     // rows that are neither labelled nor chosen
	Device   engine.Device   `json:"device"`
}

// row is a row to label.
type row struct {
	Row   int    `json:"row"` // counted from 1
	ID    string `json:"id,omitempty"`
	Shown string `json:"shown,omitempty"`
}

// Run prints the rows to label next.
func Run(ctx context.Context, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	d, labels, texts, err := o.read(ctx)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	chosen, device, err := o.choose(ctx, d, labels)
	if err := o.Failure(ctx, err); err != nil {
		return err
	}
	r := Report{Strategy: o.Ask.Strategy, Learner: o.Train.Learner.Definition().Name, Device: device,
		Rows: []row{}}
	for _, i := range chosen {
		one := row{Row: d.SourceRow(i) + 1}
		if d.IDs != nil {
			one.ID = d.IDs[i]
		}
		if texts != nil {
			one.Shown = texts[d.SourceRow(i)]
		}
		r.Rows = append(r.Rows, one)
	}
	r.Labelled = lists.Count(labels, func(y int32) bool { return y >= 0 })
	r.Left = lists.Count(labels, func(y int32) bool { return y == active.Unknown }) - len(chosen)
	if len(chosen) == 0 {
		o.Notes.Say("rows: none is left to label")
	}
	if o.WriteLabelled != "" {
		if err := o.writeLabelled(ctx, d, labels); err != nil {
			return err
		}
	}
	write := func(w io.Writer) error { return o.writeRows(w, r.Rows, d.IDs != nil) }
	switch {
	case o.Out != "-":
		if err := osfile.Write(o.Out, write); err != nil {
			return err
		}
	case !o.JSON:
		return write(o.Common.Out)
	}
	if o.JSON {
		return app.PrintJSON(o.Common.Out, r)
	}
	return nil
}

// check checks the options before a file is read.
func (o *Options) check() error {
	if err := o.Check(); err != nil {
		return err
	}
	o.Ask.Strategy, o.Ask.Seed = cmp.Or(active.Strategy(o.Strategy), active.Margin), o.Train.Seed
	classes := app.List(o.Classes)
	for k, name := range classes {
		if classes[k] = strings.TrimSpace(name); classes[k] == "" || slices.Contains(classes[:k],
			classes[k]) {
			return app.Usage("--classes is %q, wanted different names", o.Classes)
		}
	}
	o.Read.Classes, o.Read.NoLabels = classes, o.Bare
	switch {
	case len(classes) == 1 || o.Bare && classes == nil:
		return app.Usage("--classes is %q, wanted two classes or more; to begin without any label, name "+
			"the classes: --classes a,b,c", o.Classes)
	case o.Train.Kernel != nil && o.Train.Learner.Definition().FitMap != nil:
		return app.Usage("learner %s has a kernel map of its own, which needs labels; leave --kernel "+
			"out, or choose another learner", o.Train.Learner.Definition().Name)
	case o.WriteLabelled != "":
		return o.Data.CheckOutput(o.WriteLabelled)
	}
	return nil
}

// read reads the data and the answers. It returns the label of each example, a class,
// active.Unknown or active.Aside, and the texts to show of each row; nil for none.
func (o *Options) read(ctx context.Context) (d *dataset.Dataset, labels []int32, texts []string,
	err error) {
	if e := o.Read.Encode; o.Shown != "" && !slices.Contains(e.Text.Columns, o.Shown) &&
		o.Shown != o.Data.IDColumn { // a text may be shown and learned from
		o.Read.Ignore = append(slices.Clone(o.Read.Ignore), o.Shown)
	}
	if d, err = app.ReadData(ctx, o.Data.Path, o.Read, o.Notes); err != nil {
		return nil, nil, nil, err
	}
	if o.Bare {
		d.Classes = o.Read.Classes
	}
	if err := app.CheckRaw(d, "give the original data"); err != nil {
		return nil, nil, nil, err
	}
	labels = slices.Repeat([]int32{active.Unknown}, d.N)
	for i, y := range d.Y {
		if d.Evidence == nil || d.Evidence.One(i, len(d.Classes)) {
			labels[i] = y
		}
	}
	d.Evidence = nil
	if o.Shown != "" {
		texts, err = file.ReadTexts(ctx, o.Data.Path, o.Shown, d.N+len(d.SkippedAt), o.Read)
		if err != nil {
			return nil, nil, nil, err
		}
	}
	return d, labels, texts, o.readAnswers(ctx, d, labels)
}

// readAnswers enters the labels of --answers.
func (o *Options) readAnswers(ctx context.Context, d *dataset.Dataset, labels []int32) error {
	u, err := newUnanswered(d, labels)
	if err != nil {
		return err
	}
	answered := 0
	for _, path := range o.Answers.Value() {
		text, err := app.Awaited(ctx, path, osfile.Read)
		if err != nil {
			return fmt.Errorf("%s: cannot read the answers: %w", path, err)
		}
		n, err := u.take(string(text))
		if bad := (*answerError)(nil); errors.As(err, &bad) {
			return fmt.Errorf("%s:%d: %w", path, bad.line, bad.err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		answered += n
	}
	if len(o.Answers.Value()) > 0 {
		o.Notes.Say("answers: %d rows have one", answered)
	}
	return nil
}

// choose trains on the labels so far, if they have two classes, and returns the rows to label next
// and the device that computed.
func (o *Options) choose(ctx context.Context, d *dataset.Dataset, labels []int32) (chosen []int,
	on engine.Device, err error) {
	if o.Ask.Noise, err = o.ReadNoise(ctx, d.Classes); err != nil {
		return nil, on, err
	}
	if o.Train.Engine, err = o.Device.Open(o.Notes, o.Work(d)); err != nil {
		return nil, on, err
	}
	defer func() { err = errors.Join(err, o.Train.Engine.Close()) }()
	o.Train.Watch = host.Watch{Note: o.Notes.Say}
	p, err := active.NewPool(ctx, d, o.Train)
	if err != nil {
		return nil, on, err
	}
	p.Labels = labels
	o.Ask.Train = o.Train
	o.Ask.Train.Watch = host.Watch{}
	var m *model.Model
	if len(lists.Set(lists.Keep(labels, func(y int32) bool { return y >= 0 }))) > 1 {
		trained, err := p.Fit(ctx, o.Ask.Noise, o.Ask.Train)
		if err != nil {
			return nil, on, err
		}
		m = trained.Model
	} else {
		o.Notes.Say("rows: drawn at random until two classes have labels")
	}
	chosen, err = p.Ask(ctx, o.Ask, m)
	return chosen, o.Train.Engine.Device(), err
}

// writeRows writes a CSV of rows with an empty column label.
func (o *Options) writeRows(w io.Writer, rows []row, ids bool) error {
	line := func(number, id, shown, label string) []string {
		cells := []string{number}
		if ids {
			cells = append(cells, id)
		}
		if o.Shown != "" {
			cells = append(cells, shown)
		}
		return append(cells, label)
	}
	shown := o.Shown
	if slices.Contains([]string{"row", "id", "label"}, shown) {
		shown += "_shown" // the other columns have these names
	}
	lines := [][]string{line("row", "id", shown, "label")}
	for _, r := range rows {
		lines = append(lines, line(strconv.Itoa(r.Row), r.ID, r.Shown, ""))
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// writeLabelled writes the examples with a label as data to train on.
func (o *Options) writeLabelled(ctx context.Context, d *dataset.Dataset, labels []int32) error {
	path, known := o.WriteLabelled, *d
	known.Y = make([]int32, d.N)
	for i, y := range labels {
		known.Y[i] = max(y, dataset.Unlabelled)
	}
	if slices.Max(known.Y) == dataset.Unlabelled {
		return fmt.Errorf("%s: found no labelled row yet, wanted one to write", path)
	}
	err := o.Data.WriteCopy(ctx, path, &known, file.Copy{Options: o.Read, Y: known.Y},
		app.CopyOptions(path, d))
	if err == nil {
		o.Notes.Say("labelled: rows with a label are in %s", path)
	}
	return err
}
