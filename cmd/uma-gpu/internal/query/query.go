// Package query is the command that chooses the rows that an expert should label next.
package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// Options have the pool as Data.
type Options struct {
	training.Options
	Shown         string // column for people to see; "" for none
	Labelled      string
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
		Description: `Trains on the labels so far and prints the rows of the pool whose labels would teach most, the best
first: a CSV of row (counted from 1), the id of --id-column, the text of --show, and an empty column
label. Fill in the labels, with ? where the expert cannot tell, and pass the file to the next call:

  uma-gpu query --pool P.csv --labelled L.csv --show text --out round-1.csv
  uma-gpu query --pool P.csv --labelled L.csv --show text --answers round-1.csv --out round-2.csv

A call keeps nothing: the same files, options and seed give the same rows on every device. Answers
name the row or the id; rows without a label may be asked again. Without --labelled, --classes names
the classes, and the first rows are random.

Strategies: ` + strings.Join(app.Texts(active.Strategies), ", ") + `.
docs/active.md says what each is, and when it loses.

--confusion is the confusion matrix of the expert's errors, for learners that correct it.

Example: uma-gpu query --pool pool.csv --labelled few.csv --k 10
Example: uma-gpu query --pool pool.svm --classes spam,ham --answers round-1.csv --answers round-2.csv`,
		Flags: app.Flags(
			app.Required(app.Input(&o.Data.Path, "pool", "rows to choose from: `FILE` (required)")),
			app.Input(&o.Labelled, "labelled", "rows with known labels: `FILE`"),
			app.Text(&o.Classes, "classes", "",
				"comma `LIST` of all classes, where --labelled lacks some of them"),
			app.Inputs(&o.Answers, "answers",
				"labels so far: `FILE`, a CSV with the columns row or id, and label; may be repeated"),
			app.Text(&o.Shown, "show", "",
				"`COLUMN` of the pool to show to the expert: a text, or a picture's path"),
			app.Without(training.NoisyDataFlags(&o.Options), "data"),
			app.Choice(&o.Strategy, "strategy", string(active.Margin), "`STRATEGY` by which to choose",
				app.Texts(active.Strategies)...),
			app.Count(&o.Ask.K, "k", 10, 1, math.MaxInt, "choose `K` rows"),
			app.Number(&o.Ask.Diversity, "diversity", 0.3,
				"`SHARE`, 0 to 1, of the choice that being unlike the other rows has"),
			app.Number(&o.Ask.Balance, "balance", 0,
				"`WEIGHT`, 0 or more, against predicted classes that have many labels"),
			app.Number(&o.Ask.Slack, "slack", 0,
				"`SHARE` by which classifiers of svm and bpm may be wrong; 0 for as needed"),
			training.UsualFlags(&o.Options), training.EngineFlags(&o.Options),
			app.OutputFlag{StringFlag: app.Text(&o.Out, "out", "-",
				"`FILE` for the rows; - is standard output")},
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
	Left     int             `json:"left"`     // rows of the pool that are neither labelled nor chosen
	Device   engine.Device   `json:"device"`
}

// row is a row of the pool to label.
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
	in, err := o.read(ctx)
	if err != nil {
		return err
	}
	defer in.Close() // only read
	chosen, device, err := o.choose(ctx, in)
	if err := o.Failure(ctx, err); err != nil {
		return err
	}
	r := Report{Strategy: o.Ask.Strategy, Learner: o.Train.Learner.Definition().Name, Device: device,
		Rows: []row{}}
	for _, i := range chosen {
		r.Rows = append(r.Rows, in.row(i))
	}
	var known []int
	for i, y := range in.labels {
		if y >= 0 {
			known = append(known, i)
		} else if y == active.Unknown {
			r.Left++
		}
	}
	r.Labelled, r.Left = len(known), r.Left-len(chosen)
	if len(chosen) == 0 {
		o.Notes.Say("rows: none is left to label")
	}
	if o.WriteLabelled != "" {
		if err := o.writeLabelled(ctx, in, known); err != nil {
			return err
		}
	}
	write := func(w io.Writer) error { return in.writeRows(w, r.Rows) }
	switch {
	case o.Out != "-":
		if err := atomicfile.Write(o.Out, write); err != nil {
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
	for _, limit := range []struct {
		flag        string
		value, most float64
	}{{"diversity", o.Ask.Diversity, 1}, {"balance", o.Ask.Balance, 1000},
		{"slack", o.Ask.Slack, 1000}} {
		if !(limit.value >= 0 && limit.value <= limit.most) {
			return app.Usage("--%s is %v, wanted 0 to %v", limit.flag, limit.value, limit.most)
		}
	}
	o.Ask.Strategy, o.Ask.Seed = active.Strategy(o.Strategy), o.Train.Seed
	switch {
	case o.Labelled == "" && o.Classes == "":
		return app.Usage("--labelled is missing; to begin without any label, name the classes: " +
			"--classes a,b,c")
	case o.OwnMap():
		return app.Usage("learner %s has a kernel map of its own, which needs labels; leave --kernel "+
			"out, or choose another learner", o.Train.Learner.Definition().Name)
	case o.WriteLabelled != "":
		return o.Data.CheckOutput(o.WriteLabelled)
	}
	return nil
}

// choose trains on the labels so far, if they have two classes, and returns the rows of the pool to
// label next and the device that computed.
func (o *Options) choose(ctx context.Context, in *input) (chosen []int, on engine.Device,
	err error) {
	if o.Ask.Noise, err = o.ReadNoise(ctx, in.all.Classes); err != nil {
		return nil, on, err
	}
	if o.Train.Engine, err = o.Device.Open(o.Notes, o.Work(in.all)); err != nil {
		return nil, on, err
	}
	defer func() { err = errors.Join(err, o.Train.Engine.Close()) }()
	o.Train.Watch = host.Watch{Note: o.Notes.Say}
	p, err := active.NewPool(ctx, in.all, o.Train)
	if err != nil {
		return nil, on, err
	}
	p.Labels = in.labels
	classes := map[int32]bool{}
	for _, y := range in.labels {
		if y >= 0 {
			classes[y] = true
		}
	}
	o.Ask.Train = o.Train
	o.Ask.Train.Watch = host.Watch{}
	var m *model.Model
	if len(classes) > 1 {
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

// writeLabelled writes the examples with a label as data to train on.
func (o *Options) writeLabelled(ctx context.Context, in *input, known []int) error {
	path := o.WriteLabelled
	if len(known) == 0 {
		return fmt.Errorf("%s: found no labelled row yet, wanted one to write", path)
	}
	d := in.all
	some := dataset.Dataset{Examples: d.Pick(known), Classes: d.Classes, Features: d.Features,
		Encoding: d.Encoding, Found: dataset.Found{Format: in.pool.Format}}
	for _, i := range known {
		some.Y = append(some.Y, in.labels[i])
	}
	if err := app.WriteData(ctx, path, &some, app.CopyOptions(path, &some)); err != nil {
		return err
	}
	o.Notes.Say("labelled: %d rows written to %s", len(known), path)
	return nil
}
