package estimate

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
)

// An estimate doubts itself: where its own assumption does not hold.
func TestUnidentified(t *testing.T) {
	of := func(p ...float64) *Estimate {
		e := &Estimate{Matrix: confusion.Matrix{Classes: []string{"a", "b", "c"}, P: p,
			Error: slices.Repeat([]float64{0.01}, len(p))}}
		e.identify()
		return e
	}
	sure := of(0.9, 0, 0, 0.1, 0.8, 0.3, 0, 0.2, 0.7)
	if len(sure.Unidentified) != 0 || sure.Broken || len(sure.Notes) != 0 {
		t.Errorf("%+v", sure)
	}
	// b is labelled c: that breaks the assumption.
	broken := of(0.9, 0, 0, 0.1, 0.001, 0.3, 0, 0.999, 0.7)
	if !slices.Equal(broken.Unidentified, []int{1, 2}) || !broken.Broken || broken.Identified(1) {
		t.Errorf("%+v", broken)
	}
}
