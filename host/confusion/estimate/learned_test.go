package estimate_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
)

func learned(p ...float64) *confusion.Learned {
	return &confusion.Learned{P: p, Error: slices.Repeat([]float64{0.01}, len(p))}
}

// An estimate doubts itself: where its own assumption does not hold.
func TestUnidentified(t *testing.T) {
	classes := []string{"a", "b", "c"}
	sure := learned(0.9, 0, 0, 0.1, 0.8, 0.3, 0, 0.2, 0.7)
	e, err := estimate.FromLearned(classes, sure)
	if err != nil || len(e.Unidentified) != 0 || e.Broken || len(e.Notes) != 0 {
		t.Errorf("%v, %+v", err, e)
	}
	// b is labelled c: that breaks the assumption.
	broken := learned(0.9, 0, 0, 0.1, 0.001, 0.3, 0, 0.999, 0.7)
	e, err = estimate.FromLearned(classes, broken)
	if err != nil || !slices.Equal(e.Unidentified, []int{1, 2}) || !e.Broken || e.Identified(1) {
		t.Errorf("%v, %+v", err, e)
	}
	if _, err := estimate.FromLearned(classes, nil); err == nil {
		t.Error("nothing learned was accepted")
	}
}
