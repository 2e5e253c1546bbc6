// Package learners says what a learner is: an algorithm that, shown examples with noisy labels on
// an engine, improves the weights of a linear classifier step by step. Each learner has a folder
// below this one and a line in package catalog; the loop around them is host.Run.
package learners

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// Learner is one run of an algorithm. It owns what it has loaded on the engine and the state of its
// loop; the weights, Q×d, are the caller's. It is not safe for concurrent use. The caller asks in
// turns: Count for the first weights, Step, Count for the weights that Step has left, Step, …
type Learner interface {
	// Count returns how many examples w predicts as class p that have noisy label k, at [p*Q+k] of a
	// table that becomes the caller's. changed lists the classes, each once, whose weights have
	// changed since the last Count; all of them at the first. It does not write to w.
	Count(ctx context.Context, w engine.Weights, changed []int) (predicted []int64, err error)

	// Step improves w in place; the last Count was of this w. If ctx is cancelled a learner with long
	// steps may return its error, and w and the learner are as before. After any other error the run
	// cannot continue.
	Step(ctx context.Context, w engine.Weights) (Step, error)

	// Save returns the state that Restore needs, besides the weights, to continue from here with the
	// same bits. It may be empty.
	Save() ([]byte, error)

	// Restore puts a learner that was started with the same parameters on the same problem, and has
	// counted nothing yet, into the saved state. It must not trust saved, which may come from a
	// damaged file.
	Restore(saved []byte) error

	// Close frees the data loaded on the engine. A second Close does nothing.
	Close() error
}

// Step is what Learner.Step did.
type Step struct {
	Done    bool    // there was nothing left to improve; w is as before, the rest but Doubts is empty
	Doubts  []Doubt // of a run that ends here; mostly none
	Changed []int   // classes whose weights changed, each once
	Fields  []Field // what the step was about
	Stage   string  // of the run after the step, for people; "" if it has one
}

// Doubt is a finding about a result that its user should know, mostly one against it.
type Doubt struct {
	Code    string `json:"code"` // names the doubt for programs; codes do not change
	Finding string `json:"text"`
	Advice  string `json:"advice"` // what to do about it; may be empty
}

// String returns the finding and the advice.
func (d Doubt) String() string {
	if d.Advice == "" {
		return d.Finding
	}
	return d.Finding + "; " + d.Advice
}

// The codes that learners give; others come from package judge.
const (
	EndsInDoubt = "learner-ends-in-doubt" // the last step left something undone
)

// Field is one thing to tell of a step.
type Field struct {
	Name  string
	Value any // a float64, an int, or an engine.Pair of classes (predicted, true)
}

// Params are the parameters of a learner: a pointer to a struct. Marshal returns the JSON that a
// model file keeps, and Definition.Parse reads it.
type Params interface {
	// Definition returns the learner that has these parameters, with each of them bound to its field.
	Definition() *Definition
}

// Probabilistic are parameters of a learner that maximises the likelihood of labels of every kind:
// it learns from Problem.Annotations and Problem.Evidence, which others are not given. Its loss and
// penalty are the same after a rotation of the features, so that it needs no principal axes.
type Probabilistic interface {
	Params
	// Unlabelled reports whether it learns from examples of which nothing is known.
	Unlabelled() bool
}

// IsProbabilistic reports whether p are parameters of a Probabilistic learner.
func IsProbabilistic(p Params) bool {
	_, ok := p.(Probabilistic)
	return ok
}

// Start checks the parameters and begins a run of their learner, to which later changes of them do
// not matter. It loads the problem's examples on its engine.
func Start(ctx context.Context, p Params, problem *Problem) (Learner, error) {
	if err := Check(p); err != nil {
		return nil, err
	}
	return p.Definition().Start(ctx, problem)
}

// Rule says which of the weights W_0 … W_T of a run are its result (clause 10).
type Rule string

// The rules.
const (
	Last    Rule = "last"    // W_T
	Average Rule = "average" // mean of W_1 … W_T
	Best    Rule = "best"    // the one of least estimated error, the earliest on a tie
	// BestAverage is, of W_0, the means of W_1 … W_t and, if the run has converged, W_T, the
	// one of least estimated error, the earliest on a tie; clause 19 says which t.
	BestAverage Rule = "best-average"
)

// The methods of an engine by which a run loads its examples.
const (
	LoadsCells     = iota // Engine.LoadCells
	LoadsEvaluator        // Engine.LoadEvaluator
	LoadsScorer           // Engine.Load: the learner asks for scores and predictions alone
)

// Definition is a learner before any data, with the parameters that returned it.
type Definition struct {
	Name     string        // of flags and model files: lower-case letters, then digits
	Summary  string        // what it does, in a line
	Paper    string        // where it comes from: authors, title, year, algorithm
	Step     string        // what one step is, in a few words
	MaxSteps int           // how many of them a run makes at most, unless the user says otherwise
	Weights  []Rule        // that make sense, the default first
	New      func() Params // the defaults

	Parameters []Parameter // in the order of the JSON

	// Check, if not nil, returns a *ParameterError if the values of parameters do not go together.
	Check func() error

	// Start begins a run with parameters that are checked; nil for a learner whose steps are not all
	// alike, which package host/fit runs.
	Start func(context.Context, *Problem) (Learner, error)

	// FitMap, if not nil, returns a kernel map of the learner's own, where others are given kernel
	// principal components: a projection to p.Q numbers by kernel function f, fitted to the prepared
	// examples and the noisy labels of p. Runs are then started on a Problem of the mapped
	// examples, with OwnMap set. note receives remarks for the user.
	FitMap func(ctx context.Context, p *Problem, f kernel.Function, note func(string, ...any),
	) (engine.Projection, error)

	Loads int // LoadsCells, LoadsEvaluator or LoadsScorer; it decides how much memory a run takes
	// IgnoresNoise says that it takes all labels to be right: Problem.Noise changes no step.
	IgnoresNoise bool

	// Weightless says that the learner makes no weights, and has no Start: package host runs it.
	Weightless bool

	// Uncounted says that a step needs no Count before it.
	Uncounted bool
}
