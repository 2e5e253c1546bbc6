package uma

import (
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// spread holds what it takes to say how long wrong labels alone make update vectors.
type spread struct {
	b2     []float64 // B²-B in float64, Q×Q; nil if nothing is doubted
	square float64   // mean of ‖x‖² over the examples, divided by n
}

// newSpread returns the spread of a problem whose inverse is v, none if nothing is doubted or
// labels are right.
func newSpread(v *confusion.Inverse, x dataset.Stored, doubt float64) (s spread) {
	if doubt == 0 {
		return s
	}
	noisy := false
	s.b2 = make([]float64, len(v.V))
	for i, b := range v.V {
		s.b2[i] = float64(b*b) - b
		noisy = noisy || s.b2[i] != 0
	}
	if !noisy {
		return spread{}
	}
	for _, square := range x.RowSums(1, func(i, _ int) (square float64) {
		var values []float32
		if x.Sparse() {
			_, values = x.SparseRow(i)
		} else {
			values = x.Row(i)
		}
		for _, v := range values {
			square += float64(v) * float64(v)
		}
		return square
	}) {
		s.square += square
	}
	s.square /= float64(x.N)
	s.square /= float64(x.N)
	return s
}

// doubted returns ‖z_pr‖² of clause 18, up to which the vector may be the work of wrong labels
// alone: z_pr sums B[r][y]·x over region p, and B[r][y] is 1 or 0 on average over the noisy
// labels y of an example, as its true class is r or not, with a variance whose sum over the
// region is estimated by Σ_y N[p][y]·(B[r][y]²-B[r][y]).
func (l *run) doubted(regions []int64, p, r int) float64 {
	if l.spread.b2 == nil {
		return 0
	}
	sum := 0.0
	for k, b2 := range l.spread.b2[r*l.q : (r+1)*l.q] {
		sum += float64(float64(regions[p*l.q+k])*b2) / float64(l.n)
	}
	return float64(l.Doubt*l.Doubt) * sum * l.spread.square
}
