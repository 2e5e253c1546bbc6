package versionspace

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// rejected returns the centroid of s by throwing n points into the ball and keeping those in s,
// and those.
func rejected(s *Space, n int, seed uint64) (centre []float64, in [][]float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	centre = make([]float64, s.d)
	w := make([]float64, s.d)
	for range n {
		for j := range w {
			w[j] = random.NormFloat64()
		}
		scale(w, math.Pow(random.Float64(), 1/float64(s.d))/math.Sqrt(numerics.Dot64(w, w)))
		if s.contains(w, 0) {
			in = append(in, slices.Clone(w))
			numerics.AddScaled64(centre, 1, w)
		}
	}
	scale(centre, 1/float64(len(in)))
	return centre, in
}

// The centres of random polytopes are within a degree of the centres found by rejection sampling.
// Sampling itself is off by half a degree: 300,000 points in the ball, at least 15,000 of them in
// the space.
func TestCentroidsOfRandomPolytopes(t *testing.T) {
	for d := 2; d <= 5; d++ {
		for _, m := range []int{2, d + 1} {
			s := polytope(t, m, d, uint64(10*d+m))
			want, in := rejected(s, 300000, uint64(d))
			if len(in) < 15000 {
				t.Fatalf("%d constraints in %d dimensions: only %d points are in", m, d, len(in))
			}
			got, err := s.Centroid(t.Context(), uint64(m), 12000)
			if err != nil {
				t.Fatal(err)
			}
			if far := apart(got.Centre, want); far > math.Pi/180 {
				t.Errorf("%d constraints in %d dimensions: %.2f degrees from the centroid, wanted at most 1",
					m, d, far*180/math.Pi)
			}
		}
	}
}

func TestKnownCentroids(t *testing.T) {
	for _, c := range []struct {
		name string
		d    int
		rows []float64
		want []float64
	}{
		{"half line", 1, []float64{-2}, []float64{-0.5}},
		{"half disc", 2, []float64{0, 1}, []float64{0, 4 / (3 * math.Pi)}},
		{"duplicates", 2, []float64{0, 1, 0, 3, 0, 1}, []float64{0, 4 / (3 * math.Pi)}},
		{"quarter disc", 2, axes(2), []float64{4 / (3 * math.Pi), 4 / (3 * math.Pi)}},
		{"half ball", 3, []float64{0, 0, 1}, []float64{0, 0, 3. / 8}},
		{"octant", 3, axes(3), []float64{3. / 8, 3. / 8, 3. / 8}},
		{"ball", 3, nil, []float64{0, 0, 0}},
	} {
		got, err := space(t, c.d, c.rows...).Centroid(t.Context(), 3, 25000)
		if err != nil {
			t.Fatal(err)
		}
		for j, w := range c.want {
			if math.Abs(got.Centre[j]-w) > 0.006 {
				t.Errorf("%s: found %.4f, wanted %.4f", c.name, got.Centre, c.want)
				break
			}
		}
	}
}

// Without random directions on its way a ball keeps ‖w‖²‖v‖² − ⟨w, v⟩² at each bounce, for all
// walls go through the origin or have it in their middle. So it does not come to all places of any
// version space, and in some, such as an orthant, it does not even fly in all directions: its
// centre is wrong for ever.
func TestWhyTheBallTurns(t *testing.T) {
	s := space(t, 3, axes(3)...)
	want := []float64{1, 1, 1}
	for _, turns := range []bool{false, true} {
		far := 0.0
		for seed := range uint64(5) {
			b := newBilliard(s, []float64{0.2, 0.3, 0.4}, rand.New(rand.NewPCG(seed, 1)))
			if !turns {
				b.stretch = math.Inf(1)
				b.turn()
			}
			square := b.ww - b.wv*b.wv
			sum := make([]float64, 3)
			b.walk(100000, sum)
			b.settle()
			if now := b.ww - b.wv*b.wv; !turns && math.Abs(now-square) > 1e-10 {
				t.Errorf("seed %d: found %g, wanted %g as at the start", seed, now, square)
			}
			far = max(far, apart(sum, want))
		}
		if turns && far > 0.02 || !turns && far < 0.1 {
			t.Errorf("a ball that turns: %v; the centre is up to %g from the octant's", turns, far)
		}
		t.Logf("a ball that turns: %v; the centre is up to %.3f from the octant's", turns, far)
	}
}

// No flight leaves the space.
func TestChainsStayInside(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {3, 2}, {50, 5}, {50, 50}, {200, 20}} {
		s := polytope(t, c[0], c[1], 8)
		ball, err := s.Ball()
		if err != nil {
			t.Fatal(err)
		}
		b := newBilliard(s, ball.Centre, rand.New(rand.NewPCG(2, 2)))
		for range 200 {
			b.walk(31, make([]float64, s.d))
			if !s.contains(b.w, 1e-12) {
				t.Fatalf("%d × %d: a chain left the space", c[0], c[1])
			}
		}
	}
}

func bits(c Centroid) string {
	h := fnv.New64a()
	for _, w := range append(c.Chains, c.Centre) {
		for _, v := range w {
			fmt.Fprintf(h, "%016x", math.Float64bits(v))
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// The bits are those written here, on every machine, for each number of processors, and whether
// inner products of constraints are kept or not.
func TestSameBits(t *testing.T) {
	const want = "3041ec1b6d131b35"
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	rows, random := make([]float64, 30*7), rand.New(rand.NewPCG(9, 9))
	for i := range rows {
		rows[i] = random.Float64() - 0.5
		if i%7 == 0 {
			rows[i] += 0.6
		}
	}
	for _, processors := range []int{1, 4} {
		for _, keep := range []bool{true, false} {
			runtime.GOMAXPROCS(processors)
			s := space(t, 7, rows...)
			if !keep {
				s.gram = func() []float64 { return nil }
			}
			c, err := s.Centroid(t.Context(), 1, 3000)
			if err != nil {
				t.Fatal(err)
			}
			if got := bits(c); got != want {
				t.Errorf("%d processors, kept %v: found the bits %s, wanted %s", processors, keep, got, want)
			}
		}
	}
}

// A cancelled context ends the sampling.
func TestCentroidCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := polytope(t, 6, 4, 9).Centroid(ctx, 1, 9)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// apart returns the distance between x and y at length 1.
func apart(x, y []float64) float64 {
	a, b := 1/math.Sqrt(numerics.Dot64(x, x)), 1/math.Sqrt(numerics.Dot64(y, y))
	sum := 0.0
	for j, v := range x {
		d := v*a - y[j]*b
		sum += d * d
	}
	return math.Sqrt(sum)
}
