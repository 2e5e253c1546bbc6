package propagation

import (
	"math"
	"testing"
)

// Against package math, which the functions may not use: its last bits differ between machines.
func TestNormal(t *testing.T) {
	near := func(what string, z, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 2e-13*math.Abs(want)) {
			t.Errorf("%s(%g): found %.17g, wanted %.17g", what, z, got, want)
		}
	}
	for z := -37.0; z <= 37; z += 1.0 / 64 {
		near("exp", z, exp(-math.Abs(z)), math.Exp(-math.Abs(z)))
		near("density", z, density(z), math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
		near("share", z, share(z), math.Erfc(-z/math.Sqrt2)/2)
		if z >= 0 {
			near("mills", z, mills(z), math.Erfc(z/math.Sqrt2)/2*math.Sqrt(2*math.Pi)*math.Exp(z*z/2))
		}
	}
	for _, z := range []float64{1e3, 1e8} {
		near("mills", z, mills(z), (1-1/z/z+3/z/z/z/z)/z)
	}
}

// slope is the derivative, and so for both of the sides.
func TestSlope(t *testing.T) {
	for _, c := range [][2]float64{{1, 0}, {0, 1}, {0.9, 0.2}, {0.2, 0.9}, {0.5, 0.5}, {1e-9, 1}, {1,
		1e-9}, {0.3, 0}} {
		b, a := c[0], c[1]
		log := func(z float64) float64 {
			return math.Log(b*math.Erfc(-z/math.Sqrt2)/2 + a*math.Erfc(z/math.Sqrt2)/2)
		}
		for z := -8.0; z <= 8; z += 0.25 {
			const h = 1e-4
			want := (log(z+h) - log(z-h)) / (2 * h)
			if got := slope(z, b, a); !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("slope(%g, %g, %g): found %g, wanted %g", z, b, a, got, want)
			}
		}
	}
	if got := slope(-1e6, 1, 0); math.Abs(got-1e6) > 1 {
		t.Errorf("far on the wrong side of a hard wall: found %g, wanted 1e6", got)
	}
	if got := slope(-1e6, 1, 1e-3); got != 0 {
		t.Errorf("far on the wrong side of a wall that may be wrong: found %g, wanted 0", got)
	}
}
