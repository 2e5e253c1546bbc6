// Package engine says what an engine is: a place where examples live, such as a processor or
// an OpenCL device, and that answers questions about them. What it is asked decides what it
// takes:
//
//   - [Engine.Load] takes examples to be scored: the scores of weights W, and the class that
//     they predict ([Scorer]).
//   - [Engine.LoadCells] takes examples with noisy labels: besides their scores, into which
//     cell of prediction and label each falls, the class sums of the cells, and update
//     vectors made of them ([Cells]).
//   - [Engine.LoadEvaluator] takes examples whose scores are compared with targets: besides
//     scores, the loss of W and its gradient ([Evaluator]).
//   - [Engine.Project] takes examples for one answer, kernel values or their projections,
//     and keeps nothing.
//
// [Engine.Plan] says beforehand what memory that takes. An engine is opened by its own
// package, cpuref, cpuref/simd or gpu; this one holds none, and what is written for its
// interfaces runs on each. Package contract has the numerics contract, to whose clauses
// comments refer: by it the answers of all engines have the same bits, so that which one
// answered shows in the time alone. [SelfTest] asks a few questions with known answers;
// package enginetest asks many more.
//
// Class sums are integers, so those of several data sets may be added, wherever these live;
// [UpdateVector] turns class sums into update vectors.
package engine

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// The kinds of error that every engine returns for the same misuse; test with
// errors.Is. The text of the error says what was found and wanted.
var (
	ErrShape  = errors.New("sizes do not agree")
	ErrLabel  = errors.New("label out of range")
	ErrValue  = errors.New("value not finite")
	ErrMemory = memory.ErrBudget // of the device, or of the process
	ErrClosed = errors.New("used after Close")
	ErrFailed = errors.New("of no more use since an operation failed; close it and load the " +
		"examples again")
)

// Engine is a place where examples live and kernels run.
//
// All methods may be called from several goroutines at once, Close included; an engine
// that has one device takes them in turn. Every method but Device and Close returns
// ErrClosed after Close.
type Engine interface {
	// Device describes where the work is done.
	Device() Device

	// Load copies or references n examples of d features, dense or sparse, to score them
	// for a number of classes. It takes no memory for cells. Both forms of the same examples
	// give the same bits, as long as the weights are finite. The engine may keep references
	// to x's slices until Close and never writes to them; the caller must not write to
	// them either. Scores start as those of W = 0, that is 0. Errors: ErrShape, ErrValue,
	// ErrMemory, ErrClosed.
	Load(x dataset.Examples, classes int) (Scorer, error)

	// LoadCells is Load for examples with noisy labels y[i] in [0, classes); the engine may
	// keep a reference to y as to x's slices. Every cell starts empty. f is the fixed-point
	// format of the class sums; its zero value stands for the format that clause 3 derives
	// from these examples. Errors: those of Load and ErrLabel; ErrShape also for a format
	// that cannot hold the examples.
	LoadCells(x dataset.Examples, y []int32, classes int, f numerics.FixedPoint) (Cells, error)

	// LoadEvaluator is Load for examples whose scores are compared with targets; SetTargets sets
	// these. f is the fixed-point format of the weighted sums, as for LoadCells. Errors:
	// those of Load; ErrShape also for a format that cannot hold the examples, ErrValue for
	// values above 2^118 in size.
	LoadEvaluator(x dataset.Examples, classes int, f numerics.FixedPoint) (Evaluator, error)

	// Plan says what LoadCells or, if y is nil, Load would need and where it would put the
	// examples, without doing it. Errors: those of LoadCells or Load.
	Plan(x dataset.Examples, y []int32, classes int) (Plan, error)

	// PlanEvaluator is Plan for LoadEvaluator.
	PlanEvaluator(x dataset.Examples, classes int) (Plan, error)

	// Project maps each of the n examples of x, dense or sparse, by p (clause 13) and
	// writes the numbers to dst, n×p.Width() row-major. Both forms of x and of the
	// landmarks give the same bits. Nothing stays on the engine; no argument but dst is
	// written to. Errors: ErrShape, ErrValue, ErrMemory, ErrClosed.
	Project(dst []float32, x dataset.Examples, p Projection) error

	// Close frees the device. Operations under way in other goroutines finish; later ones
	// return ErrClosed, also on data sets that were loaded. Close these before. A second
	// Close does nothing.
	Close() error
}

