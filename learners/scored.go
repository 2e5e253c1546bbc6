package learners

import (
	"bytes"
	"crypto/sha256"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// CountScored is Learner.Count of a learner that loads its examples with Problem.Load: it has s
// score them anew by the weight vectors of w that have changed, and counts them by prediction and
// label y. predicted, a number for each example, is overwritten.
func CountScored(s engine.Scorer, w engine.Weights, changed []int, predicted, y []int32,
) ([]int64, error) {
	if err := s.Rescore(w, changed); err != nil {
		return nil, err
	}
	if err := s.Predict(predicted); err != nil {
		return nil, err
	}
	return CountPredictions(predicted, y, w.Q), nil
}

// CountPredictions returns the number of examples by prediction (row) and label y (column), q×q
// row-major.
func CountPredictions(predicted, y []int32, q int) []int64 {
	counts := make([]int64, q*q)
	for i, p := range predicted {
		counts[int(p)*q+int(y[i])]++
	}
	return counts
}

// Seal returns a state for Learner.Save to return, with its SHA-256 behind it.
func Seal(state []byte) []byte {
	sum := sha256.Sum256(state)
	return append(state, sum[:]...)
}

// Unseal returns the state that Seal was given; false if the bytes are no longer those that it
// returned.
func Unseal(saved []byte) (state []byte, whole bool) {
	body := len(saved) - sha256.Size
	if body < 0 {
		return nil, false
	}
	sum := sha256.Sum256(saved[:body])
	return saved[:body], bytes.Equal(sum[:], saved[body:])
}
