// Package softmax is multinomial logistic regression for labels that a known confusion matrix
// C has corrupted. Forward correction: C times the probabilities of the true classes are those
// of the noisy labels, and the weights are those under which the labels are likeliest
//
//	minimise  -1/n Σ_i log (C·softmax(W·x_i))[y_i]  +  λ/2·‖W‖²
//
// by L-BFGS on all examples. What the sum is made of, scores, residuals and their weighted sums,
// is one evaluation on the engine; directions and steps are the host's. With C = identity it is
// scikit-learn's LogisticRegression (without a penalty on the bias) and LIBLINEAR's -s 0 for all
// classes at once.
//
// The loss is not convex unless C is the identity; from W = 0 this has not been seen to matter.
package softmax

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// run is the learner in the middle of a run: a row of fits, each by L-BFGS from where the one
// before it ended.
type run struct {
	Params
	problem *learners.Problem
	eval    engine.Evaluator
	loss    *loss
	targets engine.Targets // of all examples by their labels
	held    []uint8        // the fold of each example; nil if none is held out
	min     *minimiser     // of the fit under way; nil before its first step
	state   state
}

// state is what a run keeps between steps, besides the weights: it is what Save writes.
type state struct {
	Stage  stage
	Made   int     // iterations of the fit under way
	First  float64 // length of the gradient that those of the fit are compared with
	Pairs  []pair  // of the minimiser
	Search search
}

// stage is the kind of fit under way.
type stage int

const (
	searching stage = iota // without the examples held out, for one λ after the other
	fitting                // all examples
	done
)

// Start implements learners.Params.
func (p *Params) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	eval, err := problem.LoadEvaluator()
	if err != nil {
		return nil, err
	}
	targets, err := newTargets(p, problem)
	if err != nil {
		return nil, errors.Join(err, eval.Close())
	}
	l := &run{Params: *p, problem: problem, eval: eval, loss: newLoss(eval, problem.Bias), targets: targets}
	l.begin()
	return l, nil
}

// begin chooses the first fit.
func (l *run) begin() {
	l.state = state{Stage: fitting}
	lambda, _ := l.penalty() // Check has read it
	if lambda >= 0 {
		l.state.Search.Lambda = lambda
		return
	}
	l.held = folds(l.problem.Y, l.problem.Q, heldOut, l.problem.Seed)
	l.state.Stage, l.state.Search = searching, newSearch()
}

// Count implements learners.Learner.
func (l *run) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64, err error) {
	if !slices.Equal(l.loss.scored, w.W) {
		if err := l.eval.Rescore(w, learners.AllClasses(w.Q)); err != nil {
			return nil, err
		}
		l.loss.scored = slices.Clone(w.W)
	}
	classes := make([]int32, len(l.problem.Y))
	if err := l.eval.Predict(classes); err != nil {
		return nil, err
	}
	predicted = make([]int64, w.Q*w.Q)
	for i, p := range classes {
		predicted[int(p)*w.Q+int(l.problem.Y[i])]++
	}
	return predicted, nil
}

// Step implements learners.Learner: an iteration of the fit under way, or the first of the next.
func (l *run) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	for l.state.Stage != done {
		if l.min == nil {
			if err := l.beginFit(w.W); err != nil {
				return learners.Step{}, err
			}
		}
		ended := l.state.Made >= l.Iterations || l.converged()
		if !ended {
			result, err := l.min.step(ctx)
			if err != nil {
				return learners.Step{}, err
			}
			if result == improved {
				l.state.Made++
				l.state.Pairs = l.min.pairs
				copy(w.W, l.min.now.w)
				return l.stepped(w), nil
			}
		}
		moved, err := l.endFit(w.W)
		if err != nil {
			return learners.Step{}, err
		}
		if moved {
			return l.stepped(w), nil
		}
	}
	return learners.Step{Done: true}, nil
}

// stepped reports an iteration, or that w is now where the next fit begins.
func (l *run) stepped(w engine.Weights) learners.Step {
	s := learners.Step{Changed: learners.AllClasses(w.Q), Fields: []learners.Field{{Name: "λ", Value: l.state.Search.Lambda}}}
	if l.min != nil {
		s.Fields = append(s.Fields, learners.Field{Name: "loss", Value: l.min.now.loss},
			learners.Field{Name: "‖gradient‖", Value: l.min.now.length()})
	}
	return s
}

