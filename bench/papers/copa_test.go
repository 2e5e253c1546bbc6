package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
)

// The numbers are normal: their moments are, and how many lie below some limits.
func TestNormal(t *testing.T) {
	const n = 200000
	rng := rand.New(rand.NewPCG(1, 2))
	var moments [4]float64
	limits := []float64{-2.5, -1, -0.3, 0, 0.5, 1.2, 2}
	below := make([]float64, len(limits))
	for range n {
		v := normal(rng)
		for k, power := 0, v; k < len(moments); k, power = k+1, power*v {
			moments[k] += power / n
		}
		for k, limit := range limits {
			if v < limit {
				below[k] += 1.0 / n
			}
		}
	}
	for k, want := range []float64{0, 1, 0, 3} {
		if math.Abs(moments[k]-want) > 0.05 {
			t.Errorf("moment %d is %v, wanted %v", k+1, moments[k], want)
		}
	}
	for k, limit := range limits {
		want := (1 + math.Erf(limit/math.Sqrt2)) / 2
		if math.Abs(below[k]-want) > 4*math.Sqrt(want*(1-want)/n) {
			t.Errorf("a share of %v lies below %v, wanted %v", below[k], limit, want)
		}
	}
}

// COPA's confusion has at most half the norm of the perceptron's, at an accuracy near it.
func TestCopa(t *testing.T) {
	found, notes := map[string]Row{}, 0
	o := options{Engine: open(t, simd.New()), Runs: 10, Seed: 1, Note: func(string, ...any) {
		notes++
	}}
	err := perform(t.Context(), copa, o, func(row Row) error {
		found[row.Learner+" "+row.Measure] = row
		return nil
	})
	if err != nil || len(found) != 4 || notes != len(aggressivenesses)+2*o.Runs {
		t.Fatalf("found %d rows and %d notes, %v; wanted 4 and %d", len(found), notes, err,
			len(aggressivenesses)+2*o.Runs)
	}
	accuracy, norm := found["copa accuracy"], found["copa operator_norm"]
	rival := found["perceptron operator_norm"]
	t.Logf("%s: accuracy %.3f, norm %.3f; perceptron: accuracy %.3f, norm %.3f", norm.Note,
		accuracy.Mean, norm.Mean, found["perceptron accuracy"].Mean, rival.Mean)
	if accuracy.Mean < 0.84 || norm.Mean > 0.15 || norm.Mean > rival.Mean/2 {
		t.Errorf("accuracy %.3f, norm %.3f, the perceptron's %.3f; wanted 0.84 or more, 0.15 or less, "+
			"half or less", accuracy.Mean, norm.Mean, rival.Mean)
	}
	if *accuracy.Paper != 0.85 || *norm.Paper != 0.10 || *rival.Paper != 0.18 ||
		!strings.HasPrefix(norm.Note, "aggr") {
		t.Errorf("found %+v and %+v, wanted the paper's numbers, and the aggressiveness", accuracy, norm)
	}
}
