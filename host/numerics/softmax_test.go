package numerics_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Beside the definition in float64, of the same differences from the largest score: an ulp each
// for exp, log and reciprocal, one more for the product, and a half for each addition.
func TestSoftmaxIsAccurate(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 1))
	for _, q := range []int{1, 2, 3, 10, 17, 200} {
		for _, scale := range []float64{0, 1e-4, 1, 30, 1e6} {
			for range 200 {
				s := make([]float32, q)
				for k := range s {
					s[k] = float32(scale * rng.NormFloat64())
				}
				if rng.IntN(3) == 0 && q > 1 {
					s[rng.IntN(q)] = float32(math.Inf(-1))
				}
				judgeSoftmax(t, s)
			}
		}
	}
}

// judgeSoftmax compares the softmax of scores, at least one of them finite, with the definition.
func judgeSoftmax(t *testing.T, s []float32) {
	t.Helper()
	p, before := make([]float32, len(s)), slices.Clone(s)
	m, l := numerics.Softmax(p, s)
	if !slices.Equal(s, before) {
		t.Fatalf("softmax changed the scores %v", before)
	}
	if m != slices.Max(s) {
		t.Fatalf("softmax of %v: m = %v", s, m)
	}
	sum := 0.0
	for _, v := range s {
		sum += math.Exp(float64(v - m))
	}
	wide := 4 + 0.5*float64(len(s))
	for k, v := range s {
		d := v - m
		switch want := math.Exp(float64(d)) / sum; {
		case d < expLeast:
			if p[k] != 0 {
				t.Fatalf("softmax of %v: p[%d] = %v, want 0", s, k, p[k])
			}
		case want > 0x1p-126 && !(ulps(p[k], want) <= wide):
			t.Fatalf("softmax of %v: p[%d] = %v is %v ulp from %v", s, k, p[k], ulps(p[k], want), want)
		}
	}
	// The error of S counts for L as it is, also where L is near 0.
	if e := math.Abs(float64(l) - math.Log(sum)); !(e <= wide*0x1p-23*max(1, math.Log(sum))) {
		t.Fatalf("softmax of %v: L = %v, want %v", s, l, math.Log(sum))
	}
	// In place, the same bits.
	if m2, l2 := numerics.Softmax(before, before); m2 != m || l2 != l || !slices.Equal(before, p) {
		t.Fatalf("softmax of %v in place: %v, %v, %v, elsewhere %v, %v, %v", s, m2, l2, before, m, l, p)
	}
}

func TestSoftmaxAtItsEnds(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		s, p []float32 // p is nil if it has no meaning
		m, l float32
	}{
		{[]float32{7}, []float32{1}, 7, 0},
		{[]float32{-math.MaxFloat32}, []float32{1}, -math.MaxFloat32, 0},
		{[]float32{3, 3, 3, 3}, []float32{0.25, 0.25, 0.25, 0.25}, 3, numerics.Log(4)},
		{[]float32{-inf, 5, -inf}, []float32{0, 1, 0}, 5, 0},
		{[]float32{0, -100}, []float32{1, 0}, 0, 0},
		{[]float32{math.MaxFloat32, -math.MaxFloat32}, []float32{1, 0}, math.MaxFloat32, 0}, // d = -Inf
		{[]float32{math.MaxFloat32, math.MaxFloat32}, []float32{0.5, 0.5}, math.MaxFloat32,
			numerics.Log(2)},
		{[]float32{0, expLeast}, []float32{1, numerics.Exp(expLeast)}, 0, 0},
		{[]float32{0, math.Nextafter32(expLeast, -100)}, []float32{1, 0}, 0, 0},
		{[]float32{-inf, -inf}, nil, -inf, -inf},
		{[]float32{0, inf, 1}, nil, inf, inf},
		{[]float32{-inf, inf}, nil, inf, inf},
		{[]float32{0, nan, 1}, nil, nan, nan},
		{[]float32{inf, 1, nan}, nil, nan, nan},
	} {
		p := make([]float32, len(c.s))
		m, l := numerics.Softmax(p, c.s)
		same := func(a, b float32) bool { return a == b || a != a && b != b }
		if !same(m, c.m) || c.p != nil && (l != c.l || !slices.Equal(p, c.p)) {
			t.Errorf("softmax of %v: %v, m = %v, L = %v, want %v, %v, %v", c.s, p, m, l, c.p, c.m, c.l)
		}
	}
}

func TestLossFormat(t *testing.T) {
	most := float32(numerics.MostLoss)
	if math.Nextafter32(most, math.MaxFloat32) != 1<<15 {
		t.Errorf("the largest loss is %v, want the float32 before 2^15", most)
	}
	for _, n := range []int{1, 2, 3, 4, 60000, 1 << 31, numerics.MostExamples} {
		f := numerics.LossFormat(n)
		if want := 62 - bits.Len(uint(n)) - 15; f.S != want || f.N != n {
			t.Errorf("n = %d: %+v, want s = %d", n, f, want)
		}
		if each := numerics.Quantize(most, f.Scale()); each > (1<<62)/int64(n) {
			t.Errorf("n = %d: the largest losses, %d each, are more than 2^62 together", n, each)
		}
	}
}
