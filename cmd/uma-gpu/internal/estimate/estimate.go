// Package estimate is the command that estimates a confusion matrix.
package estimate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/confusion/labels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	training.Options
	Table         string
	Axes          string // of Table
	Clean         string
	Probabilities string
	Method        string
	Out           string
	WriteLabels   string
	Functions     string
	WriteProbs    string

	source *source
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

  --annotators     majority, one-coin or dawid-skene
  --probabilities  confident-joint
  --data           identity, clean, confident-joint (as cleanlab), em (likelihood with a model),
                   auto (the best of these), or neighbours (labels of each row and its two nearest
                   neighbours, without a model)

auto chooses by --clean examples, with the winner as their prior; without them by the likelihood of
held-out labels. The identity wins unless another method is better by two standard errors.

Example: uma-gpu confusion estimate --table crosstab.csv --out C.csv
Example: uma-gpu confusion estimate --data noisy.csv --clean checked.csv --out C.csv
Example: uma-gpu confusion estimate --annotators labels.csv --out C.csv --write-labels consensus.csv
Example: uma-gpu confusion estimate --functions votes.csv --write-probabilities p.npy`,
		Flags: app.Flags(
			app.Input(&o.Table, "table",
				"counts or shares of true against noisy labels: `FILE`, CSV or .npy"),
			app.Text(&o.Axes, "confusion-axes", confusion.AxesAuto,
				"`AXES` of --table: auto, true-rows (as in scikit-learn), true-columns"),
			app.Input(&o.Clean, "clean",
				"true classes of some examples: `FILE`, a CSV row,label, or noisy,true without --data"),
			app.Input(&o.Annotators, "annotators",
				"labels of several people: `FILE`, a CSV row,worker,label, or a column for each"),
			o.TrustFlag(),
			app.Input(&o.Functions, "functions", "votes of labelling functions: `FILE`, a column for each "+
				"in a CSV (empty or -1: no vote), or an .npy"),
			app.Input(&o.Probabilities, "probabilities",
				"out-of-fold probabilities of the labels of --data: `FILE`, .npy or CSV"),
			app.Input(&o.Data.Path, "data", "examples with noisy labels"+app.DataUsage),
			o.Data.FormatFlags(&o.Common), o.Data.TextFlag(),
			&cli.StringFlag{Name: "method", DefaultText: "auto or dawid-skene", Destination: &o.Method,
				Usage: "`METHOD` of estimation"},
			app.Count(&o.Folds, "folds", clean.DefaultNoiseFolds, 2, judge.MostFolds,
				"`K` folds"),
			app.NormalizeFlag(&o.Train.Preparation), app.SeedFlag(&o.Train.Seed, "all random choices"),
			training.EngineFlags(&o.Options),
			app.Output(&o.Out, "out", "confusion matrix to write, `FILE`.csv, for train --confusion"),
			app.Output(&o.WriteLabels, "write-labels",
				"also write the consensus of annotators or functions, `FILE`.csv"),
			app.Output(&o.WriteProbs, "write-probabilities",
				"also write P(class | votes), `FILE`.npy, rows of ones without a vote"),
			o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// source is an input of an estimate.
type source struct {
	flag    string
	with    []string // flags of other sources that may accompany it
	methods []string
	only    []string // flags that apply to it alone
	find    func(*Options, context.Context) (*Report, error)
}

// sources are in order of precedence.
var sources = []source{
	{"table", nil, []string{string(clean.CleanCounts)}, []string{"confusion-axes"},
		(*Options).byTable},
	{"annotators", nil, app.Texts(crowd.Methods), []string{"write-labels", "trust"},
		(*Options).byAnnotators},
	{"functions", nil, []string{string(crowd.ByFunctions)},
		[]string{"write-labels", "trust", "write-probabilities"}, (*Options).byFunctions},
	{"probabilities", []string{"data", "clean"},
		[]string{string(clean.ConfidentJoint)}, nil, (*Options).byProbabilities},
	{"data", []string{"clean"}, app.Texts(clean.NoiseMethods),
		[]string{"folds", "kernel", "normalize"}, (*Options).byData},
	{"clean", nil, []string{string(clean.CleanCounts)}, nil, (*Options).byPairs},
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
	if o.Out != "" {
		if err := osfile.Write(o.Out, r.matrix.Write); err != nil {
			return err
		}
	}
	return o.Print(r, r.text)
}

// check finds the source, and checks the options by it.
func (o *Options) check() (err error) {
	files := map[string]string{"table": o.Table, "annotators": o.Annotators,
		"functions": o.Functions, "probabilities": o.Probabilities, "data": o.Data.Path, "clean": o.Clean}
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
	}) || s.flag == "probabilities" && o.Data.Path == "" {
		return app.Usage("found the sources %q, wanted --table, --annotators, --functions, --clean, "+
			"or --data (also with --clean or --probabilities)", given)
	}
	if o.Method != "" && !slices.Contains(s.methods, o.Method) {
		return app.Usage("--method is %q, wanted one for --%s: %s", o.Method, s.flag,
			app.OrList(s.methods))
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
	o.Read = o.Data.Options()
	return nil
}

func (o *Options) byTable(ctx context.Context) (*Report, error) {
	t, err := app.Awaited(ctx, o.Table, func(path string) (*confusion.Table, error) {
		return confusion.ReadTable(path, confusion.ReadOptions{Axes: o.Axes})
	})
	if err != nil {
		return nil, err
	}
	what := "shares"
	if t.Counts {
		what = "counts"
	}
	o.Notes.Say("table: %s, %s of %d classes with %s", o.Table, what, len(t.Classes), t.Axes)
	m := &estimate.Estimate{Method: "table",
		Assumes: "the table is right; shares have no standard errors"}
	if t.Counts {
		m, err = estimate.FromCounts(t.Classes, t.V, nil)
	} else if shares, failed := t.Share(); failed == nil {
		m.Matrix = *shares
	} else {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Table, err)
	}
	m.Notes = append(m.Notes, t.Notes...)
	return newReport(m), nil
}

func (o *Options) byPairs(ctx context.Context) (*Report, error) {
	var noisy, right []int32
	classes, err := app.Awaited(ctx, o.Clean, func(path string) (classes []string, err error) {
		classes, noisy, right, err = labels.Pairs(ctx, path)
		return classes, err
	})
	if err != nil {
		return nil, err
	}
	m, err := estimate.FromLabels(classes, noisy, right, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Clean, err)
	}
	return newReport(m), nil
}

func (o *Options) byAnnotators(ctx context.Context) (*Report, error) {
	found, m, err := training.Consensus(ctx, &o.Options, crowd.Options{Method: crowd.Method(o.Method)})
	if err != nil {
		return nil, err
	}
	if o.WriteLabels != "" {
		if err := writeConsensus(o.WriteLabels, found); err != nil {
			return nil, err
		}
	}
	r := newReport(m)
	r.Method += ", of the consensus of annotators"
	q := m.Q()
	for _, one := range found.Annotators {
		r.Annotators = append(r.Annotators, app.Annotator{Name: one.Name, Labels: one.Labels,
			Right: one.Right(q), Confusion: app.Rows(one.P, q), Error: app.Rows(one.Error, q)})
	}
	return r, nil
}

// readData reads the data and their true classes, -1 for an unknown one; nil without --clean.
func (o *Options) readData(ctx context.Context) (*dataset.Dataset, []int32, error) {
	d, err := o.Data.Read(ctx, o.Read)
	if err != nil {
		return nil, nil, err
	}
	right, err := app.ReadRight(ctx, o.Clean, d)
	if err != nil {
		d.Close() // only read
	}
	return d, right, err
}

func (o *Options) byProbabilities(ctx context.Context) (*Report, error) {
	d, right, err := o.readData(ctx)
	if err != nil {
		return nil, err
	}
	defer d.Close() // only read
	p, err := app.ReadProbabilities(ctx, o.Probabilities, d)
	if err != nil {
		return nil, err
	}
	m, err := estimate.ConfidentJoint(d.Classes, d.Y, p, false)
	if err == nil && right != nil {
		m, err = clean.JoinClean(d, right, m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Probabilities, err)
	}
	return newReport(m), nil
}

func (o *Options) byData(ctx context.Context) (_ *Report, err error) {
	if o.Train.Kernel, err = o.Kernel.FitOptions(); err != nil {
		return nil, err
	}
	d, right, err := o.readData(ctx)
	if err != nil {
		return nil, err
	}
	defer d.Close() // only read
	e, err := o.Device.Open(o.Notes, app.WorkOn(d.Examples, 0, len(d.Classes)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	o.Train.Engine, o.Train.Watch = e, host.Watch{Note: o.Notes.Say}
	found, err := clean.EstimateNoise(ctx, d, clean.NoiseOptions{Options: o.Train,
		Method: clean.NoiseMethod(o.Method), Folds: o.Folds, Right: right})
	if err := app.Failure(ctx, d.Path, err); err != nil {
		return nil, err
	}
	r := newReport(found.Estimate)
	r.Candidates = found.Candidates
	return r, nil
}
