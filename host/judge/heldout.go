// Package judge says what noisy labels tell of a confusion matrix and of a model: doubts, scores
// of examples held out, and whether the matrix helps. It trains nothing.
package judge

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// MostFolds is the largest number of folds.
const MostFolds = 100

// HeldOut holds scores of examples by models that have not seen them.
type HeldOut struct {
	Q int
	// fold of each of the n examples, 0..folds-1: its model has learned from the others
	Fold   []int
	Scores []float32 // n×Q row-major, those of all folds in one unit
	// Temperature is that of the Scores, fitted to all of them; 0 if they say nothing of the labels.
	Temperature float32
	// Learned is the noise that each training has learned; nil if the learner learns none.
	Learned []*confusion.Learned
}

// Probabilities returns softmax(Scores / Temperature), n×Q row-major: the probability that an
// example is of each class. Without a confusion matrix the classes are noisy labels, else true
// ones. The error is model.ErrNoTemperature.
func (h *HeldOut) Probabilities() ([]float32, error) {
	p := slices.Clone(h.Scores)
	m := model.Model{Q: h.Q}
	m.Meta.Temperature = h.Temperature
	return p, m.ToProbabilities(p)
}
