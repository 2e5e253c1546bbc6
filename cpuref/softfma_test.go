package cpuref_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// bigFMA is the definition: exact in big.Float, then rounded once.
func bigFMA(a, b, c float32) float32 {
	x := new(big.Float).SetPrec(1000).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
	x.SetPrec(1000)
	x.Add(x, big.NewFloat(float64(c)))
	v, _ := x.Float32()
	return v
}

// floats draws values that make fused multiplication hard: few mantissa bits,
// neighbouring exponents, midpoints, subnormals, extremes.
func floats(r *rand.Rand) (a, b, c float32) {
	draw := func(spread int) float32 {
		m := uint32(r.Uint64()) & (1<<23 - 1)
		switch r.IntN(4) {
		case 0:
			m &= ^uint32(0) << r.IntN(23)
		case 1:
			m |= 1<<r.IntN(23) - 1
		}
		e := uint32(127 + r.IntN(2*spread+1) - spread)
		return math.Float32frombits(uint32(r.IntN(2))<<31 | e<<23 | m)
	}
	switch r.IntN(4) {
	case 0:
		return draw(3), draw(3), draw(30)
	case 1: // subnormal results
		a, b = draw(3)*0x1p-70, draw(3)*0x1p-70
		return a, b, math.Float32frombits(uint32(r.Uint64()) & 0x81ffffff)
	case 2:
		return draw(126), draw(126), draw(126)
	}
	// A product of 24 by 2 bits often ends half way between two float32; a c
	// far below decides, and a first rounding to float64 forgets it.
	a, b = draw(2), float32(1+2*r.IntN(2))*0.5
	return a, b, draw(2) * float32(math.Ldexp(1, -40-r.IntN(60)))
}

func TestFMAThreeWays(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	slow := 0
	for i := range 2_000_000 {
		a, b, c := floats(r)
		fast, soft := numerics.FMA(a, b, c), softFMA(a, b, c)
		if math.Float32bits(fast) != math.Float32bits(soft) {
			t.Fatalf("draw %d of seed %d: fma(%x, %x, %x): numerics %x, integers %x, big %x",
				i, seed, a, b, c, fast, soft, bigFMA(a, b, c))
		}
		if i%20 == 0 {
			if exact := bigFMA(a, b, c); exact != soft {
				t.Fatalf("draw %d of seed %d: fma(%x, %x, %x): integers %x, big %x", i, seed, a, b, c, soft,
					exact)
			}
		}
		if naive := float32(float64(a)*float64(b) + float64(c)); naive != fast {
			slow++
		}
	}
	if slow < 1000 {
		t.Errorf("only %d of the draws tell a fused from a twice rounded result: the draws are too easy",
			slow)
	}
}

func TestFMASpecial(t *testing.T) {
	inf, nan, zero := float32(math.Inf(1)), float32(math.NaN()), float32(0)
	neg := float32(math.Copysign(0, -1))
	for _, c := range []struct{ a, b, c, want float32 }{
		{neg, 1, zero, zero}, {neg, 1, neg, neg}, {1, 1, -1, zero},
		{inf, 1, 1, inf}, {inf, 0, 1, nan}, {inf, 1, -inf, nan},
		{math.MaxFloat32, 2, 0, inf}, {math.MaxFloat32, 2, -inf, -inf},
		{0x1p-149, 0x1p-149, neg, zero}, {-0x1p-149, 0x1p-149, zero, neg},
		{math.MaxFloat32, 1, 0x1p103, inf}, {math.MaxFloat32, 1, 0x1.fp102, math.MaxFloat32},
	} {
		for _, f := range []struct {
			name string
			fma  func(a, b, c float32) float32
		}{{"numerics", numerics.FMA}, {"integers", softFMA}} {
			got := f.fma(c.a, c.b, c.c)
			if got != c.want && !(got != got && c.want != c.want) ||
				math.Signbit(float64(got)) != math.Signbit(float64(c.want)) && got == got {
				t.Errorf("%s: fma(%v, %v, %v) = %v, want %v", f.name, c.a, c.b, c.c, got, c.want)
			}
		}
	}
}
