// Package host holds the learning loop and prediction: what goes on between
// data that have been prepared and weights that are ready to be stored.
package host

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Rule says which of the iterates W_0 … W_T a run returns (clause 10).
type Rule string

const (
	Last    Rule = "last"    // W_T
	Average Rule = "average" // mean of W_1 … W_T
	Best    Rule = "best"    // the one of least estimated error, the earliest on a tie
)

// Stop says why a run ended.
type Stop string

const (
	Converged   Stop = "converged"   // the learner found no update to make
	MaxSteps    Stop = "max-steps"   // Options.MaxSteps updates were made
	Interrupted Stop = "interrupted" // the context was cancelled
)

// Options of Run.
type Options struct {
	MaxSteps int                // at least 0
	Weights  Rule               // "" is Best
	Inverse  *confusion.Inverse // of the label noise, for the estimated error; required
	OnStep   func(Report)       // called after each update, if not nil
}

// Report describes one step to whoever watches.
type Report struct {
	Step           int     `json:"step"`            // 1 for the first
	P              int     `json:"p"`               // predicted class of the corrected mistakes
	Q              int     `json:"q"`               // their estimated true class
	Norm           float64 `json:"norm"`            // ‖z_pq‖
	Moved          int     `json:"moved"`           // examples whose cell changed in the assignment before the step
	EstimatedError float64 `json:"estimated_error"` // of the weights before the step
}

// Result is a finished run.
type Result struct {
	W              engine.Weights
	Steps          int
	Stop           Stop
	EstimatedError float64 // of W on the training examples, without a clean label (clause 10)
	Counts         []int64 // Q×Q, examples by W's prediction (row) and noisy label
}

// Run trains a learner on resident examples until it converges, MaxSteps updates
// were made, or ctx is cancelled; a step under way is always finished, and a
// cancelled run has a result like any other. The examples must be fresh from
// LoadCells. Errors are the engine's and the learner's.
func Run(ctx context.Context, examples engine.Cells, l learners.Learner, o Options) (Result, error) {
	n, d, q := examples.Shape()
	keep, err := newKeeper(o.Weights, q, d)
	if err != nil {
		return Result{}, err
	}
	if o.Inverse == nil || o.Inverse.Q != q {
		return Result{}, fmt.Errorf("run: the examples have %d classes and want the inverse of a confusion matrix of as many", q)
	}
	w := engine.NewWeights(q, d)
	res := Result{}
	alpha := float32(0) // while W = 0 (clause 4)
	for {
		a, err := examples.Assign(alpha)
		if err != nil {
			return Result{}, fmt.Errorf("step %d: %w", res.Steps+1, err)
		}
		res.Counts = a.Predicted
		res.EstimatedError = o.Inverse.EstimatedError(a.Predicted, n)
		keep.assigned(w, res.EstimatedError, a.Predicted)
		if res.Steps >= o.MaxSteps {
			res.Stop = MaxSteps
			break
		}
		if ctx.Err() != nil {
			res.Stop = Interrupted
			break
		}
		u, err := l.Step(learners.State{Examples: examples, W: w, Assignment: a, Steps: res.Steps})
		if err != nil {
			return Result{}, fmt.Errorf("step %d: %w", res.Steps+1, err)
		}
		if u.Converged {
			res.Stop = Converged
			break
		}
		res.Steps++
		keep.stepped(w)
		if err := examples.Rescore(w, u.Changed); err != nil {
			return Result{}, fmt.Errorf("step %d: %w", res.Steps, err)
		}
		if o.OnStep != nil {
			o.OnStep(Report{
				Step: res.Steps, P: u.P, Q: u.Q, Norm: math.Sqrt(float64(u.Norm2)),
				Moved: a.Moved, EstimatedError: res.EstimatedError,
			})
		}
		alpha = l.Margin()
	}
	return keep.finish(res, w, examples, o.Inverse)
}

// finish puts the weights that the rule asks for into res, with the estimated
// error and counts that belong to them.
func (k *keeper) finish(res Result, last engine.Weights, examples engine.Cells, inv *confusion.Inverse) (Result, error) {
	switch {
	case k.rule == Best:
		res.W, res.EstimatedError, res.Counts = k.best, k.bestError, k.bestCounts
	case k.rule == Average && res.Steps > 0:
		res.W = k.average(res.Steps)
		if err := examples.Rescore(res.W, allClasses(res.W.Q)); err != nil {
			return Result{}, fmt.Errorf("averaged weights: %w", err)
		}
		a, err := examples.Assign(0)
		if err != nil {
			return Result{}, fmt.Errorf("averaged weights: %w", err)
		}
		n, _, _ := examples.Shape()
		res.Counts, res.EstimatedError = a.Predicted, inv.EstimatedError(a.Predicted, n)
	default:
		res.W = last
	}
	return res, nil
}

func allClasses(q int) []int {
	all := make([]int, q)
	for r := range all {
		all[r] = r
	}
	return all
}
