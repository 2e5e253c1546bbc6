package fitting_test

import (
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Landmarks are nearer to the boundaries of the rings than examples are, although labels are wrong,
// and the same on every engine and from the sparse form.
func TestBoundaryLandmarks(t *testing.T) {
	x, y, noise := noisyRings(t, confusion.Pairwise)
	distance := func(i int) float64 { // from the circles of radius 2 and 4, at most 1
		r := math.Hypot(float64(x.X[2*i]), float64(x.X[2*i+1]))
		return min(math.Abs(r-2), math.Abs(r-4), 1)
	}
	all := 0.0
	for i := range x.N {
		all += distance(i) / float64(x.N)
	}
	o := ringOptions
	o.Components, o.Coordinates, o.Landmarks = 0, true, 60
	var first []int
	for _, e := range everyengine.Open(t) {
		p := &learners.Problem{X: x, Y: y, Q: 3, Noise: noise, Engine: e, Seed: 3}
		rows, err := fitting.Boundary(t.Context(), p, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = rows
		}
		p.X = x.Compressed()
		sparse, err := fitting.Boundary(t.Context(), p, o, nil)
		if err != nil || !slices.Equal(rows, first) || !slices.Equal(sparse, first) {
			t.Errorf("%s: other landmarks, %v", e.Device().ID, err)
		}
	}
	mean := 0.0
	for _, i := range first {
		mean += distance(i) / float64(len(first))
	}
	if len(first) != 60 || !slices.IsSorted(first) || mean > 0.97*all {
		t.Errorf("%d landmarks, %.3f from a boundary, examples %.3f", len(first), mean, all)
	}
}

// Each count of places is drawn, and heavy ones more often.
func TestSystematic(t *testing.T) {
	weights := slices.Repeat([]float64{1, 0.3, 0.3}, 20)
	heavy, light := 0, 0
	for count := range 61 {
		for _, u := range []float64{0, 0.3, 0.99} {
			got := fitting.Systematic(weights, count, u)
			if len(got) != count || !slices.IsSorted(got) || len(slices.Compact(got)) != count {
				t.Errorf("%d places from %v: got %v", count, u, got)
			}
			for _, i := range got {
				switch {
				case count > 20: // the heavy ones are all drawn soon
				case weights[i] == 1:
					heavy++
				default:
					light++
				}
			}
		}
	}
	if share := float64(heavy) / float64(heavy+light); share < 0.6 || share > 0.65 {
		t.Errorf("the third that has 0.625 of all weight is %.3f of what is drawn", share)
	}
}
