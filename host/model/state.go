package model

import (
	"fmt"
)

// State is the state of a training between two steps: all it needs to go on with the same bits,
// except the weights that its result would be, which are the model's own.
type State struct {
	Steps int // that were made; Meta.Steps in a model
	// Q×D row-major: the weights that the last step left; nil of trees, which the model has
	Last []float32
	// Q×D, for weights "average" and "best-average" after a step: Σ of the weights after each; else
	// empty
	Sum []float64
	// Counts is Q×Q, for weights "best" and "best-average" once any were judged: examples by W's
	// prediction and noisy label; else empty.
	Counts  []int64
	Learner []byte // the learner's own
}

// The members that hold a State.
const (
	lastName    = "last.npy"
	sumName     = "sum.npy"
	countsName  = "counts.npy"
	learnerName = "learner.bin"
)

// check compares s with the model m whose training it is of.
func (s *State) check(m *Model) error {
	if s.Steps != m.Meta.Steps {
		return fmt.Errorf("state: found %d steps, wanted %d as meta.json says", s.Steps, m.Meta.Steps)
	}
	if m.Trees != nil {
		return nil
	}
	if !isProduct(len(s.Last), m.Q, m.D) {
		return fmt.Errorf("%s: found %d weights, wanted %d×%d (classes × columns)", lastName, len(s.Last),
			m.Q, m.D)
	}
	if len(s.Sum) > 0 && !isProduct(len(s.Sum), m.Q, m.D) {
		return fmt.Errorf("%s: found %d sums, wanted %d×%d (classes × columns) or none", sumName,
			len(s.Sum), m.Q, m.D)
	}
	if len(s.Counts) > 0 && !isProduct(len(s.Counts), m.Q, m.Q) {
		return fmt.Errorf("%s: found %d counts, wanted %d×%d (classes × classes) or none",
			countsName, len(s.Counts), m.Q, m.Q)
	}
	if err := checkNumbers(lastName, s.Last); err != nil {
		return err
	}
	if err := checkNumbers(sumName, s.Sum); err != nil {
		return err
	}
	for i, v := range s.Counts {
		if v < 0 {
			return fmt.Errorf("%s: found %d at place %d, wanted counts of examples", countsName, v, i)
		}
	}
	return nil
}

// members returns the members of a model of q classes and d columns.
func (s *State) members(q, d int) []member {
	if s.Last == nil {
		return []member{text(learnerName, s.Learner)}
	}
	list := []member{array(lastName, q, d, s.Last)}
	if len(s.Sum) > 0 {
		list = append(list, array(sumName, q, d, s.Sum))
	}
	if len(s.Counts) > 0 {
		list = append(list, array(countsName, q, q, s.Counts))
	}
	return append(list, text(learnerName, s.Learner))
}

// readState reads the members of a state after that number of steps.
func readState(a *contents, steps int) *State {
	s := &State{Steps: steps}
	_, _, s.Last = numbers[float32](a, lastName)
	s.Sum, s.Counts = some[float64](a, sumName), some[int64](a, countsName)
	s.Learner = a.text(learnerName)
	return s
}
