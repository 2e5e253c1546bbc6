// Package judge evaluates a confusion matrix and a model by noisy labels: doubts, out-of-fold
// scores, and whether the matrix helps. It trains nothing.
package judge

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// MostFolds is the largest number of folds.
const MostFolds = 100

// HeldOut holds out-of-fold scores of examples.
type HeldOut struct {
	Q int
	// fold of each of the n examples, 0..folds-1; its model was trained on the others
	Fold   []int
	Scores []float32 // n×Q row-major, all folds in one unit
	// Temperature is fitted to all Scores; 0 if they do not predict the labels.
	Temperature float32
	// Learned is the noise that each training estimated; nil if the learner estimates none.
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

// Losses returns -log P(noisy label) of each example, where its classes have the probabilities p,
// n×Q, and noise is the confusion matrix; nil if labels are right.
func Losses(y []int32, p []float32, noise *confusion.Matrix, q int) []float64 {
	losses := make([]float64, len(y))
	for i, k := range y {
		v := float64(p[i*q+int(k)])
		if noise != nil {
			v = 0
			for t, f := range p[i*q : (i+1)*q] {
				v += float64(noise.P[int(k)*q+t] * float64(f))
			}
		}
		losses[i] = -float64(numerics.Log(float32(max(v, 0x1p-60))))
	}
	return losses
}
