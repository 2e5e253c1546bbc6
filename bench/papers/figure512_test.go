package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
)

// TestConeCentroid: known cones, and the mean of random directions inside.
func TestConeCentroid(t *testing.T) {
	// the last touches nothing
	octant := coneCentroid([]vector{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, vector{1, 1, 1}.unit()})
	if octant.angle(vector{1, 1, 1}.unit()) > 1e-7 {
		t.Errorf("the centroid of an octant is %v", octant)
	}
	for seed := range uint64(5) {
		walls := newCone(seed)[:6] // of more, few directions are inside
		rng := rand.New(rand.NewPCG(seed, 1))
		var sum vector
		near := 0
		for near < 20000 {
			v := vector{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}.unit()
			if holds(walls, v, -1, -1) {
				sum = sum.plus(1, v)
				near++
			}
		}
		if off := coneCentroid(walls).angle(sum.unit()) * 180 / math.Pi; off > 0.2 {
			t.Errorf("seed %d: the centroid is %v degrees from the mean of random directions", seed, off)
		}
	}
}

// TestFigure512: chains come as near as they have steps for, and the centre of the largest ball is
// far off.
func TestFigure512(t *testing.T) {
	found := map[string]map[int]float64{}
	err := perform(t.Context(), figure512, options{Engine: open(t, simd.New()), Runs: 10, Seed: 1},
		func(row Row) error {
			if found[row.Learner] == nil {
				found[row.Learner] = map[int]float64{}
			}
			found[row.Learner][row.Level] = row.Mean
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	last := len(coneSteps) - 1
	if f := found["billiard"]; !(f[last] < 0.5 && f[0] > 2*f[last]) {
		t.Errorf("the billiard is %v degrees off", f)
	}
	if found["largest ball"][0] < 2*found["billiard"][last] ||
		found["expectation propagation"][0] > found["largest ball"][0] {
		t.Errorf("found %v", found)
	}
}
