// Package fold divides examples into those to learn from and those to judge by.
package fold

import (
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// blockValues is the number of values of examples that are copied at a time to be scored.
const blockValues = 1 << 22

// BlockRows returns the number of examples that are copied at a time to be scored.
func BlockRows(x dataset.Examples) int {
	values := x.D
	if x.Sparse() {
		values = len(x.Values) / max(1, x.N)
	}
	return max(1, blockValues/max(1, values))
}

// Labelled is a choice of examples and their noisy labels.
type Labelled struct {
	X dataset.Examples
	Y []int32
}

// Pick returns the examples with the given indices, copied.
func Pick(x dataset.Examples, y []int32, which []int) Labelled {
	return Labelled{x.Pick(which), lists.At(y, which)}
}

// Copy is Pick, or an error if memory does not hold the copy.
func Copy(x dataset.Examples, y []int32, which []int) (Labelled, error) {
	part, err := x.Copy(which)
	return Labelled{part, lists.At(y, which)}, err
}

// The streams of random numbers of folds that whole trainings leave out, and of folds within one.
const (
	Outer = 0x666f6c64       // "fold"
	Inner = 0x736f66746d6178 // "softmax"
)

// Draw returns the fold of each example, 0..folds-1: at random, but with the examples of each noisy
// label divided evenly. stream keeps the random numbers apart from others of the same seed.
func Draw(y []int32, q, folds int, seed, stream uint64) []int {
	rng := rand.New(rand.NewPCG(seed, stream))
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
