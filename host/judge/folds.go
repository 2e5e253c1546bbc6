// Package judge says what noisy labels tell of a confusion matrix and of a model: doubts, scores
// of examples held out, whether the matrix helps, and the errors of a training step by step. It
// trains nothing.
package judge

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// MostFolds is the largest number of folds.
const MostFolds = 100

// BlockValues is the number of values of examples that are copied at a time to be scored.
const BlockValues = 1 << 22

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
	m := model.Model{Q: h.Q, Meta: model.Meta{Temperature: h.Temperature}}
	return p, m.ToProbabilities(p)
}

// Labelled is a choice of examples and their noisy labels.
type Labelled struct {
	X dataset.Stored
	Y []int32
}

// Pick returns the examples with the given indices, copied.
func Pick(x dataset.Stored, y []int32, which []int) Labelled {
	return Labelled{x.Pick(which).Stored(), pickLabels(y, which)}
}

// Keep is Pick for examples that ranks may share: they share the copy too, until release is called.
func Keep(x dataset.Stored, y []int32, which []int) (some Labelled, release func(), err error) {
	kept, release, err := x.Keep(which)
	return Labelled{kept, pickLabels(y, which)}, release, err
}

func pickLabels(y []int32, which []int) []int32 {
	some := make([]int32, len(which))
	for k, i := range which {
		some[k] = y[i]
	}
	return some
}

// Folds returns the fold of each example, 0..folds-1: at random, but each noisy label's
// examples are shared out evenly.
func Folds(y []int32, q, folds int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 0x666f6c64)) // "fold"
	next, of := make([]int, q), make([]int, len(y))
	for k := range next {
		next[k] = rng.IntN(folds)
	}
	for _, i := range rng.Perm(len(y)) {
		k := y[i]
		of[i] = next[k] % folds
		next[k]++
	}
	return of
}

// Divide returns the examples outside a fold and those inside it, in increasing order.
func Divide(of []int, fold int) (outside, inside []int) {
	for i, k := range of {
		if k == fold {
			inside = append(inside, i)
		} else {
			outside = append(outside, i)
		}
	}
	return outside, inside
}

// HoldOutFifth divides the examples at random in about four fifths and one fifth of each
// noisy label; both lists increase.
func HoldOutFifth(y []int32, q int, seed uint64) (fit, rest []int) {
	rng := rand.New(rand.NewPCG(seed, 0x67616d6d61)) // "gamma"
	left, of := make([]int, q), make([]int, q)
	for _, k := range y {
		of[k]++
	}
	for k, n := range of {
		left[k] = n / 5
		if n > 1 {
			left[k] = max(1, left[k])
		}
	}
	for i, k := range y {
		if rng.IntN(of[k]) < left[k] {
			rest = append(rest, i)
			left[k]--
		} else {
			fit = append(fit, i)
		}
		of[k]--
	}
	return fit, rest
}

// Counts returns the Q×Q numbers of examples by prediction (row) and noisy label.
func Counts(predicted, y []int32, q int) []int64 {
	counts := make([]int64, q*q)
	for i, p := range predicted {
		counts[int(p)*q+int(y[i])]++
	}
	return counts
}

// Deviation returns how far the weight vectors of w are from their mean: the root of the sum
// of the squared distances. Differences of scores are in proportion to it.
func Deviation(w engine.Weights) float64 {
	sum := 0.0
	for j := range w.D {
		mean := 0.0
		for r := range w.Q {
			mean += float64(w.W[r*w.D+j])
		}
		mean /= float64(w.Q)
		for r := range w.Q {
			v := float64(w.W[r*w.D+j]) - mean
			sum += float64(v * v)
		}
	}
	return math.Sqrt(sum)
}
