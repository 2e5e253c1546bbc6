package uma

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// labelNoise is how long wrong labels alone make update vectors (clause 18).
type labelNoise struct {
	b2     []float64 // B²-B in float64, Q×Q; nil if nothing is doubted or labels are right
	square float64   // mean of ‖x‖² over the examples, divided by n
}

// doubtWrong finds how long wrong labels alone make update vectors (clause 18), unless nothing is
// doubted.
func (l *learner) doubtWrong(x dataset.Stored) {
	if l.Doubt == 0 {
		return
	}
	b2 := make([]float64, len(l.inverse.V))
	for i, b := range l.inverse.V {
		b2[i] = float64(b*b) - b
	}
	if !slices.ContainsFunc(b2, func(v float64) bool { return v != 0 }) {
		return
	}
	l.b2 = b2
	for _, square := range x.RowSums(1, func(i, _ int) float64 {
		_, values := x.Entries(i)
		return base.SquaredLength(values)
	}) {
		l.square += square
	}
	l.square /= float64(x.N)
	l.square /= float64(x.N)
}

// doubted returns ‖z_pr‖² of clause 18, up to which the vector may be the work of wrong labels
// alone: z_pr sums B[r][y]·x over region p, and B[r][y] is 1 or 0 on average over the noisy
// labels y of an example, as its true class is r or not, with a variance whose sum over the
// region is estimated by Σ_y N[p][y]·(B[r][y]²-B[r][y]).
func (l *learner) doubted(regions []int64, p, r int) float64 {
	if l.b2 == nil {
		return 0
	}
	sum := 0.0
	for k, b2 := range l.b2[r*l.q : (r+1)*l.q] {
		sum += float64(float64(regions[p*l.q+k])*b2) / float64(l.n)
	}
	return float64(l.Doubt*l.Doubt) * sum * l.square
}
