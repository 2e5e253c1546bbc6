package dataset

import "math/rand/v2"

// The streams of random numbers of folds that whole trainings leave out, and of folds within one.
const (
	OuterFolds = 0x666f6c64       // "fold"
	InnerFolds = 0x736f66746d6178 // "softmax"
)

// DrawFolds returns the fold of each example, 0..folds-1: at random, but with the examples of each
// of q noisy labels y divided evenly. stream keeps the random numbers apart from others of the same
// seed.
func DrawFolds(y []int32, q, folds int, seed, stream uint64) []int {
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

// DivideFolds returns the examples outside a fold and those inside it, in increasing order.
func DivideFolds(of []int, fold int) (outside, inside []int) {
	for i, k := range of {
		if k == fold {
			inside = append(inside, i)
		} else {
			outside = append(outside, i)
		}
	}
	return outside, inside
}

// BlockRows returns the number of examples of x to copy at a time, where not all can be.
func BlockRows(x Examples) int {
	const values = 1 << 22
	return max(1, values/max(1, x.Size()/max(1, x.N)))
}
