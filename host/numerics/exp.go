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
	r := FMA(-k, lower, FMA(-k, upper, x))
	p := FMA(0x1.6a23dp-10, r, 0x1.123a2p-7)
	p = FMA(p, r, 0x1.5558f2p-5)
	p = FMA(p, r, 0x1.555492p-3)
	p = FMA(p, r, 0x1.fffffcp-2)
	p = FMA(p, r, 1)
	p = FMA(p, r, 1)
	return math.Float32frombits(math.Float32bits(p) + math.Float32bits(t)<<23)
}

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

// Softmax writes the probabilities of the scores s to p, of the same length, at least 1, and
// returns the largest score m and L = log Σ e^(s_k - m), so that log p_k = s_k - m - L
// (clause 15). Scores of -Inf have probability 0; if all are, or one is +Inf or NaN, m is
// not finite and p has no meaning. p may be s.
func Softmax(p, s []float32) (m, l float32) {
	m = float32(math.Inf(-1))
	for _, v := range s {
		switch {
		case v != v:
			return v, v
		case v > m:
			m = v
		}
	}
	if math.IsInf(float64(m), 0) {
		return m, m
	}
	sum := float32(0)
	for k, v := range s {
		p[k] = Exp(v - m)
		sum += p[k]
	}
	r := Reciprocal(sum)
	for k := range p {
		p[k] = float32(p[k] * r) // rounded, whatever the caller adds to it
	}
	return m, Log(sum)
}

// LossFormat is the fixed-point format of the losses of n examples (clause 16): of numbers
// below 2^15 in size.
func LossFormat(n int) FixedPoint { return NewFixedPoint(MostLoss, n) }

// MostLoss is the largest loss of an example that counts; one of a larger loss is refused.
const MostLoss = 0x1.fffffep14

// Residuals writes the weighted residuals of one example to a, and returns its weighted loss, by
// clause 16; both are 0 and counts is false for one that is refused. A target is logarithms, or
// given. t is scratch; all slices are as long as the scores, and t may be the target.
func Residuals(a, t, scores, target []float32, weight float32, given bool,
) (loss float32, counts bool) {
	m, loss := Softmax(a, scores)
	odd := float32(0) // NaN if a score or m2 is not finite
	for _, s := range scores {
		odd += s - s
	}
	if given {
		for k, v := range target {
			loss = FMA(-v, scores[k]-m, loss)
			a[k] = (a[k] - v) * weight
		}
	} else {
		for k, v := range target {
			t[k] = scores[k] + v
		}
		m2, l2 := Softmax(t, t)
		odd += m2 - m2
		loss = (m - m2) + (loss - l2)
		for k, v := range t {
			a[k] = (a[k] - v) * weight
		}
	}
	if loss *= weight; odd != 0 || !(math.Abs(float64(loss)) <= MostLoss) {
		clear(a)
		return 0, false
	}
	return loss, true
}
