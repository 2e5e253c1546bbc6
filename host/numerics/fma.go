//go:build !arm64

package numerics

import "math"

// fused says that FMA is one instruction, inlined.
const fused = false

// FMA returns a·b + c rounded once to float32 (ties to even), as the fma
// function of OpenCL does, subnormal results included.
//
// The product of two float32 is exact in float64. Adding c rounds a first time
// and the conversion to float32 a second time; the two together are wrong only
// if the first rounding lands on a point half way between two neighbouring
// float32 while the exact sum lies beside it. Those results, and subnormal
// ones, whose half-way points lie elsewhere, take the slow path.
func FMA(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	if plain(s) {
		return float32(s)
	}
	return roundToOdd(p, float64(c), s)
}

// roundToOdd returns the float32 nearest to the exact p+c, where s is p+c
// rounded to float64. An inexact s whose last bit is even is moved one unit
// towards the exact sum; an odd last bit marks "not exactly here", which a
// second rounding to at most 24 bits cannot mistake for a midpoint (Boldo &
// Melquiond, Emulation of FMA and correctly rounded sums, 2008).
func roundToOdd(p, c, s float64) float32 {
	// Knuth's TwoSum: e is exactly (p + c) - s.
	t := s - p
	e := (p - (s - t)) + (c - t)
	u := math.Float64bits(s)
	if e != 0 && u&1 == 0 && !math.IsNaN(e) {
		if (e > 0) == (s > 0) {
			u++ // away from zero
		} else {
			u-- // towards zero
		}
	}
	return float32(math.Float64frombits(u))
}
