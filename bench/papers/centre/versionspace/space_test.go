package versionspace

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// polytope returns the version space of m random constraints that a random w satisfies.
func polytope(t testing.TB, m, d int, seed uint64) *Space {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 99))
	w, rows := make([]float64, d), make([]float64, m*d)
	for j := range w {
		w[j] = random.NormFloat64()
	}
	for k := range m {
		product := 0.0
		for j := range d {
			rows[k*d+j] = random.NormFloat64()
			product += rows[k*d+j] * w[j]
		}
		for j := range d {
			rows[k*d+j] = math.Copysign(1, product) * rows[k*d+j]
		}
	}
	return space(t, d, rows...)
}

func space(t testing.TB, d int, rows ...float64) *Space {
	t.Helper()
	s, err := New(d, rows)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// axes returns the rows of the unit matrix: the constraints of an orthant.
func axes(d int) []float64 {
	rows := make([]float64, d*d)
	for j := range d {
		rows[j*d+j] = 1
	}
	return rows
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		d    int
		rows []float64
		want string
	}{
		{"no dimension", 0, nil, "d ≥ 1"},
		{"half a constraint", 2, []float64{1, 0, 1}, "3 numbers"},
		{"zero", 2, []float64{1, 0, 0, 0}, "constraint 1 2"},
		{"not a number", 2, []float64{1, math.NaN()}, "constraint 0 1 NaN"},
		{"infinite", 1, []float64{math.Inf(-1)}, "-Inf"},
	} {
		if _, err := New(c.d, c.rows); !facts.Told(err, c.want) {
			t.Errorf("%s: found the error %v, wanted one with %q", c.name, err, c.want)
		}
	}
}

// No square of a constraint's numbers overflows or vanishes.
func TestConstraintsOfAnyLength(t *testing.T) {
	for _, length := range []float64{math.MaxFloat64, 1e200, 1, 1e-200, math.SmallestNonzeroFloat64} {
		s := space(t, 2, length, length)
		if got := s.row(0); math.Abs(got[0]-math.Sqrt(0.5)) > 1e-15 || got[0] != got[1] {
			t.Errorf("length %g: found %v, wanted both √½", length, got)
		}
	}
}

func TestBallKnown(t *testing.T) {
	half := math.Sqrt(0.5)
	for _, c := range []struct {
		name   string
		d      int
		rows   []float64
		margin float64
		w      []float64 // of length 1
	}{
		{"half line", 1, []float64{3}, 1, []float64{1}},
		{"half line, negative", 1, []float64{-3, -1}, 1, []float64{-1}},
		{"half disc", 2, []float64{0, 1}, 1, []float64{0, 1}},
		{"duplicates", 2, []float64{0, 1, 0, 2, 0, 1}, 1, []float64{0, 1}},
		{"quarter disc", 2, axes(2), half, []float64{half, half}},
		{"one that does not matter", 2, append(axes(2), 1, 1), half, []float64{half, half}},
		{"octant", 3, axes(3), 1 / math.Sqrt(3), []float64{1 / math.Sqrt(3), 1 / math.Sqrt(3),
			1 / math.Sqrt(3)}},
		{"needle", 2, []float64{1e-6, 1, 1e-6, -1}, 1e-6, []float64{1, 0}},
	} {
		ball, err := space(t, c.d, c.rows...).Ball()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if math.Abs(ball.Margin-c.margin) > 1e-9 || math.Abs(ball.Radius-c.margin/(1+c.margin)) > 1e-9 {
			t.Errorf("%s: found margin %g and radius %g, wanted %g and %g", c.name, ball.Margin, ball.Radius,
				c.margin, c.margin/(1+c.margin))
		}
		for j, w := range c.w {
			if math.Abs(ball.Centre[j]-w/(1+c.margin)) > 1e-9 {
				t.Errorf("%s: found the centre %v, wanted %v / %g", c.name, ball.Centre, c.w, 1+c.margin)
			}
		}
	}
}

// The ball touches the sphere and a constraint, none is nearer than its radius, and no w near its
// axis or far from it has a larger margin.
func TestBallIsLargest(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, c := range [][2]int{{3, 2}, {40, 2}, {20, 5}, {5, 20}, {60, 30}, {300, 10}, {1000, 20}} {
		s := polytope(t, c[0], c[1], uint64(c[0]))
		ball, err := s.Ball()
		if err != nil {
			t.Errorf("%d × %d: %v", c[0], c[1], err)
			continue
		}
		margin := func(w []float64) float64 {
			least := math.Inf(1)
			for k := range s.m {
				least = min(least, numerics.Dot64(s.row(k), w))
			}
			return least / math.Sqrt(numerics.Dot64(w, w))
		}
		norm := math.Sqrt(numerics.Dot64(ball.Centre, ball.Centre))
		if got := margin(ball.Centre); math.Abs(got-ball.Margin) > 1e-12 ||
			math.Abs(got*norm-ball.Radius) > 1e-9 || math.Abs(norm+ball.Radius-1) > 1e-9 {
			t.Errorf("%d × %d: the ball %+v has margin %g", c[0], c[1], ball, got)
		}
		w := make([]float64, s.d)
		for k := range 300 {
			far := math.Pow(10, -float64(k%8))
			for j, v := range ball.Centre {
				w[j] = v + far*random.NormFloat64()
			}
			if got := margin(w); got > ball.Margin+1e-9 {
				t.Fatalf("%d × %d: found margin %g, but %g near it", c[0], c[1], ball.Margin, got)
			}
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		name string
		d    int
		rows []float64
		want string // constraints that contradict each other
	}{
		{"one dimension", 1, []float64{1, -2}, "[0 1]"},
		{"a line is left", 2, []float64{1, 1, 0, 1, 0, -1}, "[1 2]"},
		{"three ways", 2, []float64{0, 1, 1, -1, -1, -1}, "[0 1 2]"},
	} {
		s := space(t, c.d, c.rows...)
		_, err := s.Ball()
		if !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: found the error %v, wanted ErrEmpty", c.name, err)
			continue
		}
		for _, k := range strings.Fields(strings.Trim(c.want, "[]")) {
			if !strings.Contains(err.Error(), k) {
				t.Errorf("%s: the error %v does not name constraint %s", c.name, err, k)
			}
		}
		if _, err := s.Centroid(t.Context(), 1, 9); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: the billiard's error is %v, wanted ErrEmpty", c.name, err)
		}
	}
	// Random labels of more examples than twice the dimensions are hardly ever separable (Cover
	// 1965).
	random := rand.New(rand.NewPCG(6, 6))
	rows := make([]float64, 200*10)
	for i := range rows {
		rows[i] = random.NormFloat64()
	}
	if _, err := space(t, 10, rows...).Ball(); !errors.Is(err, ErrEmpty) {
		t.Errorf("200 random constraints: found the error %v, wanted ErrEmpty", err)
	}
}

// contains reports whether w is in the space, or no further than slack from the right side of each
// of its walls.
func (s *Space) contains(w []float64, slack float64) bool {
	if !(math.Sqrt(numerics.Dot64(w, w)) <= 1+slack) {
		return false
	}
	for k := range s.m {
		if !(numerics.Dot64(s.row(k), w) >= -slack) {
			return false
		}
	}
	return true
}
