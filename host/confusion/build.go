package confusion

import (
	"fmt"
	"math/rand/v2"
)

// The second word of a PCG seed separates the uses of one seed. Changing it changes results.
const (
	randomStream uint64 = 0x636f6e662d726e64 // "conf-rnd" in ASCII
	injectStream uint64 = 0x636f6e662d696e6a // "conf-inj"
)

// Symmetric returns the matrix in which a label is wrong with probability rate, in [0, 1], and all
// wrong classes are equally likely. It copies the names. The error is about the rate or the
// classes: fewer than two, or one listed twice.
func Symmetric(classes []string, rate float64) (*Matrix, error) {
	return build(classes, "symmetric label noise: rate", rate, func(p []float64, q int) {
		for i := range p {
			p[i] = rate / float64(q-1)
			if i%(q+1) == 0 {
				p[i] = 1 - rate
			}
		}
	})
}

// Pairwise returns the matrix in which class q becomes class q+1 (the last one class 0) with
// probability rate, in [0, 1], and is right otherwise. It copies the names.
func Pairwise(classes []string, rate float64) (*Matrix, error) {
	return build(classes, "pairwise label noise: rate", rate, func(p []float64, q int) {
		for c := range q {
			p[c*q+c] = 1 - rate
			p[(c+1)%q*q+c] = rate
		}
	})
}

// Random returns (1-share)·I + share·S, where share is in [0, 1] and S is a random matrix whose
// columns are independent and uniform among all distributions over Q classes. It copies the names.
//
// S is drawn column by column: Q exponential variables (ExpFloat64 of one PCG generator made from
// the seed and a fixed stream), divided by their sum. The same seed gives the same matrix.
func Random(classes []string, share float64, seed uint64) (*Matrix, error) {
	return build(classes, "random label noise: share", share, func(p []float64, q int) {
		rng := rand.New(rand.NewPCG(seed, randomStream))
		column := make([]float64, q)
		for c := range q {
			sum := 0.0
			for k := range column {
				column[k] = rng.ExpFloat64()
				sum += column[k]
			}
			for k, e := range column {
				p[k*q+c] = float64(share * (e / sum))
			}
			// The conversions forbid fusing, so that every processor builds the same C.
			p[c*q+c] += 1 - share
		}
	})
}

// build returns the matrix that fill fills, if amount, described by what, is a probability.
func build(classes []string, what string, amount float64, fill func(p []float64, q int),
) (*Matrix, error) {
	m, err := New(classes)
	if err != nil {
		return nil, err
	}
	if !isProbability(amount) {
		return nil, fmt.Errorf("%s %v, wanted a number from 0 to 1", what, amount)
	}
	fill(m.P, m.Q())
	return m, m.Check()
}

// Inject returns noisy labels for the true labels y, class indices in 0..Q-1; y is not changed. The
// same y, matrix and seed give the same labels.
//
// For each example in order one u in [0, 1) is drawn (Float64 of a PCG generator made from the seed
// and a fixed stream), also where the outcome is certain. The noisy label of an example of class q
// is the first p for which u < P[0][q] + ... + P[p][q], summed in float64 in increasing p; if
// rounding leaves the whole sum at or below u, it is the last p with P[p][q] > 0. So a class of
// probability 0 is never drawn.
//
// The error is about a matrix that fails Check, or the first label out of range.
func (m *Matrix) Inject(y []int32, seed uint64) ([]int32, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := CheckLabels("inject label noise", y, m.Q()); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, injectStream))
	noisy := make([]int32, len(y))
	for i, t := range y {
		noisy[i] = m.draw(int(t), rng.Float64())
	}
	return noisy, nil
}

// draw returns the noisy label of an example of class q for u in [0, 1).
func (m *Matrix) draw(q int, u float64) int32 {
	n := m.Q()
	last, sum := 0, 0.0
	for p := range n {
		if v := m.P[p*n+q]; v != 0 {
			last = p
			if sum += v; u < sum {
				break
			}
		}
	}
	return int32(last)
}
