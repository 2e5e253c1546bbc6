// Package engine computes on examples: scores, predictions, class sums, losses and gradients. An
// [Engine] is a shell over a [Driver], as database/sql is over its drivers. Packages cpuref,
// cpuref/simd and gpu have the drivers that compute; shard combines several drivers, and audit
// compares one with another. The shell checks arguments, takes locks, and knows what is closed and
// what has failed; drivers only compute.
//
// What examples are loaded for decides what they can be asked:
//
//   - [Engine.Load]: scores for weights W, and predictions ([Scorer]).
//   - [Engine.LoadCells]: for noisy labels, also the cells of prediction and label, their class
//     sums, and update vectors ([Cells]).
//   - [Engine.LoadEvaluator]: for targets, also the loss of W and its gradient ([Evaluator]).
//   - [Engine.LoadBins]: for features in bins, the histograms that trees grow on, and scores of
//     trees ([Bins]).
//   - [Engine.Project]: kernel values or projections of examples, which are not kept.
//
// Package contract is the numerics contract, to whose clauses comments refer: it fixes the bits of
// every result, so drivers differ in speed alone. [SelfTest] compares a driver with known answers;
// package enginetest is the conformance suite.
package engine

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Errors of every engine; test with errors.Is. The text says what was found and wanted.
var (
	ErrShape  = errors.New("sizes do not agree")
	ErrLabel  = errors.New("label out of range")
	ErrValue  = errors.New("value not finite")
	ErrMemory = memory.ErrBudget // of the device, or of the process
	ErrClosed = errors.New("used after Close")
	ErrFailed = errors.New("unusable since an operation failed; close it and load the examples again")
)

// Targets are what scores are compared with (clause 16).
type Targets struct {
	// Values are rows of Q. Unless Given is set, value k is the log-likelihood of what is known of
	// an example, such as its noisy label, if its true class is k: for a label, a row of log C, with
	// -Inf for probability 0. At least one value of a row is finite. The target is the posterior of
	// the true class.
	//
	// If Given is set, Values are the targets themselves, rows that sum to 1: soft labels, or
	// columns of C⁻¹.
	Values []float32
	Given  bool

	// Row is the row of Values of each example; nil if Values has a row for each, in order.
	Row []int32

	// Weight is the weight of each example, 0 to 1; nil if all are 1. If Given values lie outside
	// 0 to 1, weighted residuals must still be at most 1 in size: the weight is at most
	// 1/max(t, 1-t) for each value t of the row.
	Weight []float32
}

// Evaluation is the result of Evaluator.Evaluate.
type Evaluation struct {
	Loss    int64 // sum of the losses, in the fixed point of numerics.LossFormat
	Refused int64 // examples left out: their scores or losses are too large
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

// Assignment is the result of Cells.Assign. Both tables are Q×Q row-major, [p*Q+k]: row p is the
// region or prediction, column k the noisy label. They belong to the caller.
type Assignment struct {
	Regions   []int64 // N[p][k], examples in cell (p,k) at margin α
	Predicted []int64 // N[p][k] at α = 0: every example, by its prediction
	Moved     int     // examples whose cell changed since the last assignment
}

// Device describes a device for people and, without ID, for the model file.
type Device struct {
	Kind string `json:"kind"` // "cpu" or "opencl"
	// what --device accepts: "cpu", "cpu:plain", "opencl:0.0"
	ID       string `json:"id,omitempty"`
	Name     string `json:"name"`               // as the driver names it
	Platform string `json:"platform,omitempty"` // OpenCL platform
	Driver   string `json:"driver,omitempty"`   // driver version
}

// Projection maps an example x to D = Axes.Q numbers (clause 13): number t is
// Σ_l κ(x, landmark_l)·Axes[t][l] + Offset[t]. If Axes.Q is 0, it maps x to its m kernel values.
type Projection struct {
	Function  kernel.Function
	Landmarks dataset.Examples // m × d, dense or sparse
	Axes      Weights          // D rows of m; Q = 0 and W empty for none
	Offset    []float32        // D, or nil for none
}

// Width returns the number of values of a projected example: D, or m without axes.
func (p Projection) Width() int {
	if p.Axes.Q == 0 {
		return p.Landmarks.N
	}
	return p.Axes.Q
}
