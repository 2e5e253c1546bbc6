package confusion

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// wantError fails unless err states the facts.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && !facts.Told(err, want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestCheck(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name    string
		classes string
		p       []float64
		want    string // "" for no error
	}{
		{"valid", "a b", []float64{.75, .5, .25, .5}, ""},
		{"within tolerance", "a b", []float64{.7500009, .5, .25, .4999991}, ""},
		{"one class", "a", []float64{1}, `1 classes "a" 2`},
		{"no class", "", nil, "0 classes 2"},
		{"same name", "a b a", make([]float64, 9), `"a" twice`},
		{"not square", "a b", make([]float64, 6), "6 entries 2×2 = 4 2 classes"},
		{"negative", "a b", []float64{1, -1e-17, 0, 1}, `P(noisy = "a" = "b" -1e-17 0 1`},
		{"above one", "a b", []float64{1, 0, 0, 1.0000000000000002},
			`P(noisy = "b" = "b" 1.0000000000000002 0 1`},
		{"nan", "a b", []float64{1, 0, nan, 1}, `P(noisy = "b" = "a" NaN 0 1`},
		{"inf", "a b", []float64{math.Inf(1), 0, 0, 1}, `P(noisy = "a" = "a" +Inf 0 1`},
		{"column sum", "a b", []float64{1, .25, 0, .5}, `"b" 0.75 1 within 1e-06`},
		{"outside tolerance", "a b", []float64{.75 + 0x1p-19, .5, .25, .5},
			`"a" 1.0000019073486328 1 within 1e-06`},
		{"transposed", "a b", []float64{.75, .25, .5, .5},
			`"a" 1.25 1 within 1e-06 1 confusion-axes=true-rows`},
	} {
		m := &Matrix{Classes: strings.Fields(c.classes), P: c.p}
		err := m.Check()
		if c.want == "" && err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if c.want != "" {
			wantError(t, err, c.want)
		}
	}
}

func TestBuilders(t *testing.T) {
	identity, err := Symmetric(abc, 0)
	if err != nil {
		t.Fatal(err)
	}
	symmetric, err := Symmetric(abc, .5)
	if err != nil {
		t.Fatal(err)
	}
	pairwise, err := Pairwise(abc, .25)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  *Matrix
		want []float64
	}{
		{"identity", identity, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		{"symmetric", symmetric, []float64{.5, .25, .25, .25, .5, .25, .25, .25, .5}},
		{"pairwise", pairwise, []float64{.75, 0, .25, .25, .75, 0, 0, .25, .75}},
	} {
		for i, v := range c.want {
			if c.got.P[i] != v {
				t.Errorf("%s: P = %v, wanted %v", c.name, c.got.P, c.want)
				break
			}
		}
		c.got.Classes[0] = "changed"
		if abc[0] != "a" {
			t.Fatalf("%s shares the caller's names", c.name)
		}
	}
}

func TestBuilderErrors(t *testing.T) {
	for _, rate := range []float64{-0.1, 1.5, math.NaN(), math.Inf(1)} {
		_, err := Symmetric(abc, rate)
		wantError(t, err, num(rate)+" 0 1")
		_, err = Pairwise(abc, rate)
		wantError(t, err, num(rate)+" 0 1")
		_, err = Random(abc, rate, 1)
		wantError(t, err, num(rate)+" 0 1")
	}
	const one = `1 classes "a" 2`
	_, err := Symmetric([]string{"a"}, 0)
	wantError(t, err, one)
	_, err = Pairwise([]string{"a"}, 0)
	wantError(t, err, one)
	_, err = Random([]string{"a"}, 0, 1)
	wantError(t, err, one)
	_, err = Symmetric([]string{"x", "x"}, 0)
	wantError(t, err, `"x" twice`)
}

func TestRandom(t *testing.T) {
	classes := names(4)
	a, errA := Random(classes, .6, 3)
	b, errB := Random(classes, .6, 3)
	c, errC := Random(classes, .6, 4)
	full, errFull := Random(classes, 1, 3)
	for _, err := range []error{errA, errB, errC, errFull} {
		if err != nil {
			t.Fatal(err)
		}
	}
	same := 0
	for i := range a.P {
		if a.P[i] != b.P[i] {
			t.Errorf("entry %d differs between equal seeds", i)
		}
		if a.P[i] == c.P[i] {
			same++
		}
		want := .6 * full.P[i]
		if i%5 == 0 {
			want += .4
		}
		if math.Abs(a.P[i]-want) > 1e-15 {
			t.Errorf("entry %d is %v, wanted %v = (1-share)·I + share·S", i, a.P[i], want)
		}
	}
	if same > 0 {
		t.Errorf("%d entries equal under another seed", same)
	}
	// Columns uniform on the simplex of Q classes: an entry has mean 1/Q and
	// variance (Q-1)/(Q²(Q+1)).
	const q = 50
	m, err := Random(names(q), 1, 11)
	if err != nil {
		t.Fatal(err)
	}
	sum, squares := 0.0, 0.0
	for _, v := range m.P {
		sum += v
		squares += v * v
	}
	variance := squares/(q*q) - 1./(q*q)
	if want := float64(q-1) / (q * q * (q + 1)); math.Abs(variance/want-1) > .2 {
		t.Errorf("variance of an entry is %v, wanted near %v", variance, want)
	}
}

func num(v float64) string { return fmt.Sprint(v) }

// randomMatrix returns a matrix of q classes with a share of noise.
func randomMatrix(t *testing.T, rng *rand.Rand, q int, share float64) *Matrix {
	t.Helper()
	m, err := Random(names(q), share, rng.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	return m
}
