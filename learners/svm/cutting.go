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

// cutting is the learner that solves its problems by cutting planes, in the middle of a run. What
// finds a plane is one product on the engine, the one by which the loop counts predictions.
type cutting struct {
	Params
	problem   *learners.Problem
	scorer    engine.Scorer
	predicted []int32
	problems  []*oneSlack
	begun     bool
	closed    bool
}

// planesMemory is what asks for memory.
const planesMemory = "the cutting planes and weights of a support vector machine"

// newCutting makes the problems: one of all classes at once, one of two classes, or one of each
// class.
func newCutting(p *Params, problem *learners.Problem, scorer engine.Scorer) (*cutting, error) {
	x, q := problem.X, problem.Q
	if err := memory.Check(memory.Sum(memory.Product(x.N, q, 16), memory.Product(x.D, q, 24)),
		planesMemory); err != nil {
		return nil, err
	}
	l := &cutting{Params: *p, problem: problem, scorer: scorer, predicted: make([]int32, x.N)}
	e := newExamples(x, problem.Y, p.costs(problem))
	switch {
	case l.Multiclass == All:
		l.problems = []*oneSlack{newOneSlack(e, -1, q, false, p)}
	case q == 2:
		l.problems = []*oneSlack{newOneSlack(e, 1, q, true, p)}
	default:
		for r := range q {
			l.problems = append(l.problems, newOneSlack(e, r, q, false, p))
		}
	}
	return l, nil
}

// Count implements learners.Learner.
func (l *cutting) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64,
	err error) {
	return learners.CountScored(l.scorer, w, changed, l.predicted, l.problem.Y)
}

// Step implements learners.Learner: one more plane for each problem that is not done.
func (l *cutting) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if l.closed {
		return s, fmt.Errorf("svm: %w", engine.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return s, err
	}
	if !l.begun { // the first weights are 0, whatever those are that the run was given
		if err := l.scorer.Rescore(engine.NewWeights(w.Q, w.D), learners.AllClasses(w.Q)); err != nil {
			return s, err
		}
	}
	left := slices.DeleteFunc(slices.Clone(l.problems), func(o *oneSlack) bool { return o.done })
	planes, losses, err := l.ask(left)
	if err != nil {
		return s, err
	}
	l.begun = true
	failed := make([]error, len(left))
	parallel.Tasks(len(left), func(k int) { failed[k] = left[k].improve(planes[k], losses[k]) })
	if err := errors.Join(failed...); err != nil {
		return s, err
	}
	stuck, unfinished, found, worst := 0, 0, 0, 0.0
	for _, o := range l.problems {
		found += len(o.planes) - 1
		worst = max(worst, o.gap)
		switch {
		case o.stuck:
			stuck++
		case !o.done:
			unfinished++
			s.Changed = append(s.Changed, o.weights(w)...)
		}
	}
	if slices.ContainsFunc(w.W, func(v float32) bool { return v-v != 0 }) {
		return s, errors.New("svm: found weights too large for float32; normalise the features, or " +
			"take a lower cost")
	}
	if unfinished > 0 || stuck > 0 {
		s.Doubts = learners.EndInDoubt("allow more steps, or take a lower cost",
			"svm: ended before the solution: "+
				"the objective may be %.2g of it above the least, wanted %.2g", worst, l.Tolerance)
	}
	if unfinished == 0 {
		if stuck > 0 {
			s.Doubts = learners.EndInDoubt("take a greater tolerance",
				"svm: ended where scores of float32 tell no more: "+
					"the objective may be %.2g of it above the least, wanted %.2g", worst, l.Tolerance)
		}
		return learners.Step{Done: true, Doubts: s.Doubts}, nil
	}
	s.Fields = []learners.Field{
		{Name: "gap", Value: worst}, {Name: "planes", Value: found}, {Name: "unfinished",
			Value: unfinished},
	}
	return s, nil
}

// ask is the oracle: for each problem the plane that touches its losses at the weights of the last
// scores, and these losses, times C.
func (l *cutting) ask(of []*oneSlack) (planes []plane, losses []float64, err error) {
	const block = 4096
	n, q := l.problem.X.N, l.problem.Q
	planes, losses = make([]plane, len(of)), make([]float64, len(of))
	scores := make([]float32, min(block, n)*q)
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		if err := l.scorer.Scores(scores[:(to-from)*q], from, to); err != nil {
			return nil, nil, err
		}
		for i := from; i < to; i++ {
			for k, o := range of {
				losses[k] += o.miss(&planes[k], i, scores[(i-from)*q:(i-from+1)*q])
			}
		}
	}
	return planes, losses, nil
}

// Close implements learners.Learner.
func (l *cutting) Close() error {
	l.closed = true
	return l.scorer.Close()
}
