package means

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Margins returns the margin for error of a classifier (Section 4.1 of the paper) for each share
// of n examples that may be lost: if each of its scores, n×q, is off by less, at most that share
// of the examples that are predicted as y says is so no longer (Theorem 7). It is half of the
// smallest margin but those of the share, a margin being what the score of y exceeds the largest
// other one by; +Inf if the share are all that are right. Error: engine.ErrShape.
func Margins(scores []float32, y []int32, q int, shares []float64) ([]float64, error) {
	if q < 2 || len(scores) != len(y)*q {
		return nil, fmt.Errorf("margins: %w: found %d scores of %d examples and %d classes",
			engine.ErrShape, len(scores), len(y), q)
	}
	var right []float64
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return nil, fmt.Errorf("margins: %w: example %d has label %d, wanted 0..%d", engine.ErrLabel, i,
				k, q-1)
		}
		row := scores[i*q : (i+1)*q]
		rival := math.Inf(-1)
		for r, v := range row {
			if r != int(k) {
				rival = max(rival, float64(v))
			}
		}
		if m := float64(row[k]) - rival; m > 0 {
			right = append(right, m)
		}
	}
	slices.Sort(right)
	margins := make([]float64, len(shares))
	for t, share := range shares {
		margins[t] = math.Inf(1)
		if lost := int(share * float64(len(y))); lost < len(right) {
			margins[t] = right[lost] / 2
		}
	}
	return margins, nil
}

// NoiseStood returns the largest rate of symmetric label noise under which the mean classifier of
// the same n examples of q classes, whose feature vectors are at most radius long, has scores less
// than margin off, 95 times of 100: but for one factor, which moves no class. That noise shortens
// what tells two classes apart to c = 1 - rate·q/(q-1) of its length, and chance adds as much as
// Lemma 9 says, for all pairs of classes together. 0 if none is promised.
func NoiseStood(margin, radius float64, n int64, q int) float64 {
	pairs := float64(q*(q-1)) / 2
	chance := radius * radius * (1 + math.Sqrt(2*(logarithm+math.Log(pairs)))) / math.Sqrt(float64(n))
	return max(0, 1-chance/(2*margin)) * float64(q-1) / float64(q)
}

// LabelsStood returns the share of labels that may be turned to whichever others before a score of
// the mean classifier is margin off (Corollary 8): each moves the difference of two scores by
// 2·radius²/n at most.
func LabelsStood(margin, radius float64) float64 { return min(1, margin/(radius*radius)) }
