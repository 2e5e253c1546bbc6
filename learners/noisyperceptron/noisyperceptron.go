// Package noisyperceptron has the perceptrons for labels that were flipped by chance, from which
// UMA descends: those of Bylander (1994) and of Blum, Frieze, Kannan and Vempala (1998).
//
// Both learn to tell two classes apart from the sum of the examples that are mistaken, which
// nobody sees, but can be estimated: of the examples that w puts on one side, those with either
// label are added up, and C⁻¹ takes the sums apart by true class (equation 3.3 of Louche's thesis,
// for labels of which either may be wrong more often). With more than two classes there is one
// such w for each, against the rest; the largest score decides.
package noisyperceptron

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// mover is what one algorithm does with the estimate of the mistakes of a class.
type mover interface {
	// ready changes w, the weights of class r, if they cannot be begun with, and says whether.
	ready(w []float32, r int) bool
	// margin is how far an example of length 1 must lie from the plane of w to count.
	margin(w []float32) float64
	// move corrects w by the mean of its mistakes, which it may change. It says whether it did:
	// it does not if they are none.
	move(w, mistakes []float32) bool
}

// run is one of the learners in the middle of a run.
type run struct {
	mover
	eval    engine.Evaluator
	problem *learners.Problem
	// Q×Q: what an example of label k (column) adds to the mistakes of class r, if r is not predicted
	inside  []float32
	outside []float32 // likewise, if it is
	lengths []float32 // of the examples
	q, d    int

	predicted []int32
	a         []float32 // coefficients of all examples, n×Q
	sums      []int64   // Q×d
}

// start loads the problem's examples and begins a run.
func start(problem *learners.Problem, m mover) (learners.Learner, error) {
	if err := problem.Check(); err != nil {
		return nil, err
	}
	inverse, err := problem.Inverse()
	if err != nil {
		return nil, err
	}
	eval, err := problem.LoadEvaluator()
	if err != nil {
		return nil, err
	}
	n, d, q := eval.Shape()
	l := &run{mover: m, eval: eval, problem: problem, q: q, d: d, predicted: make([]int32, n),
		a: make([]float32, n*q), sums: make([]int64, q*d), lengths: make([]float32, n)}
	l.unmix(inverse.Float32())
	for i := range l.lengths {
		if problem.X.Sparse() {
			_, values := problem.X.SparseRow(i)
			l.lengths[i] = float32(length(values))
		} else {
			l.lengths[i] = float32(length(problem.X.Row(i)))
		}
	}
	return l, nil
}

// unmix makes the coefficients. An example of label k counts as C⁻¹[r][k] examples of class r and
// as 1 - C⁻¹[r][k] of the others. They are divided by a number for which none is above 1 in size.
func (l *run) unmix(inverse []float32) {
	most := 1.0
	for _, b := range inverse {
		most = max(most, math.Abs(float64(b))+math.Abs(1-float64(b)))
	}
	for _, b := range inverse {
		l.inside = append(l.inside, float32(float64(b)/most))
		l.outside = append(l.outside, float32((float64(b)-1)/most))
	}
}

// length returns ‖v‖, summed in float64 in the order of v. Squares of float32 are exact there.
func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// Count implements learners.Learner.
func (l *run) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64,
	err error) {
	if err := l.eval.Rescore(w, changed); err != nil {
		return nil, err
	}
	if err := l.eval.Predict(l.predicted); err != nil {
		return nil, err
	}
	predicted = make([]int64, l.q*l.q)
	for i, p := range l.predicted {
		predicted[int(p)*l.q+int(l.problem.Y[i])]++
	}
	return predicted, nil
}

// Step implements learners.Learner: it corrects the weights of each class by the mistakes that
// they make. It is the last one if there are none.
func (l *run) Step(_ context.Context, w engine.Weights) (s learners.Step, err error) {
	next := w.Clone()
	var begun []int
	for r := range l.q {
		if l.ready(next.Row(r), r) {
			begun = append(begun, r)
		}
	}
	if err := l.eval.Rescore(next, begun); err != nil {
		return s, err
	}
	if err := l.mistakes(next); err != nil {
		return s, err
	}
	unit, mistakes := l.eval.FixedPoint().Unit(), make([]float32, l.d)
	for r := range l.q {
		for j := range mistakes {
			mistakes[j] = float32(l.sums[r*l.d+j]) * unit
		}
		if l.move(next.Row(r), mistakes) {
			s.Changed = append(s.Changed, r)
		}
	}
	if len(s.Changed) == 0 {
		return learners.Step{Done: true}, nil
	}
	for _, v := range next.W {
		if v-v != 0 {
			return s, errors.New("found weights too large for float32; normalise the features")
		}
	}
	copy(w.W, next.W)
	s.Changed = learners.AllClasses(l.q)
	return s, nil
}

// mistakes adds up, for each class, the examples on either side of its plane.
func (l *run) mistakes(w engine.Weights) error {
	margins := make([]float64, l.q)
	for r := range margins {
		margins[r] = l.margin(w.Row(r))
	}
	const block = 4096
	n := len(l.predicted)
	scores := make([]float32, min(block, n)*l.q)
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		if err := l.eval.Scores(scores[:(to-from)*l.q], from, to); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			k, size := int(l.problem.Y[i]), float64(l.lengths[i])
			for r := range l.q {
				a, score, margin := float32(0), float64(scores[(i-from)*l.q+r]), margins[r]*size
				if score <= -margin {
					a += l.inside[r*l.q+k]
				}
				if score >= margin {
					a += l.outside[r*l.q+k]
				}
				l.a[i*l.q+r] = a
			}
		}
	}
	return l.eval.WeightedSums(l.sums, l.a)
}

// Save implements learners.Learner: the weights are all there is to know.
func (*run) Save() ([]byte, error) { return nil, nil }

// Restore implements learners.Learner.
func (*run) Restore(saved []byte) error {
	if len(saved) > 0 {
		return fmt.Errorf("found a damaged state of a run of %d bytes, wanted none", len(saved))
	}
	return nil
}

// Close implements learners.Learner.
func (l *run) Close() error { return l.eval.Close() }

// mistaken says whether mistakes can be those of w: it puts them on the wrong side.
func mistaken(w, mistakes []float32) bool {
	return length(mistakes) > 0 && numerics.Dot(w, mistakes) <= 0
}

// define returns the definition of one of the learners.
func define(name, summary, paper string, rules []learners.Rule,
	defaults func() learners.Params) *learners.Definition {
	return &learners.Definition{
		Name: name, Summary: summary, Paper: paper, New: defaults,
		Step:     "an update of each class by all its mistakes",
		MaxSteps: 512,
		Weights:  rules,
		Loads:    learners.LoadsEvaluator,
	}
}
