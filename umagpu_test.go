package umagpu_test

import (
	"errors"
	"slices"
	"testing"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// Rows and a flat slice, the orientations of the noise and the orders of its classes are the same
// training.
func TestFitSame(t *testing.T) {
	points, right := corners(300)
	noisy := mislabelled(right)
	fit := func(x umagpu.Examples, n *umagpu.Noise) *umagpu.Model {
		t.Helper()
		m, err := umagpu.Fit(t.Context(), x, noisy, umagpu.Options{Noise: n, MaxSteps: 20,
			Learner: uma.Defaults()})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	want := fit(umagpu.Rows(points), fortyPercent)
	flat := umagpu.Flat(slices.Concat(points...), 2)
	for name, n := range map[string]*umagpu.Noise{
		"true rows": {TrueRows: true, P: [][]float64{{0.6, 0.4, 0}, {0, 0.6, 0.4}, {0.4, 0, 0.6}}},
		"order": {Classes: []string{"2", "1", "0"}, P: [][]float64{{0.6, 0.4, 0}, {0, 0.6, 0.4},
			{0.4, 0, 0.6}}},
	} {
		if got := fit(flat, n); !slices.Equal(got.Host().W, want.Host().W) {
			t.Errorf("%s: other weights", name)
		}
	}
}

// What does not fit together is refused.
func TestFitRefuses(t *testing.T) {
	points, right := corners(30)
	x := umagpu.Rows(points)
	for name, o := range map[string]umagpu.Options{
		"rows of noise":      {Noise: &umagpu.Noise{P: [][]float64{{1}}}},
		"entries of noise":   {Noise: &umagpu.Noise{P: [][]float64{{1}, {1}, {1}}}},
		"classes of noise":   {Noise: &umagpu.Noise{P: fortyPercent.P, Classes: []string{"0", "1", "3"}}},
		"labels and votes":   {Votes: []umagpu.Vote{{Worker: "a", Label: "0"}}},
		"vote out of bounds": {Votes: []umagpu.Vote{{Example: 30, Worker: "a", Label: "0"}}},
	} {
		if _, err := umagpu.Fit(t.Context(), x, right, o); !errors.Is(err, umagpu.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, x := range map[string]umagpu.Examples{
		"ragged": umagpu.Rows([][]float32{{1, 2}, {3}}), "width": umagpu.Flat([]float64{1, 2, 3}, 2),
	} {
		if _, err := umagpu.Fit(t.Context(), x, []string{"a", "b"}, umagpu.Options{}); !errors.Is(err,
			umagpu.ErrExamples) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