// Scorer is one data set living on one engine, with the scores of the current weights.
//
// Scorers of one engine may be used at the same time, each by one goroutine; the methods
// of one Scorer must not be called at the same time. Every method that returns an error
// returns ErrClosed after Close, its own or its engine's. Arguments of the wrong size
// (ErrShape) or with values that an operation does not take (ErrValue) leave everything as it
// was. An operation that fails for any other reason may leave scores and cells that do not
// belong together, so all later calls but Close return ErrFailed. Arguments are never
// modified, but for dst and sums.
type Scorer interface {
	// Shape returns the numbers of examples, features and classes.
	Shape() (n, d, q int)

	// Rescore computes the scores of the given classes, each named once, for all
	// examples from their rows of w (clause 1).
	Rescore(w Weights, classes []int) error

	// Scores copies the scores of examples from..to-1 into dst, (to-from)×Q
	// row-major.
	Scores(dst []float32, from, to int) error

	// Predict writes the prediction of each of the n examples into dst (clause
	// 4). It leaves cells alone.
	Predict(dst []int32) error

	// CountPredicted writes how many examples have prediction p and label k into
	// counts[p*Q+k]. The engine may keep a reference to y, a label for each of the n
	// examples, until Close; the caller must not write to it. Errors: ErrShape, ErrLabel.
	CountPredicted(counts []int64, y []int32) error

	// Close frees what Load took. A second Close does nothing.
	Close() error
}

// Cells is a Scorer whose examples have noisy labels: besides scores it keeps the cells of
// the last assignment and their class sums, Q·Q·d integers. What Scorer says of goroutines
// and errors is true of all its methods. Class sums of several data sets with the same
// fixed-point format may be added; UpdateVector takes them.
type Cells interface {
	Scorer

	// FixedPoint returns the fixed-point format of the class sums (clause 3).
	FixedPoint() numerics.FixedPoint

	// Assign puts each example into the cell of its region and noisy label and
	// brings the class sums up to date (clauses 4 and 5).
	Assign(alpha float32) (Assignment, error)

	// ClassSums copies Γ[p], Q×d row-major in fixed point, into dst.
	ClassSums(dst []int64, p int) error

	// Norms writes ‖z_pq‖² into dst[p*Q+q] for every pair (clause 6), p = q
	// included; 0 where region p is empty. inv is B = float32(C⁻¹), Q×Q row-major.
	Norms(dst, inv []float32) error

	// UpdateVectors writes the d values of z_pq for each pair into dst, row by row
	// (clause 6).
	UpdateVectors(dst []float32, pairs []Pair, inv []float32) error
}

// Evaluator is a Scorer that compares the scores of its examples with targets: it answers
// with the loss of weights W and the weighted sums that are its gradient, in integers, so
// that those of several parts of a data set may be added, if each part begins at a multiple
// of 256 examples and all have the same fixed-point format. What Scorer says of goroutines
// and errors is true of all its methods.
type Evaluator interface {
	Scorer

	// FixedPoint returns the fixed-point format of the weighted sums (clause 3). That of
	// losses is numerics.LossFormat of the same number of examples.
	FixedPoint() numerics.FixedPoint

	// SetTargets sets the targets of all examples; the engine may keep references to t's slices
	// until the next SetTargets or Close. Errors: ErrShape, ErrValue.
	SetTargets(t Targets) error

	// Evaluate computes the scores of all classes from w, the residuals and losses of the
	// examples, and writes the weighted sums of the residuals, Q×d row-major in fixed
	// point, to sums (clauses 1, 14, 15 and 16). Scores returns the scores afterwards.
	// ErrShape also before the first SetTargets.
	Evaluate(sums []int64, w Weights) (Evaluation, error)

	// WeightedSums writes Σ a[i][r]·x_i, R×d row-major in fixed point, to sums (clause 14).
	// a is n×R row-major; R is len(a)/n, at least 1. Scores stay as they are. ErrValue for
	// a coefficient that is not between -1 and 1.
	WeightedSums(sums []int64, a []float32) error
}

