package estimate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// cautious returns labels through C of n examples whose classes are known with certainty, and
// probabilities of these labels that are less sure than they could be.
func cautious(m *confusion.Matrix, n int, sharpness float64) (e estimate.Evidence, truth []int32) {
	q, rng := m.Q(), rand.New(rand.NewPCG(3, 4))
	e.Classes, truth = m.Classes, make([]int32, n)
	for i := range truth {
		truth[i] = int32(rng.IntN(q))
	}
	e.Y = must(m.Inject(truth, 5))
	for _, t := range truth {
		row, sum := make([]float64, q), 0.0
		for k := range row {
			row[k] = math.Pow(m.P[k*q+int(t)]+0.02, sharpness) * (1 + 0.2*rng.Float64())
			sum += row[k]
		}
		for _, v := range row {
			e.P = append(e.P, float32(v/sum))
		}
	}
	return e, truth
}

// FromEvidence finds C from probabilities that are too cautious, with intervals that hold it;
// labels that are right stay right, and what no label tells is not identified.
func TestFromEvidence(t *testing.T) {
	classes := []string{"a", "b", "c"}
	for _, c := range []struct {
		name  string
		noise *confusion.Matrix
	}{
		{"right", must(confusion.Symmetric(classes, 0))},
		{"symmetric", must(confusion.Symmetric(classes, 0.3))},
		{"pairwise", must(confusion.Pairwise(classes, 0.4))},
	} {
		e, _ := cautious(c.noise, 2000, 0.6)
		r := must(estimate.FromEvidence(t.Context(), e))
		found := r.Candidates[r.Chosen]
		if len(found.Unidentified) > 0 {
			t.Errorf("%s: not identified: %v", c.name, found.Unidentified)
		}
		for at, v := range found.P {
			if off := math.Abs(v - c.noise.P[at]); off > 0.05 || off > 4*found.Error[at]+1e-3 {
				t.Errorf("%s: entry %d is %.3f ± %.3f, want %.3f", c.name, at, v, found.Error[at],
					c.noise.P[at])
			}
		}
		if lead := r.Candidates[r.Right].Behind; (lead > 5) != (c.name != "right") {
			t.Errorf("%s: labels as they are are behind by %.1f", c.name, lead)
		}
		again := must(estimate.FromEvidence(t.Context(), e))
		if fmt.Sprint(again.Candidates[again.Chosen].P) !=
			fmt.Sprint(found.P) {
			t.Errorf("%s: a second call finds another matrix", c.name)
		}
	}
	noise := must(confusion.Symmetric(classes, 0.3))
	e, truth := cautious(noise, 2000, 0)
	r := must(estimate.FromEvidence(t.Context(), e))
	if found := r.Candidates[r.Chosen]; len(found.Unidentified) != 3 {
		t.Errorf("features that tell nothing: found %v ± %v", found.P, found.Error)
	}
	e.Known = slices.Concat(truth[:300], slices.Repeat([]int32{-1}, 1700))
	r = must(estimate.FromEvidence(t.Context(), e))
	found := r.Candidates[r.Chosen]
	for at, v := range found.P {
		if off := math.Abs(v - noise.P[at]); off > 3*found.Error[at] || found.Error[at] > 0.06 {
			t.Errorf("300 checked: entry %d is %.3f ± %.3f, want %.3f", at, v, found.Error[at],
				noise.P[at])
		}
	}
	if len(found.Unidentified) > 0 {
		t.Errorf("300 checked: not identified: %v", found.Unidentified)
	}
	e = estimate.Evidence{Classes: classes, Y: e.Y}
	if _, err := estimate.FromEvidence(t.Context(), e); err == nil {
		t.Error("without probabilities: found no error")
	}
}
