package learners

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// ClassSums is what learners of class means know of n examples of Q noisy labels.
type ClassSums struct {
	Inverse *confusion.Inverse // C⁻¹
	Labels  []int64            // examples by noisy label
	Cells   *engine.Cells
	b       []float32 // float32(C⁻¹)
	n, d, q int
	learner string // its name
	weights func(s *ClassSums, w engine.Weights) error
	made    bool // the step
}

// BeginClassSums begins a run of the named learner, whose only step is weights: it receives W = 0,
// and the W that it leaves is the result. It must depend only on s and the parameters, so that
// initial weights have no effect. Errors: see Problem.LoadCells.
func BeginClassSums(problem *Problem, name string,
	weights func(s *ClassSums, w engine.Weights) error) (Learner, error) {
	cells, inverse, err := problem.LoadCells()
	if err != nil {
		return nil, err
	}
	s := &ClassSums{
		Inverse: inverse, Labels: make([]int64, problem.Q), b: inverse.Float32(), Cells: cells,
		learner: name, weights: weights,
	}
	s.n, s.d, s.q = cells.Shape()
	for _, y := range problem.Y {
		s.Labels[y]++
	}
	return s, nil
}

func (s *ClassSums) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64,
	err error) {
	if err := s.Cells.Rescore(w, changed); err != nil {
		return nil, err
	}
	a, err := s.Cells.Assign(0)
	return a.Predicted, err
}

// Step implements Learner: it makes the weights. Those of before leave no trace: sums by
// label are exact integers, however the examples are predicted.
func (s *ClassSums) Step(_ context.Context, w engine.Weights) (Step, error) {
	if s.made {
		return Step{Done: true}, nil
	}
	next := engine.NewWeights(w.Q, w.D)
	if err := s.weights(s, next); err != nil {
		return Step{}, err
	}
	const advice = ", or use a confusion matrix that is farther from a singular one"
	if err := CheckFinite(s.learner, next.W, advice); err != nil {
		return Step{}, err
	}
	copy(w.W, next.W)
	s.made = true
	return Step{Changed: AllClasses(w.Q)}, nil
}

// ByLabel returns Σ_p Γ[p], the sums of the examples by noisy label: Q×d in fixed point, for Unmix.
func (s *ClassSums) ByLabel() ([]int64, error) {
	sums, region := make([]int64, s.q*s.d), make([]int64, s.q*s.d)
	for p := range s.q {
		if err := s.Cells.ClassSums(region, p); err != nil {
			return nil, err
		}
		for i, v := range region {
			sums[i] += v
		}
	}
	return sums, nil
}

// Unmix writes to row, d values, the sum of true class q over n: clause 6's update vector of all
// examples, of sums that ByLabel returned.
func (s *ClassSums) Unmix(row []float32, sums []int64, q int) {
	engine.UpdateVector(row, sums, s.b[q*s.q:(q+1)*s.q], s.Cells.FixedPoint())
}

// Priors returns clause 7's estimate of how often each true class is, at least 1/n.
func (s *ClassSums) Priors() []float64 {
	return s.Inverse.Priors(s.Labels, s.n)
}

// states are what Save returns: before the step, and after it.
var states = map[bool]string{false: "before the means", true: "after the means"}

func (s *ClassSums) Save() ([]byte, error) { return []byte(states[s.made]), nil }

func (s *ClassSums) Restore(saved []byte) error {
	s.made = string(saved) == states[true]
	if !s.made && string(saved) != states[false] {
		return fmt.Errorf("%s: found a damaged state of a run, %.40q, wanted %q or %q", s.learner, saved,
			states[false], states[true])
	}
	return nil
}

func (s *ClassSums) Close() error { return s.Cells.Close() }
