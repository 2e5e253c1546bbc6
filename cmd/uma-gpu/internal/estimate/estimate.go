// Package estimate is the command that estimates a confusion matrix.
package estimate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/labels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Common `json:"-"`
	Input      Input                       `json:"input"`
	Request    umagpu.EstimateNoiseRequest `json:"request,omitzero"`
	Output     Output                      `json:"output"`
	Device     app.Device                  `json:"-"`

	source *source
}

// Input are files and how they are read.
type Input struct {
	app.Labelled
	Table     string `json:"table,omitempty"`
	Axes      string `json:"table_axes,omitempty"`
	Clean     string `json:"clean,omitempty"`
	OutOfFold string `json:"probabilities,omitempty"`
	Matrices  string `json:"matrices,omitempty"`
}

// Output are files to write.
type Output struct {
	Confusion     string `json:"out,omitempty"`
	Labels        string `json:"write_labels,omitempty"`
	Probabilities string `json:"write_probabilities,omitempty"`
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "estimate",
		Usage: "estimate the confusion matrix of labels",
		Description: `Takes one source: a table of true against noisy labels (--table), examples with both labels
(--clean), labels of several people (--annotators), votes of labelling functions (--functions), or
noisy labels alone (--data). Prints P(noisy = row | true = column) with standard errors and the
assumptions. --out writes the matrix for train --confusion.

A table is a CSV with names, as pandas' crosstab(true, noisy).to_csv() writes it, or numpy's .npy.

The methods depend on the source:

  --annotators     majority, one-coin, two-coin, dawid-skene or ebcc (subtypes of
                   classes); without one, held-out labels choose
  --probabilities  auto or confident-joint
  --data           auto, identity, clean or confident-joint (as cleanlab)

auto is the estimate of clean: a mixture of models predicts held-out labels, and hypotheses on C count
as far as they make these and --clean examples likelier than right labels do.

Example: uma-gpu confusion estimate --table crosstab.csv --out C.csv
Example: uma-gpu confusion estimate --data noisy.csv --clean checked.csv --out C.csv
Example: uma-gpu confusion estimate --annotators labels.csv --out C.csv --write-labels consensus.csv
Example: uma-gpu confusion estimate --functions votes.csv --write-probabilities p.npy`,
		Flags: app.Flags(
			app.Input(&o.Input.Table, "table",
				"counts or shares of true against noisy labels: `FILE`, CSV or .npy"),
			app.Text(&o.Input.Axes, "confusion-axes", "",
				"`AXES` of --table: auto, true-rows (as in scikit-learn), true-columns"),
			app.Input(&o.Input.Clean, "clean",
				"true classes of some examples: `FILE`, a CSV row,label, or noisy,true without --data"),
			app.Input(&o.Input.Annotators, "annotators",
				"labels of several people: `FILE`, a CSV row,worker,label, or a column for each"),
			app.TrustFlag(&o.Input.Labelled),
			app.Input(&o.Input.Matrices, "matrices", "what --json printed of annotators before: `FILE`; "+
				"new labels by them take seconds"),
			app.Input(&o.Input.Functions, "functions", "votes of labelling functions: `FILE`, a column "+
				"for each in a CSV (empty or -1: no vote), or an .npy"),
			app.Input(&o.Input.OutOfFold, "probabilities",
				"out-of-fold probabilities of the labels of --data: `FILE`, .npy or CSV"),
			app.Input(&o.Input.Data.Path, "data", "examples with noisy labels"+app.DataUsage),
			o.Input.FormatFlags(&o.Common), app.ParameterFlags(&o.Input.TableOptions, "text"),
			app.ParameterFlags(&o.Request, "method", "folds", "seed"),
			o.Device.Flags(),
			app.Output(&o.Output.Confusion, "out",
				"confusion matrix to write, `FILE`.csv, for train --confusion"),
			app.Output(&o.Output.Labels, "write-labels",
				"also write the consensus of annotators or functions, `FILE`.csv"),
			app.Output(&o.Output.Probabilities, "write-probabilities",
				"also write P(class | votes), `FILE`.npy, rows of ones without a vote"),
			o.RequestFlag(o), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// source is an input of an estimate.
type source struct {
	flag string
	with []string // flags of other sources that may accompany it
	only []string // flags that apply to it alone
	find func(*Options, context.Context) (*Report, error)
}

// sources are in order of precedence.
var sources = []source{
	{"table", nil, []string{"confusion-axes"}, (*Options).byTable},
	{"annotators", nil, []string{"write-labels", "trust", "matrices"}, (*Options).byVotes},
	{"functions", nil, []string{"write-labels", "trust", "write-probabilities"}, (*Options).byVotes},
	{"probabilities", []string{"data", "clean"}, nil, (*Options).byData},
	{"data", []string{"clean"}, []string{"folds", "kernel", "normalize"}, (*Options).byData},
	{"clean", nil, nil, (*Options).byPairs},
}

// Run makes the estimate and writes it.
func Run(ctx context.Context, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	r, err := o.source.find(o, ctx)
	if err != nil {
		return err
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if o.Output.Confusion != "" {
		m := &confusion.Matrix{Classes: r.Classes, P: slices.Concat(r.Confusion...),
			Error: slices.Concat(r.Error...)}
		if err := osfile.Write(o.Output.Confusion, m.Write); err != nil {
			return err
		}
	}
	return o.Print(r, r.text)
}

// check finds the source, and checks the options by it.
func (o *Options) check() (err error) {
	in := &o.Input
	files := map[string]string{"table": in.Table, "annotators": in.Annotators,
		"functions": in.Functions, "probabilities": in.OutOfFold, "data": in.Data.Path,
		"clean": in.Clean}
	var given []string
	for k, s := range sources {
		if files[s.flag] == "" {
			continue
		}
		if given = append(given, s.flag); o.source == nil {
			o.source = &sources[k]
		}
	}
	s := o.source
	if s == nil || len(given) > 1 && slices.ContainsFunc(given[1:], func(flag string) bool {
		return !slices.Contains(s.with, flag)
	}) || s.flag == "probabilities" && in.Data.Path == "" {
		return app.Usage("found the sources %q, wanted --table, --annotators, --functions, --clean, "+
			"or --data (also with --clean or --probabilities)", given)
	}
	only := map[string][]string{} // the sources of a flag
	for _, other := range sources {
		for _, flag := range other.only {
			only[flag] = append(only[flag], other.flag)
		}
	}
	for _, other := range sources {
		for _, flag := range other.only {
			if o.Given(flag) && !slices.Contains(only[flag], s.flag) {
				return app.Usage("--%s needs --%s", flag, strings.Join(only[flag], " or --"))
			}
		}
	}
	return o.checkMethod()
}

// checkMethod checks the method before files are read.
func (o *Options) checkMethod() error {
	labels := &umagpu.Labels{Classes: []string{"", " "}, Votes: &umagpu.Votes{
		Names: []string{""}, Rows: []int32{0}, By: []int32{0}, Codes: []int32{0},
		Functions: o.source.flag == "functions"}}
	try := o.Request // with what will be read
	try.Labels, try.True = labels, []int32{}
	switch o.source.flag {
	case "annotators", "functions":
		if o.Input.Matrices != "" && try.Method != "" {
			return app.Usage("found --matrices and --method, wanted one of them")
		}
		return (&umagpu.ConsensusRequest{Labels: labels, Examples: 1, Method: try.Method}).Check()
	case "probabilities":
		try.Probabilities = []float32{}
	case "data":
		try.Data = umagpu.FromDataset(new(dataset.Dataset))
	}
	return try.Check()
}

func (o *Options) byTable(ctx context.Context) (*Report, error) {
	t, err := app.Awaited(ctx, o.Input.Table, func(path string) (*confusion.Table, error) {
		return confusion.ReadTable(path, confusion.ReadOptions{Axes: o.Input.Axes})
	})
	if err != nil {
		return nil, err
	}
	what := "shares"
	if t.Counts {
		what = "counts"
	}
	o.Notes.Say("table: %s, %s of %d classes with %s", o.Input.Table, what, len(t.Classes), t.Axes)
	for _, note := range t.Notes {
		o.Notes.Say("table: %s", note)
	}
	r := o.Request
	q := len(t.Classes)
	r.Labels = &umagpu.Labels{Classes: t.Classes}
	r.Counts = &umagpu.Confusion{P: app.Rows(t.V, q), Errors: app.Rows(t.Error, q),
		Axes: confusion.TrueColumns}
	return o.estimate(ctx, &r, o.Input.Table)
}

func (o *Options) byPairs(ctx context.Context) (*Report, error) {
	r := o.Request
	r.Labels = new(umagpu.Labels)
	_, err := app.Awaited(ctx, o.Input.Clean, func(path string) (_ any, err error) {
		r.Labels.Classes, r.Labels.Codes, r.True, err = labels.Pairs(ctx, path)
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	return o.estimate(ctx, &r, o.Input.Clean)
}

func (o *Options) byData(ctx context.Context) (*Report, error) {
	d, err := o.Input.Data.Read(ctx, o.Input.Data.Options())
	if err != nil {
		return nil, err
	}
	defer d.Close() // only read
	r := o.Request
	if r.True, err = app.ReadRight(ctx, o.Input.Clean, d); err != nil {
		return nil, err
	}
	path := d.Path
	if o.Input.OutOfFold != "" {
		path = o.Input.OutOfFold
		if r.Probabilities, err = app.ReadProbabilities(ctx, path, d); err != nil {
			return nil, err
		}
	}
	r.Data, r.Compute = umagpu.FromDataset(d), o.Device.Compute(o.Notes, app.Training)
	report, err := o.estimate(ctx, &r, path)
	if err == nil {
		report.ToIdentify = app.SourceRows(d, report.examples)
	}
	return report, err
}

// estimate calls EstimateNoise. Errors that name no option begin with the path.
func (o *Options) estimate(ctx context.Context, r *umagpu.EstimateNoiseRequest, path string,
) (*Report, error) {
	found, err := umagpu.EstimateNoise(ctx, r)
	if f := (*umagpu.Fault)(nil); errors.As(err, &f) && f.Option == "" && f.Kind == umagpu.Unfit {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	return &Report{Request: o, Method: found.Method, Classes: found.Classes,
		Confusion: found.Confusion, Error: found.Errors, Assumes: found.Assumes, Notes: found.Notes,
		Unidentified: found.NotIdentified, Evidence: found.Evidence, Hypotheses: found.Hypotheses,
		examples: found.ToIdentify}, nil
}

// byVotes estimates from the votes of annotators or functions.
func (o *Options) byVotes(ctx context.Context) (*Report, error) {
	reader := &app.LabelReader{Input: &o.Input.Labelled, Notes: o.Notes, In: o.In,
		Seed: o.Request.Seed}
	var a *dataset.Annotations
	var err error
	if o.Input.Annotators != "" {
		a, err = reader.Annotations(ctx, nil)
	} else {
		a, err = reader.Voted(ctx, o.Input.Functions, nil)
	}
	if err != nil {
		return nil, err
	}
	request := &umagpu.ConsensusRequest{Labels: app.LabelsOf(a), Examples: a.N(),
		Method: o.Request.Method, Compute: o.Device.Compute(o.Notes, app.Training)}
	if path := o.Input.Matrices; path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		request.Matrices = new(umagpu.AnnotatorMatrices)
		if err := json.Unmarshal(text, request.Matrices); err != nil {
			return nil, fmt.Errorf("%s: found no JSON that --json prints of annotators: %w", path, err)
		}
	}
	found, err := umagpu.Consensus(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(o.Input.Annotators, o.Input.Functions), err)
	}
	r := &Report{Request: o, Method: found.Method + ", of the consensus of annotators",
		Classes: found.Classes, Confusion: found.Confusion, Error: found.Errors,
		Assumes: found.Assumes, Notes: found.Notes, Annotators: found.Annotators,
		Agreement: found.Agreement, Prior: found.Prior, Contest: found.Contest, More: found.More}
	if a.Functions {
		voted := lists.Count(found.Codes, func(k int32) bool { return k >= 0 })
		r.Method = found.Method + ", of the labels by their votes"
		r.Votes = &Votes{Examples: a.N(), Voted: voted, Known: found.PriorKnown,
			ByVote: found.ByVote, Functions: found.Functions}
	}
	return r, o.writeVotes(a.Items, found)
}
