package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

type experiment struct {
	Name  string   // as a user types it
	Usage string   // what it shows, in a line
	About string   // how it is done, and where that is not what the paper did
	Paper string   // the figure or table
	Axis  string   // what Row.X is; "" for tables, whose columns are the learners
	Sets  []string // the data sets that it reads; nil where it draws its data
	run   func(context.Context, *run) error
}

// experiments lists all experiments. A new one adds a line here.
var experiments = []*experiment{
	figure1a, figure1b, table1, copa, kernelMean, kernelMeanAtoms, kernelMeanNoise, kernelMeanUCI,
	figure512, figure63, figure64, figure75, activeBench, activeBenchPacked,
}

type options struct {
	Engine  *engine.Engine
	DataDir string   // folder with a folder for each data set
	Sets    []string // of experiment.Sets; nil for all
	Runs    int      // how often all is repeated with other random numbers, at least 2
	Seed    uint64   // of the first run; the next ones have the numbers after it
	// Note tells the progress; nil to say nothing.
	Note func(format string, args ...any)
}

// Row is what the runs have of one measure of one learner in one situation. The same options give
// the same rows on every engine.
type Row struct {
	Experiment string `json:"experiment"`
	Data       string `json:"data"`    // a data set
	Learner    string `json:"learner"` // one of the curves or columns
	// The situation: of figures the place on the axis, which is the mean of the runs where each run
	// has another one.
	Level int     `json:"level"`
	X     float64 `json:"x"`

	Measure       string    `json:"measure"`
	Mean          float64   `json:"mean"`
	StandardError float64   `json:"standard_error"` // of the mean
	Runs          []float64 `json:"runs"`
	Paper         *float64  `json:"paper"` // what the paper says; nil (null) where it does not
	Note          string    `json:"note,omitempty"`
}

// The measures.
const (
	ErrorRate = "error_rate" // share of test examples predicted wrong
	Accuracy  = "accuracy"   // share of them predicted right
	// ‖Ĉ‖_F of the predictions' confusion matrix without its diagonal, 0 to √Q
	Frobenius    = "frobenius_norm"
	OperatorNorm = "operator_norm" // the largest singular value of the same matrix, 0 to √Q
)

type run struct {
	options
	name string
	emit func(Row) error
	rows []Row // those not handed on yet
}

// perform makes an experiment and hands its rows to emit, those of a situation together. A
// cancelled ctx ends it with ctx's error, an error of emit with that.
func perform(ctx context.Context, d *experiment, o options, emit func(Row) error) error {
	if o.Runs < 2 {
		return fmt.Errorf("%s: %w: -runs: got %d, want at least 2 (one run has no standard error)",
			d.Name, errUsage, o.Runs)
	}
	if o.Sets == nil {
		o.Sets = d.Sets
	}
	for _, s := range o.Sets {
		if !slices.Contains(d.Sets, s) {
			return fmt.Errorf("%s: %w: -sets: got %q, want some of %q", d.Name, errUsage, s, d.Sets)
		}
	}
	if o.Note == nil {
		o.Note = func(string, ...any) {}
	}
	r := &run{options: o, name: d.Name, emit: emit}
	err := d.run(ctx, r)
	if err == nil {
		err = r.flush()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	return nil
}

// repeat makes all runs of a situation, each with its seed. It first hands on the rows of the
// situation before.
func (r *run) repeat(ctx context.Context, situation string, once func(seed uint64) error) error {
	err := r.flush()
	for k := 0; k < r.Runs && err == nil; k++ {
		if err = ctx.Err(); err == nil {
			err = once(r.Seed + uint64(k))
		}
		if err == nil {
			r.Note("%s: %s, run %d of %d", r.name, situation, k+1, r.Runs)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", situation, err)
	}
	return nil
}

// along repeats once at each place on the axis, which the row has that once completes.
func (r *run) along(ctx context.Context, data string, places []float64,
	once func(row Row, seed uint64) error) error {
	for level, x := range places {
		row := Row{Data: data, Level: level, X: x, Measure: ErrorRate}
		if err := r.repeat(ctx, fmt.Sprintf("%s, %v", data, x), func(seed uint64) error {
			return once(row, seed)
		}); err != nil {
			return err
		}
	}
	return nil
}

// add adds the measurement of a run to its row, which the first run begins.
func (r *run) add(row Row, v float64) {
	k := slices.IndexFunc(r.rows, func(o Row) bool {
		return o.Data == row.Data && o.Learner == row.Learner && o.Level == row.Level &&
			o.Measure == row.Measure
	})
	if k < 0 {
		k, r.rows = len(r.rows), append(r.rows, row)
	}
	r.rows[k].Runs = append(r.rows[k].Runs, v)
}

// flush hands on the rows, and forgets them.
func (r *run) flush() error {
	for _, row := range r.rows {
		row.Experiment = r.name
		row.Mean, row.StandardError = meanAndError(row.Runs)
		if err := r.emit(row); err != nil {
			return err
		}
	}
	r.rows = nil
	return nil
}

// meanAndError returns the mean of at least two numbers and its standard error.
func meanAndError(runs []float64) (mean, standardError float64) {
	n := float64(len(runs))
	for _, v := range runs {
		mean += v
	}
	mean /= n
	sum := 0.0
	for _, v := range runs {
		sum += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(sum / (n - 1) / n)
}
