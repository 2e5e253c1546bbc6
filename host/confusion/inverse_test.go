package confusion

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestInvertByHand(t *testing.T) {
	for _, c := range []struct {
		name    string
		p, want []float64
	}{
		{"2×2", []float64{.75, .5, .25, .5}, []float64{2, -2, -1, 3}},
		{"3×3", []float64{1, .5, .25, 0, .5, .25, 0, 0, .5}, []float64{1, -1, 0, 0, 2, -1, 0, 0, 2}},
		{"permutation", []float64{0, 0, 1, 1, 0, 0, 0, 1, 0}, []float64{0, 1, 0, 0, 0, 1, 1, 0, 0}},
	} {
		q := int(math.Sqrt(float64(len(c.p))))
		m := &Matrix{Classes: names(q), P: slices.Clone(c.p)}
		v, err := m.Invert()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		// Not exact: 1/0.75 is not a float64.
		if v.Q != q || !slices.EqualFunc(v.V, c.want, func(a, b float64) bool {
			return math.Abs(a-b) < 1e-15
		}) {
			t.Errorf("%s: inverse of Q %d is %v, wanted %v", c.name, v.Q, v.V, c.want)
		}
		if !slices.Equal(m.P, c.p) {
			t.Errorf("%s: Invert changed the matrix to %v", c.name, m.P)
		}
		b := v.Float32()
		for i := range b {
			if b[i] != float32(c.want[i]) {
				t.Errorf("%s: Float32()[%d] = %v, wanted %v", c.name, i, b[i], c.want[i])
			}
		}
	}
}

// The inverse agrees with gonum's LU inverse and undoes C.
func TestInvertRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, q := range []int{2, 3, 5, 10, 26, 60} {
		for _, share := range []float64{0, .1, .4, .6} {
			m := randomMatrix(t, rng, q, share)
			v, err := m.Invert()
			if err != nil {
				t.Fatalf("Q %d, share %v: %v", q, share, err)
			}
			var want mat.Dense
			c := mat.NewDense(q, q, m.P)
			if err := want.Inverse(c); err != nil {
				t.Fatal(err)
			}
			got := mat.NewDense(q, q, v.V)
			if !mat.EqualApprox(got, &want, 1e-12) {
				t.Errorf("Q %d, share %v: inverse differs from gonum's", q, share)
			}
			var eye mat.Dense
			eye.Mul(c, got)
			for i := range q {
				eye.Set(i, i, eye.At(i, i)-1)
			}
			if n := mat.Norm(&eye, 2); n > 1e-12 {
				t.Errorf("Q %d, share %v: ‖C·C⁻¹ - I‖ = %v", q, share, n)
			}
			if want := mat.Cond(c, 2); math.Abs(conditionOf(m)/want-1) > 1e-12 ||
				v.Condition != conditionOf(m) {
				t.Errorf("Q %d, share %v: condition %v and %v, wanted %v", q, share, conditionOf(m),
					v.Condition, want)
			}
		}
	}
}

func TestCondition(t *testing.T) {
	for _, c := range []struct {
		name string
		p    []float64
		want float64
	}{
		{"identity", []float64{1, 0, 0, 1}, 1},
		{"swap", []float64{0, 1, 1, 0}, 1},
		// Symmetric: eigenvalues 1 and 1 - 2·0.375.
		{"symmetric", []float64{.625, .375, .375, .625}, 4},
		{"equal columns", []float64{.5, .5, .5, .5}, math.Inf(1)},
		{"class that never appears", []float64{1, 1, 0, 0}, math.Inf(1)},
		{"rounded singular", []float64{.1, .1, .1, .2, .2, .2, .7, .7, .7}, math.Inf(1)},
		{"not a confusion matrix", []float64{1, 2, 3, 4}, math.Inf(1)},
		{"not square", []float64{1, 2, 3}, math.Inf(1)},
	} {
		q := max(2, int(math.Sqrt(float64(len(c.p)))))
		m := &Matrix{Classes: names(q), P: c.p}
		if got := conditionOf(m); !(got == c.want || math.Abs(got/c.want-1) < 1e-14) {
			t.Errorf("%s: condition %v, wanted %v", c.name, got, c.want)
		}
	}
}

func TestInvertRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		classes string
		p       []float64
		alike   string
	}{
		{"b and d have the same column", "a b c d", []float64{1, .2, 0, .2, 0, .5, .1, .5, 0, .2, .9, .2,
			0, .1, 0, .1}, "b d"},
		{"two pairs", "a b c d e", []float64{.5, .5, 0, 0, 0, .5, .5, 0, 0, 0, 0, 0, .5, .5, 0, 0, 0, .5,
			.5, 0, 0, 0, 0, 0, 1}, "a b c d"},
		{"three of four alike", "a b c d", []float64{.5, .5, 0, .5, .25, .25, 0, .25, .25, .25, 1, .25, 0,
			0, 0, 0}, "a b d"},
		{"nearly alike", "a b", []float64{.5, .4999999, .5, .5000001}, "a b"},
	} {
		m := &Matrix{Classes: strings.Fields(c.classes), P: c.p}
		v, err := m.Invert()
		var alike *InseparableError
		if v != nil || !errors.As(err, &alike) || strings.Join(alike.Classes, " ") != c.alike ||
			math.IsInf(alike.Condition, 1) == (c.name == "nearly alike") || alike.Condition < 9e6 ||
			!facts.Told(err, "merge estimate") {
			t.Errorf("%s: inverse %v, error %v", c.name, v, err)
		}
	}
	v, err := (&Matrix{Classes: []string{"a", "b"}, P: []float64{1, 1, 1, 1}}).Invert()
	if v != nil || !facts.Told(err, `"a" 2 1`) {
		t.Errorf("no confusion matrix: inverse %v, error %v", v, err)
	}
}

// The limit itself: just better conditioned passes, just worse does not.
func TestInvertLimit(t *testing.T) {
	for _, c := range []struct {
		margin float64
		ok     bool
	}{{2.02e-6 / 2, true}, {1.98e-6 / 2, false}} {
		m, err := Symmetric([]string{"a", "b"}, (1-c.margin)/2) // condition 1/margin
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Invert(); (err == nil) != c.ok {
			t.Errorf("condition %v: error %v", conditionOf(m), err)
		}
	}
}

// Two who ask get one inverse, and another once the matrix is another.
func TestInvertOnce(t *testing.T) {
	m, err := Pairwise([]string{"a", "b", "c"}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	first, err := m.Invert()
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Invert()
	if err != nil || again != first {
		t.Errorf("%v: inverted twice", err)
	}
	m.P[0], m.P[3] = m.P[0]-0.1, m.P[3]+0.1
	changed, err := m.Invert()
	byHand, errByHand := (&Matrix{Classes: m.Classes, P: m.P}).Invert()
	if err != nil || errByHand != nil || changed == first || !slices.Equal(changed.V, byHand.V) {
		t.Errorf("%v, %v: %v, want %v", err, errByHand, changed, byHand)
	}
}

// conditionOf returns the condition number that Invert finds, +Inf of no confusion matrix.
func conditionOf(m *Matrix) float64 {
	v, err := m.Invert()
	inseparable := (*InseparableError)(nil)
	switch {
	case err == nil:
		return v.Condition
	case errors.As(err, &inseparable):
		return inseparable.Condition
	}
	return math.Inf(1)
}
