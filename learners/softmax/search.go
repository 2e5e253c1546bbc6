package softmax

import "github.com/uma-gpu/uma-gpu/host/dataset"

// heldOut is the number of folds, the first of them held out in a search for λ.
const heldOut = 5

// The path of a search: penalties from leastLambda on, each pathFactor times the one before it,
// in units of the mean squared length of an example, so that the features' scale does not
// matter. It goes up, and not far: the loss is not convex if C is not the identity, a large
// penalty has its minimum where some classes have swallowed their neighbours, and a path that
// goes down stays there.
const (
	leastLambda = 3e-7
	pathFactor  = 3
	pathLength  = 9
)

// tolerated is by how many standard errors the loss of the chosen λ may be above the least: the
// least loss has too small a λ, since it is of probabilities and not of decisions.
const tolerated = 0.5

// search is the search for a penalty. Each fit goes on from the weights of the one before it.
type search struct {
	Lambda float64   // of the fit under way, or of all after the search
	Tried  []trial   // fits that were judged
	Least  int       // the one of the least loss
	BestW  []float32 // and its weights
}

// trial is what became of a penalty on the examples held out.
type trial struct {
	Lambda float64
	Loss   float64 // mean corrected loss
	Error  float64 // its standard error
}

// judge takes what became of the fit under way and its weights, and goes on to the next λ, or
// returns false and takes the best one. from is where the next fit begins.
func (s *search) judge(t trial, w []float32) (from []float32, more bool) {
	s.Tried = append(s.Tried, t)
	if s.BestW == nil || t.Loss < s.Tried[s.Least].Loss {
		s.Least, s.BestW = len(s.Tried)-1, w
	}
	if len(s.Tried) < pathLength {
		s.Lambda *= pathFactor
		return w, true
	}
	least := s.Tried[s.Least]
	for _, t := range s.Tried {
		if t.Loss <= least.Loss+float64(tolerated*least.Error) {
			s.Lambda = t.Lambda
		}
	}
	return s.BestW, false
}

// meanSquared returns the mean squared length of the examples without the bias column; 1 if
// they are all 0. The sums are in float64, each of rowsPerSum examples in order.
func meanSquared(x dataset.Stored, bias bool) float64 {
	const rowsPerSum = 1024
	sum := 0.0
	for _, part := range x.RowSums(rowsPerSum, func(from, to int) (part float64) {
		for i := from; i < to; i++ {
			columns, values := x.Entries(i)
			last := len(values) - 1
			if bias && last >= 0 && (columns == nil || int(columns[last]) == x.D-1) {
				values = values[:last]
			}
			for _, v := range values {
				part += float64(v) * float64(v) // exact, so that fused or not is the same
			}
		}
		return part
	}) {
		sum += part
	}
	if sum == 0 {
		return 1
	}
	return sum / float64(x.N)
}
