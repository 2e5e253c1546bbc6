package fit

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/learners"
)

// judged returns what a fit of 1000 examples held out becomes whose losses are all about loss.
func judged(loss float64) learners.Trial {
	t := learners.Trial{Weight: 1000}
	for e := range t.Losses {
		t.Losses[e] = 1000 * loss
		t.Squares[e] = 1000 * (loss*loss + 0.01)
	}
	return t
}

// A search goes down the path until the loss is clearly worse, tries the best λ from W = 0 if it
// doubts, and begins again in the middle, up and then down, if that is clearly better. The λ of the
// least loss is taken, and where two are as good the larger one.
func TestSearchPath(t *testing.T) {
	better := func(at int) float64 { return 0.5 + 0.1*float64(max(at-5, 5-at)) }
	for name, c := range map[string]struct {
		doubt bool
		flat  bool    // from place 3 on, and the search ends there
		fromZ float64 // the loss of the best λ from W = 0
		folds int
		want  []int // places in order, -1 for a beginning from 0
		best  int
	}{
		"convex":  {false, false, 0, 1, []int{-1, 0, 1, 2, 3, 4, 5, 6}, 5},
		"as good": {true, false, 0.5, 1, []int{-1, 0, 1, 2, 3, 4, 5, 6, -1, 5}, 5},
		"clearly less": {true, false, 0.4, 1, []int{-1,
			0, 1, 2, 3, 4, 5, 6, -1, 5, -1, 7, 6, 5, 4, 8}, 5},
		"flat":      {false, true, 0, 1, []int{-1, 0, 1, 2, 3, 4}, 3},
		"two folds": {false, false, 0, 2, []int{-1, 0, 1, 2, 3, 4, 5, 6, -1, 0, 1, 2, 3, 4, 5, 6}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			s, places := newSearch(1, 0), []int{}
			s.Doubt, s.Flat = c.doubt, c.flat
			for s.Fold < c.folds {
				doubted := s.Doubt
				again, err := s.fold([]float32{0}, func(at int, from []float32, before int) (tried, error) {
					if from[0] == 0 {
						places = append(places, -1)
					}
					if (before == none) != (from[0] == 0) && at != midPath+1 {
						t.Errorf("place %d from %v goes on from place %d", at, from, before)
					}
					places = append(places, at)
					loss := better(at)
					if c.flat {
						loss = better(min(at, 3))
					}
					if from[0] == 0 && doubted && len(places) > 2 {
						loss = c.fromZ
					}
					return tried{[]float32{1}, judged(loss)}, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if s.Fold++; again {
					s = newSearch(s.From, midPath)
				}
			}
			got := places
			if !slices.Equal(got, c.want) {
				t.Errorf("places: got %v, want %v", got, c.want)
			}
			if s.best() != s.lambda(c.best) {
				t.Errorf("λ: got %v, want %v", s.best(), s.lambda(c.best))
			}
		})
	}
}
