package model

import (
	"fmt"
	"math"
)

// Learned is what a training found out of the noise of its labels.
type Learned struct {
	// Confusion is Q×Q, row-major: P(noisy = p | true = q) of the labels is
	// Confusion[p*Q+q]; of the annotators' votes, if there are annotators.
	Confusion []float64
	Error     []float64 // Q×Q: the standard error of each entry, at least 0
	Matrices  []float64 // Q×Q of each of Meta.Annotators, one after the other
}

// The members that hold a Learned.
const (
	learnedName      = "learned.npy"
	learnedErrorName = "learned_error.npy"
	annotatorsName   = "annotators.npy"
)

// check compares l, which may be nil, with its model.
func (l *Learned) check(m *Model) error {
	annotators := m.Meta.Annotators
	if l == nil {
		if annotators != nil {
			return fmt.Errorf("meta.json: found annotators, wanted their matrices as well, %s",
				annotatorsName)
		}
		return nil
	}
	if !isProduct(len(l.Confusion), m.Q, m.Q) || !isProduct(len(l.Error), m.Q, m.Q) {
		return fmt.Errorf("%s: found %d entries and %d standard errors, wanted %d×%d (classes × "+
			"classes) of each", learnedName, len(l.Confusion), len(l.Error), m.Q, m.Q)
	}
	if rows := len(annotators) * m.Q; rows > 0 && !isProduct(len(l.Matrices), rows, m.Q) ||
		rows == 0 && len(l.Matrices) > 0 {
		return fmt.Errorf("%s: found %d entries, wanted %d×%d for %d annotators", annotatorsName,
			len(l.Matrices), rows, m.Q, len(annotators))
	}
	for _, p := range []struct {
		name   string
		most   float64
		values []float64
	}{{learnedName, 1, l.Confusion}, {learnedErrorName, math.MaxFloat64, l.Error}, {annotatorsName, 1,
		l.Matrices}} {
		for i, v := range p.values {
			if !(v >= 0 && v <= p.most) {
				return fmt.Errorf("%s: found %v in row %d, column %d (from 0), wanted 0 to %.4g", p.name, v,
					i/m.Q, i%m.Q, p.most)
			}
		}
	}
	return nil
}

// members returns the members of a model of q classes.
func (l *Learned) members(q int) []member {
	list := []member{
		array(learnedName, q, q, l.Confusion), array(learnedErrorName, q, q, l.Error),
	}
	if len(l.Matrices) == 0 {
		return list
	}
	return append(list, array(annotatorsName, len(l.Matrices)/q, q, l.Matrices))
}

// readLearned reads the members of a Learned; nil if there are none.
func readLearned(a *contents) *Learned {
	if !a.has(learnedName) {
		return nil
	}
	l := &Learned{}
	_, _, l.Confusion = numbers[float64](a, learnedName)
	_, _, l.Error = numbers[float64](a, learnedErrorName)
	l.Matrices = some[float64](a, annotatorsName)
	return l
}
