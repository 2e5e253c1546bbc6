package numerics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// FMA is judged in host/engine/enginetest, beside a second implementation.

// The chunk rule of clause 1, by a case in which it shows: 2^24 swallows ones
// that are added to it one by one, but not a chunk of 256 of them.
func TestDotChunks(t *testing.T) {
	for _, c := range []struct {
		d    int
		want float32
	}{{1, 1 << 24}, {256, 1 << 24}, {257, 1 << 24}, {258, 1<<24 + 2}, {512, 1<<24 + 256}, {513, 1<<24 +
		256}, {768, 1<<24 + 512}} {
		x, w := make([]float32, c.d), make([]float32, c.d)
		for j := range x {
			x[j], w[j] = 1, 1
		}
		x[0] = 1 << 24
		if got := numerics.Dot(x, w); got != c.want {
			t.Errorf("d = %d: %v, want %v", c.d, got, c.want)
		}
	}
	negative := []float32{float32(math.Copysign(0, -1))}
	if got := numerics.Dot(negative, []float32{1}); math.Signbit(float64(got)) {
		t.Error("a dot product starts from +0, so it is never -0")
	}
	if got := numerics.Dot(nil, nil); got != 0 {
		t.Errorf("empty: %v", got)
	}
}

// TestDotTogether: chunks whose sums are under way together have the bits of chunks one by one, of
// lengths around every multiple of a chunk, with halves between two float32 and subnormal sums.
func TestDotTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{1, 255, 256, 257, 512, 767, 768, 769, 784, 1023, 1537, 2304, 2305} {
		for _, scale := range []float32{1, 0x1p-63, 0x1p-74, 0x1p60} {
			x, w := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i], w[i] = scale*float32(random.IntN(1<<13)-1<<12), scale*float32(random.IntN(1<<12))
			}
			var want float32
			for from := 0; from < n; from += numerics.Chunk {
				var sum float32
				for i := from; i < min(from+numerics.Chunk, n); i++ {
					sum = numerics.FMA(x[i], w[i], sum)
				}
				want += sum
			}
			if got := numerics.Dot(x, w); math.Float32bits(got) != math.Float32bits(want) {
				t.Errorf("%d values of %g: %v, wanted %v", n, scale, got, want)
			}
		}
	}
}

func TestFixedPoint(t *testing.T) {
	for _, c := range []struct {
		maxAbs float32
		n, s   int
	}{
		{1, 1, 60}, // 1 = 0.5·2^1, B = 1
		{0.999, 1, 61},
		{0.5, 1, 61},
		{2, 1, 59},
		{1, 2, 59}, {1, 3, 59}, {1, 4, 58},
		{16, 3823, 62 - 12 - 5},
		{0, 7, 59}, // no value but 0: E = 0
		{math.MaxFloat32, 1000, 62 - 10 - 128},
		{0x1p-149, 1, 126}, // 209 without the clamp
		{0x1p-70, 1, 126},
		{math.MaxFloat32, numerics.MostExamples, 62 - 54 - 128},
	} {
		f := numerics.NewFixedPoint(c.maxAbs, c.n)
		if f.S != c.s || f.N != c.n {
			t.Errorf("max %v, n %d: %+v, want s = %d", c.maxAbs, c.n, f, c.s)
		}
		if want := math.Ldexp(1, f.S); float64(f.Scale()) != want {
			t.Errorf("scale %v, want %v", f.Scale(), want)
		}
		if want := float32(1 / math.Ldexp(float64(c.n), f.S)); f.Unit() != want {
			t.Errorf("unit %v, want %v", f.Unit(), want)
		}
		// What clause 3 promises: n times the largest value is below 2^62.
		if sum := float64(numerics.Quantize(c.maxAbs, f.Scale())) * float64(c.n); sum >= 1<<62 {
			t.Errorf("max %v, n %d: a sum can reach %v", c.maxAbs, c.n, sum)
		}
	}
}

func TestQuantize(t *testing.T) {
	for _, c := range []struct {
		x    float32
		s    int
		want int64
	}{
		{0.5, 0, 0}, {1.5, 0, 2}, {2.5, 0, 2}, {-0.5, 0, 0}, {-1.5, 0, -2}, {-2.5, 0, -2},
		{0.75, 0, 1}, {-0.75, 0, -1}, {1, 60, 1 << 60}, {-1, 60, -(1 << 60)},
		{0x1p-149, 126, 0}, {0x1.8p-126, 126, 2}, {math.MaxFloat32, -66, 1<<62 - 1<<38},
	} {
		scale := numerics.FixedPoint{S: c.s}.Scale()
		if got := numerics.Quantize(c.x, scale); got != c.want {
			t.Errorf("%v·2^%d: %d, want %d", c.x, c.s, got, c.want)
		}
	}
}

func TestInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, q := range []int{1, 2, 3, 10, 26, 52} {
		a := make([]float64, q*q)
		for i := range a {
			a[i] = rng.Float64()
			if i%(q+1) == 0 {
				a[i] += float64(q) / 2
			}
		}
		before := append([]float64(nil), a...)
		inv, ok := numerics.Inverse(a, q)
		if !ok {
			t.Fatalf("q = %d: found singular", q)
		}
		for i := range a {
			if a[i] != before[i] {
				t.Fatalf("q = %d: the matrix was changed", q)
			}
			product := 0.0
			for k := range q {
				product += a[i/q*q+k] * inv[k*q+i%q]
			}
			want := 0.0
			if i%(q+1) == 0 {
				want = 1
			}
			if math.Abs(product-want) > 1e-13*float64(q) {
				t.Errorf("q = %d: (A·A⁻¹)[%d][%d] = %v", q, i/q, i%q, product)
			}
		}
	}
}

func TestInverseExact(t *testing.T) {
	for _, c := range []struct {
		name   string
		a, inv []float64
		q      int
	}{
		{"identity", []float64{1, 0, 0, 1}, []float64{1, 0, 0, 1}, 2},
		{"rows to swap", []float64{0, 2, 4, 0}, []float64{0, 0.25, 0.5, 0}, 2},
		{"cycle", []float64{0, 0, 1, 1, 0, 0, 0, 1, 0}, []float64{0, 1, 0, 0, 0, 1, 1, 0, 0}, 3},
		{"pivot by magnitude", []float64{1, 0, -4, 2}, []float64{1, 0, 2, 0.5}, 2},
		{"singular", []float64{1, 2, 2, 4}, nil, 2},
		{"zero", []float64{0}, nil, 1},
	} {
		inv, ok := numerics.Inverse(c.a, c.q)
		if ok != (c.inv != nil) {
			t.Errorf("%s: invertible %v", c.name, ok)
		}
		for i := range c.inv {
			if inv[i] != c.inv[i] {
				t.Errorf("%s: %v, want %v", c.name, inv, c.inv)
				break
			}
		}
	}
}
