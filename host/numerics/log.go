package numerics

import "math"

// Log returns the natural logarithm of a normal positive x by clause 15, at most 1 ulp from
// the true value. Of any other x it returns a number without meaning, the same everywhere.
//
// x = 2^k·(1 + f) with 1 + f between √½ and √2, found in integers. ln(1 + f) is
// f - f²/2 + f³·P(f), P a polynomial of degree 7 fitted to the least relative error.
func Log(x float32) float32 {
	const (
		root  = 0x3f3504f3 // the bits of √½
		upper = 0x1.62e4p-1
		lower = 0x1.7f7d1cp-20
	)
	u := math.Float32bits(x) - root
	k := float32(int32(u) >> 23)
	f := math.Float32frombits(u&(1<<23-1)+root) - 1
	p := float32(-0x1.38c08ep-4)
	p = FMA(p, f, 0x1.055ba6p-3)
	p = FMA(p, f, -0x1.0d8304p-3)
	p = FMA(p, f, 0x1.22d9e4p-3)
	p = FMA(p, f, -0x1.547282p-3)
	p = FMA(p, f, 0x1.99a00ep-3)
	p = FMA(p, f, -0x1.000226p-2)
	p = FMA(p, f, 0x1.555554p-2)
	p = FMA(p, f, -0.5)
	return FMA(k, upper, f+FMA(f*f, p, k*lower))
}

// Reciprocal returns 1/x by clause 15 for an x from 1 to 2^100, at most 1 ulp from the true
// value. Of any other x it returns a number without meaning, the same everywhere.
//
// Subtracting the bits from a constant negates the exponent; four steps of Newton's method do
// the rest: each doubles the right digits.
func Reciprocal(x float32) float32 {
	y := math.Float32frombits(0x7ef311c7 - math.Float32bits(x))
	for range 4 {
		y = FMA(y, FMA(-x, y, 1), y)
	}
	return y
}
