package numerics_test

import (
	"flag"
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// The arguments of the least and of the largest normal exponential.
const expLeast, expMost = -0x1.5d589ep6, 0x1.62e42ep6

var long = flag.Bool("long", false, "judge Exp for every float32 of its range")

// ulps returns the distance of got from the true value, in units of the last place
// of a float32 near it.
func ulps(got float32, want float64) float64 {
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, e-24)
}

// Clause 11 over the whole range: all numbers with -long, else every 61st.
func TestExpIsAccurate(t *testing.T) {
	stride := uint32(61)
	if *long {
		stride = 1
	}
	for _, half := range []struct {
		sign uint32
		last float32
	}{{1 << 31, expLeast}, {0, expMost}} {
		// from 2^-27, below which e^x is 1
		first, last := uint32(0x32000000), math.Float32bits(half.last)&^(1<<31)
		count := int((last-first)/stride) + 1
		parts := parallel.Workers(count, 1)
		worst, at := make([]float64, parts), make([]float32, parts)
		parallel.Cut(count, parts, func(w, from, to int) {
			for k := from; k < to; k++ {
				x := math.Float32frombits(first + uint32(k)*stride | half.sign)
				got := numerics.Exp(x)
				if e := ulps(got, math.Exp(float64(x))); !(e <= worst[w]) || !(got >= 0x1p-126) ||
					got > math.MaxFloat32 {
					worst[w], at[w] = e, x
				}
			}
		})
		for w, e := range worst {
			t.Logf("%v ulp at %v", e, at[w])
			if !(e <= 1) {
				t.Errorf("exp(%v) = %v is %v ulp from the true value, want at most 1", at[w],
					numerics.Exp(at[w]), e)
			}
		}
	}
}

func TestExpAtItsEnds(t *testing.T) {
	inf, least, most := float32(math.Inf(1)), float32(expLeast), float32(expMost)
	for _, c := range []struct{ x, want float32 }{
		{0, 1}, {float32(math.Copysign(0, -1)), 1}, {0x1p-149, 1}, {-0x1p-149, 1}, {-0x1p-26, 1},
		{math.Nextafter32(least, -inf), 0}, {-1000, 0}, {-math.MaxFloat32, 0}, {-inf, 0},
		{math.Nextafter32(most, inf), inf}, {1000, inf}, {inf, inf},
	} {
		if got := numerics.Exp(c.x); got != c.want {
			t.Errorf("exp(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	if got := numerics.Exp(float32(math.NaN())); got == got {
		t.Errorf("exp(NaN) = %v", got)
	}
	if got := numerics.Exp(least); got < 0x1p-126 || math.Exp(float64(math.Nextafter32(least,
		-inf))) >= 0x1p-126 {
		t.Errorf("exp(%v) = %v: not the least normal result", least, got)
	}
	if got := numerics.Exp(most); got > math.MaxFloat32 ||
		math.Exp(float64(math.Nextafter32(most, inf))) <= math.MaxFloat32 {
		t.Errorf("exp(%v) = %v: not the largest finite result", most, got)
	}
	// never falls by more than its error
	for x, before := float32(-87), float32(0); x <= 0; x += 0x1p-9 {
		if y := numerics.Exp(x); y < before {
			t.Errorf("exp(%v) = %v is less than %v before it", x, y, before)
		} else {
			before = y
		}
	}
}
