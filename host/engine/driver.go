package engine

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Driver computes for an Engine, which checks every argument before and makes no call after Close.
// After it only loaded data may be closed, each once. Drivers keep references to
// arguments that an Engine's methods say an engine may keep, and modify none but results.
type Driver interface {
	// Device describes where the driver computes.
	Device() Device

	// Serial reports whether calls, those on loaded data included, must come one at a time.
	Serial() bool

	// Load returns a LoadedCells if t.Use is UseCells, a LoadedEvaluator if it is UseEvaluator.
	// Errors: ErrMemory, and errors of the device.
	Load(x dataset.Examples, t Task) (Loaded, error)

	// LoadBins is Engine.LoadBins of some of all examples, for whose number losses have their
	// format.
	LoadBins(b dataset.Binned, classes, all int) (LoadedBins, error)

	// Project is Engine.Project.
	Project(dst []float32, x dataset.Examples, p Projection) error

	Close() error
}

// Task says what examples are loaded for.
type Task struct {
	Use     Use
	Classes int
	Labels  []int32             // of UseCells
	Format  numerics.FixedPoint // of the sums; a driver never sees the zero value, but for UseScorer
}

// Use is one of the ways to load examples.
type Use int

const (
	UseScorer    Use = iota // Engine.Load
	UseCells                // Engine.LoadCells
	UseEvaluator            // Engine.LoadEvaluator
)

// String returns the operation.
func (u Use) String() string { return [...]string{"load", "load cells", "load evaluator"}[u] }

// Loaded is a data set on a driver. Its methods are described at Scorer.
type Loaded interface {
	Rescore(w Weights, classes []int) error
	Scores(dst []float32, from, to int) error
	Predict(dst []int32) error
	Close() error
}

// LoadedCells is a Loaded with the further methods of Cells.
type LoadedCells interface {
	Loaded
	Assign(alpha float32) (Assignment, error)
	ClassSums(dst []int64, p int) error
	Norms(dst, inv []float32) error
	UpdateVectors(dst []float32, pairs []Pair, inv []float32) error
}

// LoadedEvaluator is a Loaded with the further methods of Evaluator.
type LoadedEvaluator interface {
	Loaded
	SetTargets(t Targets) error
	Evaluate(sums []int64, w Weights) (Evaluation, error)
	WeightedSums(sums []int64, a []float32) error
}

// LoadedBins are binned examples on a driver. Its methods are described at Bins.
type LoadedBins interface {
	SetTargets(t Targets) error
	Gradients() (Evaluation, error)
	Start(g Growth) error
	Histogram(dst []int64, node int, features []int) error
	Split(node, feature int, left BinSet, children [2]int) (counts [2]int64, err error)
	Add(t Tree, class int) error
	Scores(dst []float32, from, to int) error
	Close() error
}
