package main

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
)

// TestActiveBench: the area is that of trapezia, the sets are as large and as mixed as said, and a
// curve has an accuracy after each question and rises.
func TestActiveBench(t *testing.T) {
	if got := areaUnder([]float64{0, 1, 0.5}); got != 0.625 {
		t.Errorf("found an area of %v, wanted (0.5 + 0.75) / 2", got)
	}
	for _, name := range activeBench.Sets[1:] {
		d, ones := drawBench(name, 400, 1), 0
		for _, y := range d.Y {
			ones += int(y)
		}
		if d.N != 400 || len(d.X) != 400*d.D || len(d.Y) != 400 || ones < 150 || ones > 250 {
			t.Errorf("%s: %d examples of %d features, %d numbers, %d of class 1", name, d.N, d.D, len(d.X),
				ones)
		}
	}
	r := &run{options: options{Engine: open(t, simd.New())}}
	curves, err := r.benchRun(t.Context(), drawBench("twonorm", 900, 1), 1, 12)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range benchCurves {
		c := curves[name]
		if len(c) != 13 || c[12] < 0.93 {
			t.Errorf("%s: found %v", name, c)
		}
	}
}
