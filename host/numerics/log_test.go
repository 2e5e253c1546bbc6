package numerics_test

import (
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Clause 15's functions over all that a sum of exponentials can be, and beyond: all float32
// from 1 to 2^16 with -long, else every 61st; for Log also below 1, to the least normal one.
func TestLogAndReciprocalAreAccurate(t *testing.T) {
	stride := uint32(61)
	if *long {
		stride = 1
	}
	for _, c := range []struct {
		name       string
		got        func(float32) float32
		want       func(float64) float64
		first, end float32
	}{
		{"log", numerics.Log, math.Log, 0x1p-126, 1},
		{"log", numerics.Log, math.Log, 1, 0x1p16},
		{"log", numerics.Log, math.Log, 0x1p100, math.MaxFloat32},
		{"reciprocal", numerics.Reciprocal, func(x float64) float64 { return 1 / x }, 1, 0x1p16},
		{"reciprocal", numerics.Reciprocal, func(x float64) float64 { return 1 / x }, 0x1p90, 0x1p100},
	} {
		step := stride
		if c.first < 1 && !*long {
			step *= 31
		}
		worst, at := 0.0, float32(0)
		for u := math.Float32bits(c.first); u <= math.Float32bits(c.end); u += step {
			x := math.Float32frombits(u)
			if e := ulps(c.got(x), c.want(float64(x))); !(e <= worst) {
				worst, at = e, x
			}
		}
		t.Logf("%s from %v: %v ulp at %v", c.name, c.first, worst, at)
		if !(worst <= 1) {
			t.Errorf("%s(%v) = %v is %v ulp from the true value, want at most 1", c.name, at, c.got(at),
				worst)
		}
	}
	if numerics.Log(1) != 0 || numerics.Reciprocal(1) != 1 || numerics.Reciprocal(4) != 0.25 {
		t.Errorf("log(1) = %v, 1/1 = %v, 1/4 = %v", numerics.Log(1), numerics.Reciprocal(1),
			numerics.Reciprocal(4))
	}
}
