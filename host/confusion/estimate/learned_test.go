package estimate_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
)

func learned(loss float64, p ...float64) *confusion.Learned {
	return &confusion.Learned{P: p, Error: slices.Repeat([]float64{0.01}, len(p)), Loss: loss,
		LossError: 0.1}
}

// An estimate doubts itself: where its own assumption does not hold, where likely models differ.
func TestUnidentified(t *testing.T) {
	classes := []string{"a", "b", "c"}
	sure := learned(1, 0.9, 0, 0, 0.1, 0.8, 0.3, 0, 0.2, 0.7)
	e, err := estimate.FromLearned(classes, sure)
	if err != nil || len(e.Unidentified) != 0 || e.Broken || len(e.Notes) != 0 {
		t.Errorf("%v, %+v", err, e)
	}
	// b is labelled c: that breaks the assumption.
	broken := learned(1, 0.9, 0, 0, 0.1, 0.001, 0.3, 0, 0.999, 0.7)
	e, err = estimate.FromLearned(classes, broken)
	if err != nil || !slices.Equal(e.Unidentified, []int{1, 2}) || !e.Broken || e.Identified(1) {
		t.Errorf("%v, %+v", err, e)
	}
	// Another model, as likely, says otherwise of a.
	other := learned(1.01, 0.6, 0, 0, 0.4, 0.8, 0.3, 0, 0.2, 0.7)
	e, err = estimate.FromLearned(classes, sure, other)
	if err != nil || !slices.Equal(e.Unidentified, []int{0}) || e.P[0] != 0.9 {
		t.Errorf("%v, %+v", err, e)
	}
	if at := 2; e.P[at] != 0 || e.Error[at] != 0.01 {
		t.Errorf("P(0|2) %v with the error %v, want 0 with 0.01", e.P[at], e.Error[at])
	}
	// One that is much less likely hardly counts.
	other.Loss = 6
	e, err = estimate.FromLearned(classes, other, sure)
	if err != nil || len(e.Unidentified) != 0 || e.P[0] != 0.9 || !(e.Error[0] < 0.015) {
		t.Errorf("%v, %+v", err, e)
	}
	if _, err := estimate.FromLearned(classes); err == nil {
		t.Error("nothing learned was accepted")
	}
}
