// Package noisyperceptron has the perceptrons for labels that were flipped at random, from which
// UMA descends: by Bylander (1994), and by Blum, Frieze, Kannan and Vempala (1998).
//
// Both learn to tell two classes apart from the sum of the examples that are mistaken, which
// nobody sees, but can be estimated: of the examples that w puts on one side, those with either
// label are added up, and C⁻¹ takes the sums apart by true class (equation 3.3 of Louche's thesis,
// where either label may be wrong more often). With more than two classes there is one
// such w for each, against the rest; the largest score decides.
package noisyperceptron

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// bylander are the parameters of Bylander's perceptron: none.
type bylander struct{}

// NewBylander returns the parameters of Bylander's perceptron.
func NewBylander() learners.Params { return &bylander{} }

func (*bylander) Definition() *learners.Definition {
	return &learners.Definition{
		Name: "bylander",
		Summary: "the perceptron of two classes on the estimated sum of its mistakes; of more, one for " +
			"each class",
		Paper: "Bylander, Learning linear threshold functions in the presence of classification noise, " +
			"COLT 1994",
		Step:     step,
		MaxSteps: maxSteps,
		Weights:  []learners.Rule{learners.BestAverage, learners.Best, learners.Average, learners.Last},
		New:      NewBylander,
		Start: func(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
			return start(problem, adder{})
		},
		Loads: learners.LoadsEvaluator,
	}
}

// Of both learners.
const (
	step     = "an update of each class by all its mistakes"
	maxSteps = 512
)

// adder adds the mistakes to the weights.
type adder struct{}

func (adder) ready([]float32, int) bool { return false }
func (adder) margin([]float32) float64  { return 0 }

func (adder) move(w, mistakes []float32) {
	for j, v := range mistakes {
		w[j] += v
	}
}

// updateRule is what one algorithm does with the estimate of the mistakes of a class.
type updateRule interface {
	// ready changes w, the weights of class r, if they cannot be begun with, and says whether.
	ready(w []float32, r int) bool
	// margin is how far an example of length 1 must lie from the plane of w to count.
	margin(w []float32) float64
	// move corrects w by the mean of its mistakes, which it may change.
	move(w, mistakes []float32)
}

// learner is one of the learners in the middle of a run.
type learner struct {
	updateRule
	*learners.Scored
	eval *engine.Evaluator // which is its Scorer too
	// Q×Q: what an example of label k (column) adds to the mistakes of class r, if r is not predicted
	inside  []float32
	outside []float32 // likewise, if it is
	lengths []float64 // of the examples, rounded to float32
	q, d    int

	a    []float32 // coefficients of all examples, n×Q
	sums []int64   // Q×d
}

// start loads the problem's examples and begins a run.
func start(problem *learners.Problem, m updateRule) (learners.Learner, error) {
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
	l := &learner{updateRule: m, eval: eval, q: q,
		Scored: &learners.Scored{Problem: problem, Scorer: eval.Scorer}, d: d, a: make([]float32, n*q),
		sums: make([]int64, q*d), lengths: make([]float64, n)}
	// An example of label k counts as C⁻¹[r][k] examples of class r and as 1 - C⁻¹[r][k] of the
	// others. They are divided by a number for which none is above 1 in size.
	most := 1.0
	for _, b := range inverse.Float32() {
		most = max(most, math.Abs(float64(b))+math.Abs(1-float64(b)))
	}
	for _, b := range inverse.Float32() {
		l.inside = append(l.inside, float32(float64(b)/most))
		l.outside = append(l.outside, float32((float64(b)-1)/most))
	}
	for i := range l.lengths {
		_, values := problem.X.Entries(i)
		l.lengths[i] = float64(float32(length(values)))
	}
	return l, nil
}

// length returns ‖v‖.
func length(v []float32) float64 { return math.Sqrt(learners.SquaredLength(v)) }

