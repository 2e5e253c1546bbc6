package confusion

import (
	"math"
	"slices"
	"testing"
)

func TestInjectStatistics(t *testing.T) {
	const q, n = 5, 200_000
	m, err := Random(names(q), .6, 21)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(i % q)
	}
	before := slices.Clone(y)
	noisy, err := m.Inject(y, 42)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(y, before) {
		t.Error("Inject changed its argument")
	}
	counts := make([]float64, q*q)
	for i, p := range noisy {
		counts[p*q+y[i]]++
	}
	for i, c := range counts {
		p := m.P[i]
		const each = n / q
		if sigma := math.Sqrt(each * p * (1 - p)); math.Abs(c-each*p) > 5*sigma {
			t.Errorf("P[%d][%d] = %v gave %v of %d, wanted %v ± %v", i/q, i%q, p, c, each, each*p, sigma)
		}
	}
	again, err := m.Inject(y, 42)
	if err != nil || !slices.Equal(again, noisy) {
		t.Errorf("the same seed gave other labels (error %v)", err)
	}
	other, err := m.Inject(y, 43)
	if err != nil || slices.Equal(other, noisy) {
		t.Errorf("another seed gave the same labels (error %v)", err)
	}
	prefix, err := m.Inject(y[:1000], 42)
	if err != nil || !slices.Equal(prefix, noisy[:1000]) {
		t.Errorf("labels depend on the examples after them (error %v)", err)
	}
}

// Frozen: published noisy sets are named by their seed.
func TestInjectGolden(t *testing.T) {
	m := &Matrix{Classes: abc, P: []float64{
		.5, .25, .125,
		.375, .5, .125,
		.125, .25, .75,
	}}
	y := make([]int32, 32)
	for i := range y {
		y[i] = int32(i % 3)
	}
	got, err := m.Inject(y, 2015)
	if err != nil {
		t.Fatal(err)
	}
	want := []int32{1, 2, 0, 0, 0, 2, 1, 1, 2, 0, 1, 0, 0, 1, 1, 0, 0, 2, 2, 1, 1, 1, 2, 2, 0, 1, 0, 0,
		0, 2, 1, 1}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	r, err := Random(abc, 1, 2015)
	if err != nil {
		t.Fatal(err)
	}
	wantP := []float64{
		0.10702716623222769, 0.20946747850072198, 0.46988531057323896,
		0.32424599650691227, 0.6541785584893396, 0.05859774333977911,
		0.5687268372608599, 0.13635396300993835, 0.4715169460869819,
	}
	if !slices.Equal(r.P, wantP) {
		t.Errorf("Random: got  %v\nwant %v", r.P, wantP)
	}
}

func TestDraw(t *testing.T) {
	below1 := math.Nextafter(1, 0)
	m := &Matrix{Classes: abc, P: []float64{
		0, .25, .1,
		1, .25, .2,
		0, .5, .7, // .1 + .2 + .7 in this order is 1 to rounding
	}}
	for _, c := range []struct {
		class int
		u     float64
		want  int32
	}{
		{0, 0, 1}, {0, .5, 1}, {0, below1, 1},
		{1, 0, 0}, {1, math.Nextafter(.25, 0), 0}, {1, .25, 1}, {1, .5, 2}, {1, below1, 2},
		{2, 0, 0}, {2, below1, 2},
	} {
		if got := m.draw(c.class, c.u); got != c.want {
			t.Errorf("class %d, u = %v: drew %d, wanted %d", c.class, c.u, got, c.want)
		}
	}
	// A column that sums to less than u: the last class of positive probability.
	short := &Matrix{Classes: abc, P: []float64{
		.4999995, .5, 0,
		.5, .4999995, 0,
		0, 0, .9999995,
	}}
	if err := short.Check(); err != nil {
		t.Fatal(err)
	}
	for class, want := range []int32{1, 1, 2} {
		if got := short.draw(class, below1); got != want {
			t.Errorf("short column %d: drew %d, wanted %d", class, got, want)
		}
	}
}

func TestInjectErrors(t *testing.T) {
	m, err := Pairwise(abc, .4)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Inject([]int32{0, 1, 3}, 1)
	wantError(t, err, "example 2 0 label 3 0 2")
	_, err = m.Inject([]int32{-1}, 1)
	wantError(t, err, "example 0 0 label -1 0 2")
	m.P[0] = 2
	_, err = m.Inject([]int32{0}, 1)
	wantError(t, err, `P(noisy = "a" = "a" 2 0 1`)
	m.P[0] = .6
	if got, err := m.Inject(nil, 1); err != nil || len(got) != 0 {
		t.Errorf("no labels: %v, %v", got, err)
	}
}
