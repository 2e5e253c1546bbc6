package estimate

import (
	"math"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// inject returns true labels of q classes, unevenly frequent, and noisy ones.
func inject(t *testing.T, m *confusion.Matrix, n int, seed uint64) (noisy, right []int32) {
	t.Helper()
	right = make([]int32, n)
	for i := range right {
		right[i] = int32(i * i % m.Q())
	}
	noisy, err := m.Inject(right, seed)
	if err != nil {
		t.Fatal(err)
	}
	return noisy, right
}

// meanError returns the mean absolute difference of entries.
// Of many examples the estimate is the shares, and errors are as large as the standard errors say.
func TestFromLabels(t *testing.T) {
	truth, err := confusion.Random(names(5), 0.6, 1)
	if err != nil {
		t.Fatal(err)
	}
	squares, of := 0.0, 0.0
	for seed := range uint64(40) {
		noisy, right := inject(t, truth, 1000, seed)
		e, err := FromLabels(truth.Classes, noisy, right, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := CountLabels(5, noisy, right)
		if err != nil {
			t.Fatal(err)
		}
		numerics.NormaliseColumns(counts, 5)
		for k, v := range counts {
			if k%5 < 2 || k%5 == 4 { // squares modulo 5 are 0, 1 and 4
				if d := math.Abs(e.P[k] - v); !(d < 0.02) {
					t.Errorf("entry %d is %v from the share, wanted less than 0.02", k, d)
				}
			}
		}
		for k, v := range e.P {
			if k%5 == 2 || k%5 == 3 {
				continue
			}
			z := (v - truth.P[k]) / e.Error[k]
			squares += z * z
			of++
		}
	}
	if z := squares / of; !(z > 0.5 && z < 1.3) {
		t.Errorf("mean square of the errors over the standard errors: %v, wanted about 1", z)
	}
}

// Classes without examples get what is believed of all, and are named.
func TestFromCountsRareClasses(t *testing.T) {
	e, err := FromCounts(abc, []float64{90, 2, 0, 5, 3, 0, 5, 0, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(e.Notes, "\n")
	if !strings.Contains(notes, `"c" has 0 examples`) || !strings.Contains(notes,
		`"b" has 5 examples`) || strings.Contains(notes, `"a"`) {
		t.Errorf("notes %q", notes)
	}
	if c := e.P[2*3+2]; !(c > 0.8 && c < 0.95) {
		t.Errorf("a class without examples is right with probability %v, wanted that of all", c)
	}
	if !(e.Error[8] > 5*e.Error[0]) {
		t.Errorf("standard errors %v, wanted a large one for class c", e.Error)
	}
	for _, bad := range [][]float64{{1, 2}, {1, 0, 0, 0, -1, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0},
		{math.NaN(), 0, 0, 0, 1, 0, 0, 0, 1}} {
		if _, err := FromCounts(abc, bad, nil); err == nil {
			t.Errorf("%v: wanted an error", bad)
		}
	}
}

// A good prior helps few counts, and a bad one does not harm many.
func TestFromCountsPrior(t *testing.T) {
	truth, err := confusion.Random(names(8), 0.7, 2)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := confusion.Symmetric(names(8), 0)
	if err != nil {
		t.Fatal(err)
	}
	var alone, good, many, shares float64
	for seed := range uint64(20) {
		for n, sums := range map[int][]*float64{160: {&alone, &good, nil}, 8000: {&shares, nil, &many}} {
			right := make([]int32, n)
			for i := range right {
				right[i] = int32(i % 8)
			}
			noisy, err := truth.Inject(right, seed)
			if err != nil {
				t.Fatal(err)
			}
			for k, prior := range []*confusion.Matrix{nil, truth, identity} {
				e, err := FromLabels(truth.Classes, noisy, right, prior)
				if err != nil {
					t.Fatal(err)
				}
				if sums[k] != nil {
					*sums[k] += meanError(e.P, truth.P) / 20
				}
			}
		}
	}
	if !(good < alone/2) || !(many < 1.2*shares) {
		t.Errorf("mean errors %v alone, %v with a good prior; of many %v alone, %v with a bad prior",
			alone, good, shares, many)
	}
	if _, err := FromLabels(names(8), nil, nil, truth); err == nil {
		t.Error("no labels: wanted an error")
	}
	if _, err := FromLabels(names(2), []int32{0}, []int32{2}, nil); err == nil {
		t.Error("a class too many: wanted an error")
	}
	if _, err := FromLabels(names(2), []int32{0}, []int32{0}, truth); err == nil {
		t.Error("a prior of other classes: wanted an error")
	}
}
