package numerics

import "math"

// The constants of Exp; kernels/kernelvalue.cl has the same.
const (
	expLeast = -0x1.5d589ep6 // the least argument whose exponential is a normal float32
	expMost  = 0x1.62e42ep6  // the largest whose exponential is finite
)

// Exp returns e^x by clause 11, at most 1 ulp from the true value: 0 below -87.34, where results
// would be subnormal, +Inf above 88.72, and NaN for NaN.
//
// x = k·ln 2 + r with k the integer nearest to x/ln 2, found by adding a number that leaves no
// room for a fraction; its last bits then are k in two's complement. The upper part of ln 2 has 15
// bits, so that its product with k is exact. e^r is a polynomial of degree 6, its coefficients
// fitted to the least relative error with the first two held at 1; k is added to its exponent.
func Exp(x float32) float32 {
	const (
		log2e = 0x1.715476p0
		round = 0x1.8p23
		upper = 0x1.62e4p-1
		lower = 0x1.7f7d1cp-20
	)
	switch {
	case x < expLeast:
		return 0
	case x > expMost:
		return float32(math.Inf(1))
	case x != x:
		return x
	}
	t := FMA(x, log2e, round)
	k := t - round
	r := FMA(-k, upper, x)
	r = FMA(-k, lower, r)
	p := float32(0x1.6a23dp-10)
	p = FMA(p, r, 0x1.123a2p-7)
	p = FMA(p, r, 0x1.5558f2p-5)
	p = FMA(p, r, 0x1.555492p-3)
	p = FMA(p, r, 0x1.fffffcp-2)
	p = FMA(p, r, 1)
	p = FMA(p, r, 1)
	return math.Float32frombits(math.Float32bits(p) + math.Float32bits(t)<<23)
}
