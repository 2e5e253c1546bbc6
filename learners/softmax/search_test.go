package softmax

import (
	"slices"
	"testing"
)

// judged returns what a fit of 1000 examples held out becomes whose losses are all about loss.
func judged(loss float64) trial {
	t := trial{Weight: 1000}
	for e := range temperatures {
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
			s := newSearch(1, 0, c.doubt)
			s.Flat = c.flat
			var got []int
			w := make([]float32, 1) // which a fit makes 1
			for more := true; more; {
				if w[0] == 0 {
					got = append(got, -1)
				}
				got = append(got, s.At)
				if s.Lambda != s.lambda(s.At) {
					t.Fatalf("λ: got %v, want that of place %d", s.Lambda, s.At)
				}
				loss := better(s.At)
				if c.flat {
					loss = better(min(s.At, 3))
				}
				if s.Again {
					loss = c.fromZ
				}
				w, more = s.judge(judged(loss), []float32{1}, c.folds)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("places: got %v, want %v", got, c.want)
			}
			if s.Lambda != s.lambda(c.best) {
				t.Errorf("λ: got %v, want %v", s.Lambda, s.lambda(c.best))
			}
		})
	}
}