// length returns the length of the gradient.
func (p point) length() float64 { return math.Sqrt(dot(p.grad, p.grad)) }

// converged is the stopping rule.
func (l *run) converged() bool { return l.min.now.length() <= l.Tolerance*l.state.First }

// beginFit aims the engine at the fit under way and evaluates w, from where it goes on.
func (l *run) beginFit(w []float32) error {
	if err := l.loss.aim(l.targets, len(l.problem.Y), l.state.Search.Lambda, l.used()); err != nil {
		return err
	}
	if l.state.First == 0 {
		start, err := l.loss.at(make([]float32, len(w)))
		if err != nil {
			return err
		}
		l.state.First = start.length()
	}
	now, err := l.loss.at(slices.Clone(w))
	if err != nil {
		return err
	}
	if math.IsInf(now.loss, 1) {
		return fmt.Errorf("softmax: found weights under which scores or losses are too large to begin with, wanted a " +
			"loss below 2^15 for each example; scale the features, or begin from W = 0")
	}
	l.min = &minimiser{f: l.loss, now: now, pairs: l.state.Pairs}
	return nil
}

// used says which examples the fit under way uses.
func (l *run) used() func(i int) bool {
	if l.state.Stage != searching {
		return nil
	}
	return func(i int) bool { return l.held[i] != 0 }
}

// endFit takes note of a fit that has ended and chooses the next. If that does not begin from w
// it changes w.
func (l *run) endFit(w []float32) (moved bool, err error) {
	if l.state.Stage == fitting {
		l.state.Stage = done
		return false, nil
	}
	if err := l.loss.aim(l.targets, len(l.problem.Y), 0, func(i int) bool { return l.held[i] == 0 }); err != nil {
		return false, err
	}
	p, err := l.loss.at(l.min.now.w)
	if err != nil {
		return false, err
	}
	from, more := l.state.Search.judge(p.loss, p.w)
	if !more {
		l.state.Stage = fitting
	}
	l.state.Made, l.state.Pairs, l.min = 0, nil, nil
	moved = !slices.Equal(w, from)
	copy(w, from)
	return moved, nil
}

// Close implements learners.Learner.
func (l *run) Close() error { return l.eval.Close() }

// Save implements learners.Learner.
func (l *run) Save() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(l.state)
	return b.Bytes(), err
}

// Restore implements learners.Learner.
func (l *run) Restore(saved []byte) error {
	var s state
	r := bytes.NewReader(saved)
	if err := gob.NewDecoder(r).Decode(&s); err != nil {
		return fmt.Errorf("softmax: found a damaged state of a run: %w", err)
	}
	if r.Len() > 0 {
		return fmt.Errorf("softmax: found a damaged state of a run: %d bytes are left over", r.Len())
	}
	if err := s.check(l.problem.Q * l.problem.X.D); err != nil {
		return fmt.Errorf("softmax: found a damaged state of a run: %w", err)
	}
	if s.Stage == searching && l.held == nil {
		return fmt.Errorf("softmax: found the state of a run that searches for a penalty, wanted one with a penalty given")
	}
	l.state = s
	return nil
}

// check says what no run would have saved; size is the number of weights.
func (s *state) check(size int) error {
	finite := func(v ...float64) bool {
		for _, f := range v {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return false
			}
		}
		return true
	}
	switch {
	case s.Stage < searching || s.Stage > done || s.Made < 0 || len(s.Pairs) > memory:
		return fmt.Errorf("stage %d, %d iterations, %d pairs", s.Stage, s.Made, len(s.Pairs))
	case !(s.First >= 0) || !finite(s.First) || !(s.Search.Lambda >= 0) || !finite(s.Search.Lambda):
		return fmt.Errorf("gradient %v, penalty %v", s.First, s.Search.Lambda)
	}
	for _, p := range s.Pairs {
		if len(p.S) != size || len(p.Y) != size {
			return fmt.Errorf("found pairs of %d and %d values, wanted %d", len(p.S), len(p.Y), size)
		}
		if !finite(p.S...) || !finite(p.Y...) || !(p.SY > 0) || !finite(p.SY) {
			return fmt.Errorf("found a pair whose values are not those of one")
		}
	}
	return s.Search.check(size)
}