// Step implements learners.Learner: it corrects the weights of each class by the mistakes that
// they make. It is the last one if there are none.
func (l *learner) Step(_ context.Context, w engine.Weights) (s learners.Step, err error) {
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
	unit, mistakes, moved := l.eval.FixedPoint().Unit(), make([]float32, l.d), false
	for r := range l.q {
		for j := range mistakes {
			mistakes[j] = float32(l.sums[r*l.d+j]) * unit
		}
		// They can be mistakes of w only if it puts them on the wrong side.
		if row := next.Row(r); length(mistakes) > 0 && numerics.Dot(row, mistakes) <= 0 {
			l.move(row, mistakes)
			moved = true
		}
	}
	if !moved {
		return learners.Step{Done: true}, nil
	}
	if err := learners.CheckFinite("perceptron", next.W, ""); err != nil {
		return s, err
	}
	copy(w.W, next.W)
	s.Changed = learners.AllClasses(l.q)
	return s, nil
}

// mistakes adds up, for each class, the examples on either side of its plane.
func (l *learner) mistakes(w engine.Weights) error {
	margins := make([]float64, l.q)
	for r := range margins {
		margins[r] = l.margin(w.Row(r))
	}
	err := learners.EachScores(l.eval.Scorer, func(i int, scores []float32) error {
		k := int(l.Problem.Y[i])
		for r, v := range scores {
			a, score, margin := float32(0), float64(v), margins[r]*l.lengths[i]
			if score <= -margin {
				a += l.inside[r*l.q+k]
			}
			if score >= margin {
				a += l.outside[r*l.q+k]
			}
			l.a[i*l.q+r] = a
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.eval.WeightedSums(l.sums, l.a)
}

// Save implements learners.Learner: the weights are all there is to know.
func (*learner) Save() ([]byte, error) { return nil, nil }

func (*learner) Restore(saved []byte) error {
	if len(saved) > 0 {
		return fmt.Errorf("perceptron: saved state: got %d bytes, want none", len(saved))
	}
	return nil
}

// Blum are the parameters of the modified perceptron.
type Blum struct {
	// Margin is σ, 0 to 1: the sine of the angle with the plane of w that an example needs to count.
	Margin float64
}

// NewBlum returns the default parameters.
func NewBlum() *Blum { return &Blum{} }

func (p *Blum) Definition() *learners.Definition {
	return &learners.Definition{
		Name: "blum",
		Summary: "a perceptron that turns w until its estimated mistakes lie in its plane; one for " +
			"each class",
		Paper: "Blum, Frieze, Kannan & Vempala, A polynomial-time algorithm for learning noisy linear " +
			"threshold functions, Algorithmica 22 (1998), Section 4, without the removal of outliers",
		Step:     step,
		MaxSteps: maxSteps,
		Weights:  []learners.Rule{learners.Best, learners.Last},
		New:      func() learners.Params { return NewBlum() },
		Parameters: []learners.Parameter{learners.Float("margin", &p.Margin, learners.Range{Most: 1},
			"sine of the angle with the plane between two classes that an example needs to count")},
		Start: func(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
			return start(problem, turner{p.Margin, problem.Seed})
		},
		Loads: learners.LoadsEvaluator,
	}
}

// stream keeps random numbers apart from others of the same seed; class r has stream+r.
const stream = 0x626c756d << 16 // "blum"

// turner is Algorithm 3 of Louche's thesis with the sum of the mistakes as x_up. Weights have
// length 1: only their direction counts in the paper, and one length makes the weights of
// classes comparable.
type turner struct {
	sigma float64
	seed  uint64
}

// ready begins weights that are 0 at random.
func (t turner) ready(w []float32, r int) bool {
	if length(w) > 0 {
		return false
	}
	rng := rand.New(rand.NewPCG(t.seed, stream+uint64(r)))
	for j := range w {
		w[j] = rng.Float32() - 0.5
	}
	normalise(w)
	return true
}

func (t turner) margin(w []float32) float64 { return t.sigma * length(w) }

// move takes from w what it has of the mistakes' direction.
func (t turner) move(w, mistakes []float32) {
	normalise(mistakes)
	along := numerics.Dot(w, mistakes)
	for j, v := range mistakes {
		w[j] = numerics.FMA(-along, v, w[j])
	}
	if !(length(w) > 0) { // it was opposite to its mistakes
		copy(w, mistakes)
	}
	normalise(w)
}

// normalise makes the length of v 1, which is above 0.
func normalise(v []float32) {
	size := length(v)
	for j, x := range v {
		v[j] = float32(float64(x) / size)
	}
}
