package confusion

import (
	"fmt"
	"math/rand/v2"
)

// The second word of a PCG seed keeps the uses of one seed apart. Changing one
// changes what the same command has always produced.
const (
	randomStream uint64 = 0x636f6e662d726e64 // "conf-rnd" in ASCII
	injectStream uint64 = 0x636f6e662d696e6a // "conf-inj"
)

// Identity returns the matrix of labels without noise. It copies the names.
// The error is about classes: fewer than two, or one listed twice.
func Identity(classes []string) (*Matrix, error) {
	return Symmetric(classes, 0)
}

// Symmetric returns the matrix in which a label is wrong with probability rate, in [0, 1], and each
// of the Q-1 wrong classes is as likely as any other. It copies the names.
func Symmetric(classes []string, rate float64) (*Matrix, error) {
	m, err := New(classes)
	if err != nil {
		return nil, err
	}
	if !isProbability(rate) {
		return nil, fmt.Errorf("symmetric label noise: rate %v, wanted a number from 0 to 1", rate)
	}
	q := m.Q()
	for i := range m.P {
		m.P[i] = rate / float64(q-1)
	}
	for c := range q {
		m.P[c*q+c] = 1 - rate
	}
	return m, nil
}

// Pairwise returns the matrix in which class q becomes class q+1 (the last one class 0) with
// probability rate, in [0, 1], and is right otherwise. It copies the names.
func Pairwise(classes []string, rate float64) (*Matrix, error) {
	m, err := New(classes)
	if err != nil {
		return nil, err
	}
	if !isProbability(rate) {
		return nil, fmt.Errorf("pairwise label noise: rate %v, wanted a number from 0 to 1", rate)
	}
	q := m.Q()
	for c := range q {
		m.P[c*q+c] = 1 - rate
		m.P[(c+1)%q*q+c] = rate
	}
	return m, nil
}

// Random returns (1-share)·I + share·S, where share is in [0, 1] and S is a random matrix whose
// columns are independent and uniform among all distributions over Q classes. It copies the names.
//
// S is drawn column by column: Q exponential variables (ExpFloat64 of one PCG generator made from
// the seed and a fixed stream), divided by their sum. The same seed gives the same matrix.
func Random(classes []string, share float64, seed uint64) (*Matrix, error) {
	m, err := New(classes)
	if err != nil {
		return nil, err
	}
	if !isProbability(share) {
		return nil, fmt.Errorf("random label noise: share %v, wanted a number from 0 to 1", share)
	}
	rng := rand.New(rand.NewPCG(seed, randomStream))
	q := m.Q()
	column := make([]float64, q)
	for c := range q {
		sum := 0.0
		for p := range column {
			column[p] = rng.ExpFloat64()
			sum += column[p]
		}
		for p, e := range column {
			m.P[p*q+c] = float64(share * (e / sum))
		}
		// The conversions forbid fusing, so that every processor builds the same C.
		m.P[c*q+c] += 1 - share
	}
	return m, m.Check()
}
