package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// experiment is an experiment.
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
	figure1a, figure1b, table1, figure3, figure4, figure5, copa, kernelMean, kernelMeanAtoms,
	kernelMeanNoise, kernelMeanUCI, figure512, figure63, figure64, figure75, figure75Drawn,
	activeBench,
	activeBenchPacked,
}

// options of Run. Engine is required.
type options struct {
	Engine  engine.Engine
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
	Frobenius     = "frobenius_norm"
	ConfusionRate = "confusion_rate" // the same over √Q, 0 to 1
	OperatorNorm  = "operator_norm"  // the largest singular value of the same matrix, 0 to √Q
)

// run is an experiment under way.
type run struct {
	options
	name string
	emit func(Row) error
}

// perform makes an experiment and hands each row to emit as soon as it is known. A cancelled ctx
// ends it with ctx's error, an error of emit with that.
func perform(ctx context.Context, d *experiment, o options, emit func(Row) error) error {
	if o.Engine == nil {
		return fmt.Errorf("%s: found no engine, wanted one, such as simd.New or gpu.Open return", d.Name)
	}
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
	if err := d.run(ctx, &run{o, d.Name, emit}); err != nil {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	return nil
}

// tally collects measurements by row, in the order in which rows come first.
type tally []Row

// add adds the measurement of a run to a row.
func (t *tally) add(row Row, v float64) {
	k := slices.IndexFunc(*t, func(r Row) bool {
		return r.Data == row.Data && r.Learner == row.Learner && r.Level == row.Level &&
			r.Measure == row.Measure
	})
	if k < 0 {
		k, *t = len(*t), append(*t, row)
	}
	(*t)[k].Runs = append((*t)[k].Runs, v)
}

// writeAll hands on the rows of a tally.
func (r *run) writeAll(t tally) error {
	for _, row := range t {
		if err := r.write(row, row.Runs); err != nil {
			return err
		}
	}
	return nil
}

// write hands on the row of what the runs have measured.
func (r *run) write(row Row, runs []float64) error {
	row.Experiment, row.Runs = r.name, runs
	row.Mean, row.StandardError = meanAndError(runs)
	return r.emit(row)
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

// number returns a pointer to v.
func number(v float64) *float64 { return &v }
