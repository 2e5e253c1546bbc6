package confusion

import (
	"fmt"
	"math/rand/v2"
)

// Inject returns noisy labels for the true labels y, class indices in 0..Q-1;
// y is not changed. The same y, matrix and seed give the same labels.
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
	q := m.Q()
	rng := rand.New(rand.NewPCG(seed, injectStream))
	noisy := make([]int32, len(y))
	for i, t := range y {
		if t < 0 || int(t) >= q {
			return nil, fmt.Errorf("inject label noise: example %d (counted from 0) has label %d, wanted 0 "+
				"to %d", i, t, q-1)
		}
		noisy[i] = m.draw(int(t), rng.Float64())
	}
	return noisy, nil
}

// draw returns the noisy label of an example of class q for u in [0, 1).
func (m *Matrix) draw(q int, u float64) int32 {
	n := m.Q()
	last, sum := 0, 0.0
	for p := range n {
		v := m.P[p*n+q]
		if v == 0 {
			continue
		}
		last = p
		if sum += v; u < sum {
			break
		}
	}
	return int32(last)
}
