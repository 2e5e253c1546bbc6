// Package issues is the command that finds rows whose label is likely wrong.
package issues

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Common `json:"-"`
	Input      Input                    `json:"input"`
	Request    umagpu.FindIssuesRequest `json:"request,omitzero"`
	Output     Output                   `json:"output"`
	Device     app.Device               `json:"-"`
}

// Input are files and how they are read.
type Input struct {
	app.Labelled
	OutOfFold string `json:"probabilities,omitempty"` // "" where models are to be trained
}

// Output are files to write.
type Output struct {
	Rows string `json:"out,omitempty"`

	Safe app.SafeCells `json:"safe_cells,omitempty"` // of Rows
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "issues",
		Usage: "find rows whose label is likely wrong",
		Description: `Ranks rows by the probability that their label is right, from C and out-of-fold predictions. A
label is an issue if it is more likely wrong than right. Rows with equal features are judged
together. Prints the number of issues, by class and by pair of classes, and the worst 20. --json has
all issues.

Linear and rbf kernel models, nearest neighbours, a forest and boosting are mixed, by the likelihood
of held-out labels. --probabilities takes out-of-fold predictions of any program instead, and trains
nothing. Without --confusion, C is estimated. clean corrects the labels that issues finds.

--out writes all rows, the least likely label first, with cleanlab's columns and more; rows that were
skipped or have no label come last, by their numbers alone:

  example            number of the row in the input, from 1
  id                 with --id-column
  is_label_issue     whether the label is more likely wrong than right
  label_quality      probability that the label is right
  given_label        label in the data
  predicted_label    most likely class
  predicted_quality  probability of the predicted label
  duplicate_of       number of the first row with equal features, 0 if this is
                     the first
  conflict           whether equal rows have other labels

--annotators takes labels of several people. The given label is the majority vote. The predicted
label combines the model with all annotators, each weighted by a matrix learned without the row.

The rows with the lowest predicted_quality are the most uncertain. With right labels in a column
true, --out's table is a table for clean --checked. Such rows are wrong more often than others, so
they do not tell C: for that, check rows drawn at random.

--survey compares each row with its 10 nearest neighbours. It lists near duplicates, outliers,
regions and classes with more wrong labels, classes with less than a tenth of an equal share, and
missing values, and tests whether the order of the rows is random.

Example: uma-gpu issues --data noisy.csv --confusion C.csv --out issues.csv
Example: uma-gpu issues --data noisy.csv --probabilities p.npy
Example: uma-gpu issues --data pictures.csv --annotators labels.csv --out consensus.csv`,
		Flags: app.Flags(app.NoisyFlags(&o.Input.Labelled, &o.Common),
			app.AnnotatorFlags(&o.Input.Labelled),
			app.ParameterFlags(&o.Request, "normalize", "survey"),
			o.Device.Flags(), app.Input(&o.Input.OutOfFold, "probabilities",
				"out-of-fold probabilities of classes: `FILE`, .npy or CSV"),
			app.Output(&o.Output.Rows, "out", "also write all rows, ranked, to `FILE`.csv"),
			o.Output.Safe.Flag(), o.RequestFlag(o), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what issues --json prints.
type Report struct {
	Request       *Options       `json:"request"`
	Learner       string         `json:"learner"` // or the model that won
	Folds         int            `json:"folds,omitempty"`
	EstimatedBy   string         `json:"confusion_estimated_by,omitempty"` // "" if C was given
	Evidence      string         `json:"evidence,omitempty"`               // that labels are wrong
	WrongShare    *umagpu.Share  `json:"wrong_labels,omitempty"`           // if C was estimated
	NotIdentified []string       `json:"not_identified,omitempty"`         // true classes
	ToIdentify    []int          `json:"to_identify,omitempty"`            // rows to check, from 1
	Examples      int            `json:"examples"`
	Issues        int            `json:"issues"`
	ExpectedWrong float64        `json:"expected_wrong"` // labels, by the probabilities
	Duplicates    int            `json:"duplicates"`     // rows with the features of an earlier one
	Conflicts     int            `json:"conflicts"`      // rows with an equal one of another label
	PerClass      []classIssues  `json:"per_class"`
	Pairs         []pairIssues   `json:"pairs"` // the most frequent first
	Rows          []issueRow     `json:"rows"`  // the issues, the worst first
	Survey        *umagpu.Survey `json:"survey,omitempty"`
	Device        engine.Device  `json:"device,omitzero"`
}

type classIssues struct {
	Class         string  `json:"class"`
	Examples      int     `json:"examples"`
	Issues        int     `json:"issues"`
	ExpectedWrong float64 `json:"expected_wrong"`
}

type pairIssues struct {
	Given     string `json:"given_label"`
	Predicted string `json:"predicted_label"`
	Issues    int    `json:"issues"`
}

// Run finds the issues and writes what the options ask for.
func Run(ctx context.Context, o *Options) error {
	read, err := o.check()
	if err != nil {
		return err
	}
	d, err := o.Input.Data.Read(ctx, read)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	r := o.Request
	if err := o.readMore(ctx, d, &r); err != nil {
		return err
	}
	r.Data, r.Compute = umagpu.FromDataset(d), o.Device.Compute(o.Notes, app.Training)
	result, err := umagpu.FindIssues(ctx, &r)
	if err != nil {
		return err
	}
	rows := issueRows(d, result)
	report := newReport(d.Classes, rows)
	report.Request, report.Learner, report.Folds = o, result.Learner, result.Folds
	report.EstimatedBy, report.Device = result.Method, result.Device
	report.Evidence, report.NotIdentified = result.Evidence, result.NotIdentified
	report.WrongShare, report.ToIdentify = result.WrongShare, app.SourceRows(d, result.ToIdentify)
	report.Survey = inRows(result.Survey, d)
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if out := o.Output.Rows; out != "" {
		err := osfile.Write(out, func(w io.Writer) error { return o.writeCSV(w, d, rows) })
		if err != nil {
			return err
		}
		o.Notes.Say("issues: %d rows, ranked, written to %s", len(rows), out)
	}
	return o.PrintTable(report, report.fill)
}

// check checks the options before a file is read, and returns how to read the data.
func (o *Options) check() (read file.Options, err error) {
	out := o.Output.Rows
	switch {
	case out != "" && !strings.EqualFold(filepath.Ext(out), ".csv"):
		return read, app.Usage("--out is %s, wanted a name that ends in .csv", out)
	case o.Input.OutOfFold != "" && o.Input.Annotators != "":
		return read, app.Usage("--probabilities and --annotators exclude each other: nothing is trained")
	}
	try := o.Request // with what will be read
	try.Data = umagpu.FromDataset(new(dataset.Dataset))
	if o.Input.OutOfFold != "" {
		try.Probabilities = []float32{}
	}
	if o.Input.Annotators != "" {
		try.Labels = &umagpu.Labels{Votes: &umagpu.Votes{}}
	}
	if err := try.Check(); err != nil {
		return read, err
	}
	return o.Input.Check()
}

// readMore reads what other files say of d.
func (o *Options) readMore(ctx context.Context, d *dataset.Dataset, r *umagpu.FindIssuesRequest,
) (err error) {
	if o.Input.Annotators != "" {
		reader := &app.LabelReader{Input: &o.Input.Labelled, Notes: o.Notes, In: o.In, Seed: r.Seed}
		a, err := reader.Annotations(ctx, d)
		if err != nil {
			return err
		}
		r.Labels = app.LabelsOf(a)
	}
	if r.Confusion, err = o.Input.Confusion(ctx, d.Classes); err != nil || o.Input.OutOfFold == "" {
		return err
	}
	r.Probabilities, err = app.ReadProbabilities(ctx, o.Input.OutOfFold, d)
	return err
}

func newReport(classes []string, rows []issueRow) Report {
	r := Report{Examples: len(rows), Rows: []issueRow{}, Pairs: []pairIssues{}}
	at, pairs := map[string]int{}, map[[2]string]int{}
	for k, name := range classes {
		at[name] = k
		r.PerClass = append(r.PerClass, classIssues{Class: name})
	}
	for _, row := range rows {
		class := &r.PerClass[at[row.Given]]
		class.Examples++
		class.ExpectedWrong += 1 - row.Quality
		r.ExpectedWrong += 1 - row.Quality
		if row.Duplicate > 0 {
			r.Duplicates++
		}
		if row.Conflict {
			r.Conflicts++
		}
		if row.Wrong {
			class.Issues++
			r.Issues++
			pairs[[2]string{row.Given, row.Predicted}]++
			r.Rows = append(r.Rows, row)
		}
	}
	for pair, n := range pairs {
		r.Pairs = append(r.Pairs, pairIssues{pair[0], pair[1], n})
	}
	slices.SortFunc(r.Pairs, func(a, b pairIssues) int {
		return cmp.Or(-cmp.Compare(a.Issues, b.Issues), cmp.Compare(at[a.Given], at[b.Given]),
			cmp.Compare(at[a.Predicted], at[b.Predicted]))
	})
	return r
}

// fill adds the rows of the report, the first of long lists.
func (r Report) fill(row app.Row) {
	const most = 20
	row("examples\t%d", r.Examples)
	if r.EstimatedBy != "" {
		row("C estimated by\t%s", r.EstimatedBy)
	}
	if r.Evidence != "" {
		row("evidence\t%s", r.Evidence)
	}
	if text := report.Identify(r.NotIdentified, r.ToIdentify); text != "" {
		row("not identified\t%s", text)
	}
	row("likely wrong labels\t%d", r.Issues)
	if r.WrongShare != nil {
		row("wrong labels\t%s", report.Share(*r.WrongShare).Percent())
	} else {
		row("expected wrong labels\t%.1f", r.ExpectedWrong)
	}
	row("duplicates\t%d, with conflicting labels %d\n", r.Duplicates, r.Conflicts)
	row("label\texamples\tlikely wrong\texpected wrong")
	for _, p := range r.PerClass {
		row("%s\t%d\t%d\t%.1f", app.Brief(p.Class), p.Examples, p.Issues, p.ExpectedWrong)
	}
	if len(r.Pairs) > 0 {
		row("\nlabel\tlikely class\texamples")
	}
	for _, p := range r.Pairs[:min(most, len(r.Pairs))] {
		row("%s\t%s\t%d", app.Brief(p.Given), app.Brief(p.Predicted), p.Issues)
	}
	for k, is := range r.Rows[:min(most, len(r.Rows))] {
		heading, id := "", ""
		if is.ID != nil {
			heading, id = "id\t", app.Brief(*is.ID)+"\t"
		}
		if k == 0 {
			row("\nexample\t%slabel\tlikely class\tlabel quality", heading)
		}
		row("%d\t%s%s\t%s\t%s", is.Example, id, app.Brief(is.Given), app.Brief(is.Predicted),
			report.Chance(is.Quality))
	}
	if r.Survey != nil {
		fillSurvey(row, r.Survey)
	}
}
