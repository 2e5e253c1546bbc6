// Package svm is the linear support vector machine, for right labels: of all weights those that
// keep examples away from the planes between classes, by a margin of 1 where the cost C of what is
// missing of it allows. One class against the rest, for each class by itself, or all classes at
// once (Crammer and Singer):
//
//	½‖w_r‖² + C·Σ_i ℓ(1 - ±⟨w_r,x_i⟩)                    ℓ(ξ) = max(0,ξ), or its square
//	½‖W‖²   + C·Σ_i max_r(⟨w_r,x_i⟩ - ⟨w_y,x_i⟩ + [r ≠ y])
//
// Both are solved by descent in the dual, or with the hinge loss by cutting planes (cutting.go),
// to the same solution. Descent takes one example after another in an order by chance (Hsieh et
// al. 2008, Keerthi et al. 2008), as LIBLINEAR's -s 3, 1 and 4 do: the weights are sums of
// examples, w_r = Σ_i α_ir·x_i, and α_i is made the best one for what the others are. Examples
// that have stayed at a bound of α are left out until the rest are done. The solution is the only
// one, so it depends neither on the order nor on the weights that a run is given to begin with:
// every run begins at α = 0.
//
// The constant feature (learners.Problem.Bias) has a penalty like any other, as in LIBLINEAR.
//
// Passes are the host's, as those of package online are; the engine counts predictions. All is
// float64, in a fixed order, each product rounded before it is added, until W is rounded to
// float32.
package svm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// run is the learner in the middle of a run.
type run struct {
	Params
	problem   *learners.Problem
	scorer    engine.Scorer
	predicted []int32
	examples  *examples
	machines  []machine
	closed    bool
}

// machine is one of the problems into which a run falls, in the middle of its solution.
type machine interface {
	// pass improves α of all examples that are not left out, once each. It returns how many it has
	// looked at.
	pass() (visited int64)

	// told returns how far the conditions of the solution are from being met, and whether that is
	// near enough, for all examples.
	told() (violation float64, done bool)

	// weights writes the weights of the machine to rows of w, and returns which.
	weights(w engine.Weights) (classes []int)

	// saved returns what there is to save of the machine, as places to write it to again.
	saved() []any

	// check says what no run would have saved.
	check() error
}

// stream keeps this package's random numbers apart from those that other parts draw from the same
// seed: machine r has stream+r.
const stream = 0x73766d << 16 // "svm"

// Start implements learners.Params.
func (p *Params) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	scorer, err := problem.Load()
	if err != nil {
		return nil, err
	}
	var l learners.Learner
	if p.Solver == Planes {
		l, err = newCutting(p, problem, scorer)
	} else {
		l, err = newRun(p, problem, scorer)
	}
	if err != nil {
		return nil, errors.Join(err, scorer.Close())
	}
	return l, nil
}

// newRun makes the machines.
func newRun(p *Params, problem *learners.Problem, scorer engine.Scorer) (*run, error) {
	x, q := problem.X, problem.Q
	if err := memory.Check(memory.Sum(memory.Product(x.N, q, 16), memory.Product(x.D, q, 8),
		memory.Product(x.N, 12)),
		"the dual variables and weights of a support vector machine"); err != nil {
		return nil, err
	}
	l := &run{Params: *p, problem: problem, scorer: scorer, predicted: make([]int32, x.N)}
	l.examples = newExamples(x, l.problem.Y, l.costs(l.problem))
	switch {
	case l.Multiclass == All:
		l.machines = []machine{newTogether(l.examples, q, &l.Params, l.problem.Seed)}
	case q == 2: // that of class 0 is the mirror image
		l.machines = []machine{newOVR(l.examples, 1, true, &l.Params, l.problem.Seed)}
	default:
		for r := range q {
			l.machines = append(l.machines, newOVR(l.examples, r, false, &l.Params, l.problem.Seed))
		}
	}
	return l, nil
}

// costs returns C of an example of each label of the problem.
func (p *Params) costs(problem *learners.Problem) []float64 {
	counts := learners.CountLabels(problem.Y, problem.Q)
	costs := p.ClassWeights.Of(float64(len(problem.Y)), counts)
	for k := range costs {
		costs[k] *= p.Cost
	}
	return costs
}

// Count implements learners.Learner.
func (l *run) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64,
	err error) {
	return learners.CountScored(l.scorer, w, changed, l.predicted, l.problem.Y)
}

// looks is how often a step may look at each example: the loop counts predictions of all of them
// after it, and most passes look at few.
const looks = 4

// Step implements learners.Learner: passes of each machine that is not done.
func (l *run) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if l.closed {
		return s, fmt.Errorf("svm: %w", engine.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return s, err
	}
	var left []machine
	for _, m := range l.machines {
		if _, done := m.told(); !done {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return learners.Step{Done: true}, nil
	}
	enough := looks * int64(l.problem.X.N)
	parallel.Tasks(len(left), func(k int) {
		visited, done := int64(0), false
		for visited < enough && !done {
			visited += left[k].pass()
			_, done = left[k].told()
		}
	})
	most, unfinished := 0.0, 0
	for _, m := range left {
		violation, done := m.told()
		most = max(most, violation)
		if !done {
			unfinished++
		}
		s.Changed = append(s.Changed, m.weights(w)...)
	}
	if slices.ContainsFunc(w.W, func(v float32) bool { return v-v != 0 }) {
		return s, errors.New("svm: found weights too large for float32; normalise the features, or " +
			"take a lower cost")
	}
	if unfinished > 0 {
		s.Doubts = learners.EndInDoubt("allow more steps, or take a lower cost",
			"svm: ended before the solution: the conditions are met to %.2g, wanted %.2g", most, l.Tolerance)
	}
	s.Fields = []learners.Field{{Name: "violation", Value: most}, {Name: "unfinished",
		Value: unfinished}}
	return s, nil
}

// Close implements learners.Learner.
func (l *run) Close() error {
	l.closed = true
	return l.scorer.Close()
}