// Targets are what scores are compared with (clause 16).
type Targets struct {
	// Values are rows of Q. Unless Given is set they are logarithms of how likely what is
	// known of an example, such as its noisy label, is with each true class: the row of
	// log C for a label, -Inf where the probability is 0; at least one value of a row is
	// finite. The target is the posterior of the true class by scores and Values.
	//
	// If Given is set, Values are the targets themselves, rows that sum to 1: of soft
	// labels, or a column of C⁻¹.
	Values []float32
	Given  bool

	// Row is the row of Values for each of the n examples; nil if Values has n rows, in
	// order.
	Row []int32

	// Weight is the weight of each of the n examples, 0 to 1; nil if all are 1. With Given
	// values outside 0 to 1 it is so small that weighted residuals are at most 1 in size:
	// at most 1/max(t, 1-t) for each value t of the row.
	Weight []float32
}

// Evaluation is what weights W make of the examples.
type Evaluation struct {
	Loss    int64 // sum of the losses in fixed point
	Refused int64 // examples left out because their scores or losses are too large
}

// Pair names an update vector z_pq: region P, class Q.
type Pair struct{ P, Q int }

// Weights is the matrix W, Q×D row-major: row r is the weight vector of class r.
type Weights struct {
	Q, D int
	W    []float32
}

// NewWeights returns W = 0.
func NewWeights(q, d int) Weights { return Weights{Q: q, D: d, W: make([]float32, q*d)} }

// Row returns the weights of class r, sharing memory.
func (w Weights) Row(r int) []float32 { return w.W[r*w.D : (r+1)*w.D : (r+1)*w.D] }

// Clone returns a copy that shares nothing.
func (w Weights) Clone() Weights {
	w.W = append([]float32(nil), w.W...)
	return w
}

// Assignment is what Assign found. Both tables are Q×Q row-major, [p*Q+k]: row p
// is the region or prediction, column k the noisy label. They belong to the
// caller.
type Assignment struct {
	Regions   []int64 // N[p][k], examples in cell (p,k) at margin α
	Predicted []int64 // the same at α = 0: every example by its prediction
	Moved     int     // examples whose cell is not that of the last assignment
}

// Plan is what a data set takes on an engine when it is loaded. All sizes are in
// bytes. What an engine takes later, if there is room, to spare itself work is not in it.
type Plan struct {
	Examples int64 `json:"examples_bytes"` // the features, wherever they are
	// those of them that stay in host memory, used in place or streamed
	Aside     int64 `json:"aside_bytes"`
	Scores    int64 `json:"scores_bytes"`
	ClassSums int64 `json:"class_sums_bytes"`
	Scratch   int64 `json:"scratch_bytes"` // all else
	// that Examples - Aside + Scores + ClassSums + Scratch keep to; 0 is none
	Limit int64 `json:"limit_bytes"`

	Tiles      int  `json:"tiles"`       // into which the examples are cut
	TilesAside int  `json:"tiles_aside"` // of them in host memory
	InPlace    bool `json:"in_place"`    // the device uses host memory in place; else it is streamed
}

// Work is what an engine has done since it was opened. Engines that count it have a method Work.
type Work struct {
	Launches int64 `json:"launches"` // kernels started; 0 for an engine without kernels
	// copies between host and device that the host waited for
	Transfers int64 `json:"transfers"`
	// read, of the examples and of what is kept to read them less
	ExampleBytes int64 `json:"example_bytes"`
	// examples scored by clause 1, counted once for each reading
	Rescored int64 `json:"rescored"`
}

// Device describes a device for people and for the model file.
type Device struct {
	Kind string `json:"kind"` // "cpu" or "opencl"
	// what --device accepts: "cpu", "cpu:plain", "opencl:0.0"
	ID         string `json:"id"`
	Name       string `json:"name"`               // as the driver names it
	Platform   string `json:"platform,omitempty"` // OpenCL platform
	Driver     string `json:"driver,omitempty"`   // driver version
	Conforming bool   `json:"conforming"`         // SelfTest passed
}

// Projection maps an example x to D = Axes.Q numbers (clause 13): number t is
// Σ_l κ(x, landmark_l)·Axes[t][l] + Offset[t]. With Axes.Q == 0 it maps x to the m kernel
// values themselves.
type Projection struct {
	Function  kernel.Function
	Landmarks dataset.Examples // m × d, dense or sparse
	Axes      Weights          // D rows of m; Q = 0 and W empty for none
	Offset    []float32        // D, or nil for none
}

// Width returns the count of numbers that p maps an example to: D, or m without axes.
func (p Projection) Width() int {
	if p.Axes.Q == 0 {
		return p.Landmarks.N
	}
	return p.Axes.Q
}
