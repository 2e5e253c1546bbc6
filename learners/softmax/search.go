package softmax

import (
	"fmt"
	"math"
)

// heldOut is the number of folds, of which the first is held out in a search for λ.
const heldOut = 5

// The path of a search: from a λ that hardly matters to one under which classes barely differ,
// a factor of 10 at a time, and then a factor of √10 to either side of the best. It goes up:
// the loss is not convex if C is not the identity, a large penalty has a minimum in which some
// classes are merged, and a path that goes down stays in there.
const (
	leastLambda = 1e-7
	decades     = 7
	half        = 3.1622776601683795
)

// search is the search for a penalty. Along the path each fit goes on from the weights of the
// one before it, then each from the best.
type search struct {
	Lambda float64   // of the fit under way
	Tried  int       // fits judged
	Middle float64   // the best of the path, between whose neighbours the search goes on
	Best   float64   // the λ of the least loss so far
	Least  float64   // that loss
	BestW  []float32 // and its weights
}

func newSearch() search { return search{Lambda: leastLambda, Least: math.MaxFloat64} }

// judge takes the loss of the examples held out, and the weights, and goes on to the next λ,
// or returns false and goes back to the best one. from is where the next fit begins.
func (s *search) judge(loss float64, w []float32) (from []float32, more bool) {
	s.Tried++
	if loss < s.Least || s.BestW == nil {
		s.Best, s.Least, s.BestW = s.Lambda, loss, w
	}
	switch {
	case s.Tried < decades:
		s.Lambda *= 10
		return w, true
	case s.Tried == decades:
		s.Middle = s.Best
		s.Lambda = s.Middle * half
		return s.BestW, true
	case s.Tried == decades+1:
		s.Lambda = s.Middle / half
		return s.BestW, true
	}
	s.Lambda = s.Best
	return s.BestW, false
}

// check says what no run would have saved; size is the number of weights.
func (s *search) check(size int) error {
	if s.Tried < 0 || s.Tried > decades+2 || !(s.Best >= 0) || !(s.Middle >= 0) || math.IsNaN(s.Least) ||
		math.IsInf(s.Best+s.Middle, 0) {
		return fmt.Errorf("a search of %d penalties, the best %v", s.Tried, s.Best)
	}
	if s.BestW != nil && len(s.BestW) != size {
		return fmt.Errorf("found %d best weights, wanted %d", len(s.BestW), size)
	}
	return nil
}
