package model

import (
	"errors"
	"fmt"
	"math"
)

// Learned is what a training found out of the noise of its labels.
type Learned struct {
	// Confusion is Q×Q, row-major: P(noisy = p | true = q) of the labels is
	// Confusion[p*Q+q]; of the annotators' votes, if there are annotators.
	Confusion []float64
	Error     []float64 // Q×Q: the standard error of each entry, at least 0
	// Annotators are those who labelled, none if nobody knows who did.
	Annotators []Annotator
	Matrices   []float64 // Q×Q of each annotator, one after the other
}

// Annotator is one of those who labelled.
type Annotator struct {
	Name   string `json:"name"`
	Labels int    `json:"labels"` // that the annotator gave
}

// The members that hold a Learned.
const (
	learnedName      = "learned.npy"
	learnedErrorName = "learned_error.npy"
	annotatorsName   = "annotators.npy"
)

// check compares l, which may be nil, with its model.
func (l *Learned) check(m *Model) error {
	if l == nil {
		return nil
	}
	if !isProduct(len(l.Confusion), m.Q, m.Q) || !isProduct(len(l.Error), m.Q, m.Q) {
		return fmt.Errorf("%s: found %d entries and %d standard errors, wanted %d×%d (classes × "+
			"classes) of each", learnedName, len(l.Confusion), len(l.Error), m.Q, m.Q)
	}
	if rows := len(l.Annotators) * m.Q; rows > 0 && !isProduct(len(l.Matrices), rows, m.Q) ||
		rows == 0 && len(l.Matrices) > 0 {
		return fmt.Errorf("%s: found %d entries, wanted %d×%d for %d annotators", annotatorsName,
			len(l.Matrices), rows, m.Q, len(l.Annotators))
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
	for _, a := range l.Annotators {
		if a.Labels < 1 {
			return fmt.Errorf("meta.json: annotators: found %d labels of %q, wanted 1 or more", a.Labels,
				a.Name)
		}
	}
	return (&Meta{Data: Data{Annotators: l.Annotators}}).checkText()
}

// names returns the names of the annotators.
func names(all []Annotator) []string {
	var list []string
	for _, a := range all {
		list = append(list, a.Name)
	}
	return list
}

// members returns the members of a model of q classes.
func (l *Learned) members(q int) []member {
	list := []member{
		array(learnedName, q, q, l.Confusion), array(learnedErrorName, q, q, l.Error),
	}
	if len(l.Annotators) == 0 {
		return list
	}
	return append(list, array(annotatorsName, len(l.Annotators)*q, q, l.Matrices))
}

// readLearned reads the members of a Learned, and takes the annotators out of meta; nil if there
// are none.
func readLearned(a *contents, meta *Meta) *Learned {
	if !a.has(learnedName) {
		if meta.Annotators != nil {
			a.fail(errors.New("meta.json: found annotators, wanted their matrices as well, " +
				annotatorsName))
		}
		return nil
	}
	l := &Learned{Annotators: meta.Annotators}
	meta.Annotators = nil
	_, _, l.Confusion = numbers[float64](a, learnedName)
	_, _, l.Error = numbers[float64](a, learnedErrorName)
	if l.Annotators != nil {
		_, _, l.Matrices = numbers[float64](a, annotatorsName)
	}
	return l
}
