package enginetest

import (
	"math"
	"math/bits"
)

// softFMA is a·b + c rounded once to float32, done in integers: a second way to
// the same bits, so that the suite does not trust the arithmetic it judges.
func softFMA(a, b, c float32) float32 {
	finite := func(v float32) bool { return math.Float32bits(v)>>23&0xff != 0xff }
	if a == 0 || b == 0 || !finite(a) || !finite(b) || !finite(c) {
		return float32(float64(a)*float64(b) + float64(c)) // exact, or no number at all
	}
	sa, ma, ea := split(a)
	sb, mb, eb := split(b)
	x := term{sa != sb, ma * mb, ea + eb}
	sc, mc, ec := split(c)
	y := term{sc, mc, ec}
	x.normalise()
	y.normalise()
	if y.m == 0 {
		return pack(x.neg, x.m, 0, x.e-64)
	}
	if y.e > x.e || (y.e == x.e && y.m > x.m) {
		x, y = y, x // |x| ≥ |y|
	}
	// x = hi:0 and y = yhi:ylo as 128-bit integers times 2^(x.e-64), each moved
	// down one bit to leave room for a carry; sticky stands for what fell off y.
	hi, lo := x.m>>1, x.m<<63
	yhi, ylo, sticky := shiftRight(y.m, uint(x.e-y.e)+1)
	if x.neg == y.neg {
		var carry uint64
		lo, carry = bits.Add64(lo, ylo, 0)
		hi, _ = bits.Add64(hi, yhi, carry)
	} else {
		// Something below the last bit is taken away as well: borrow one, and
		// what is left of it stays as sticky.
		lost := uint64(0)
		if sticky {
			lost = 1
		}
		var borrow uint64
		lo, borrow = bits.Sub64(lo, ylo, lost)
		hi, _ = bits.Sub64(hi, yhi, borrow)
	}
	if hi == 0 && lo == 0 && !sticky {
		return 0 // exact cancellation gives +0
	}
	if sticky {
		lo |= 1
	}
	return pack(x.neg, hi, lo, x.e-63)
}

// term is ±m·2^e.
type term struct {
	neg bool
	m   uint64
	e   int
}

func split(v float32) (neg bool, m uint64, e int) {
	u := math.Float32bits(v)
	m, e = uint64(u&(1<<23-1)), int(u>>23&0xff)
	if e == 0 {
		return u>>31 == 1, m, -149
	}
	return u>>31 == 1, m | 1<<23, e - 150
}

// normalise moves the leading one of m to bit 63.
func (t *term) normalise() {
	if t.m != 0 {
		z := bits.LeadingZeros64(t.m)
		t.m <<= z
		t.e -= z
	}
}

// shiftRight returns m:0 shifted right by n as 128 bits, and whether a one was lost.
func shiftRight(m uint64, n uint) (hi, lo uint64, lost bool) {
	switch {
	case n < 64:
		return m >> n, m << (64 - n), false
	case n == 64:
		return 0, m, false
	case n < 128:
		return 0, m >> (n - 64), m<<(128-n) != 0
	}
	return 0, 0, m != 0
}

// pack rounds ±(hi:lo)·2^e, which is not 0, to the nearest float32, ties to even.
func pack(neg bool, hi, lo uint64, e int) float32 {
	z := bits.LeadingZeros64(hi)
	if hi == 0 {
		z = 64 + bits.LeadingZeros64(lo)
		hi, lo = lo, 0
	}
	// The leading one moves to bit 63 of hi. In Go a shift by 64 or more gives 0.
	hi, lo = hi<<(z%64)|lo>>(64-z%64), lo<<(z%64)
	e -= z
	last := max(e+127-23, -149) // exponent of the last bit that float32 keeps
	drop := uint(last - e - 64) // bits of hi to round away, 40 or more
	kept := hi >> drop
	rest := hi << (64 - drop) // what hi loses, from bit 63 on; 0 if it is far below the last bit
	half, below := rest>>63 == 1, rest<<1|lo != 0
	if half && (below || kept&1 == 1) {
		kept++
	}
	v := math.Ldexp(float64(kept), last) // exact in float64
	if neg {
		v = -v
	}
	return float32(v) // exact, or overflows to infinity
}
