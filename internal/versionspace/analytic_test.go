package versionspace

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// The analytic centre is where the gradient of the barrier is 0: all walls push it, each the
// harder the nearer it is, and what they add up to points to the middle of the sphere. Its length
// follows: m/(m + 2).
func TestAnalyticCentre(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		d, m := 1+rng.IntN(20), 1+rng.IntN(80)
		s := polytope(t, m, d, rng.Uint64())
		w, err := s.AnalyticCentre()
		if err != nil {
			t.Fatal(err)
		}
		if !s.contains(w, 0) {
			t.Fatalf("%d × %d: the centre is not inside", m, d)
		}
		square, push := 0.0, make([]float64, d)
		for j := range d {
			square += w[j] * w[j]
		}
		largest := 0.0
		for k := range m {
			p := 0.0
			for j := range d {
				p += s.rows[k*d+j] * w[j]
			}
			largest = max(largest, 1/p)
			for j := range d {
				push[j] += s.rows[k*d+j] / p
			}
		}
		if want := float64(m) / float64(m+2); math.Abs(square-want) > 1e-9 {
			t.Errorf("%d × %d: the square of its length is %v, wanted %v", m, d, square, want)
		}
		for j := range d {
			if off := push[j] - 2*w[j]/(1-square); math.Abs(off) > 1e-7*largest {
				t.Errorf("%d × %d: feature %d is pushed by %v where the nearest wall pushes %v", m, d, j, off,
					largest)
			}
		}
	}
}

// Of an octant the centre is on the diagonal; a wall that is there twice is farther away.
func TestAnalyticCentreOfAnOctant(t *testing.T) {
	w, err := space(t, 3, 1, 0, 0, 0, 5, 0, 0, 0, 0.1).AnalyticCentre()
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range w {
		if want := math.Sqrt(0.2); math.Abs(v-want) > 1e-9 {
			t.Errorf("number %d is %v, wanted %v", j, v, want)
		}
	}
	if w, err = space(t, 2, 1, 0, 1, 0, 0, 1).AnalyticCentre(); err != nil ||
		math.Abs(w[0]/w[1]-math.Sqrt2) > 1e-9 {
		t.Errorf("found %v (%v), wanted √2 times as far from the wall that is there twice", w, err)
	}
}

// A space as thin as Ball finds has its centre between the two walls that make it so.
func TestAnalyticCentreOfAWedge(t *testing.T) {
	for _, thin := range []float64{1e-3, 1e-4, 1e-5} {
		w, err := space(t, 3, 1, 0, 0, -1, thin, 0, 0, 0, 1).AnalyticCentre()
		if err != nil {
			t.Errorf("%g: %v", thin, err)
			continue
		}
		if a, b := w[0], float64(thin*w[1])-w[0]; !(a > 0 && math.Abs(a-b) < 1e-5*a) {
			t.Errorf("%g: the walls are %g and %g away", thin, a, b)
		}
	}
}

// The bits are those of every machine, and an empty space has no centre.
func TestAnalyticCentreBits(t *testing.T) {
	rows, random := make([]float64, 40*9), rand.New(rand.NewPCG(9, 9))
	for i := range rows {
		rows[i] = random.Float64() - 0.5
		if i%9 == 0 {
			rows[i] += 0.6
		}
	}
	w, err := space(t, 9, rows...).AnalyticCentre()
	if err != nil {
		t.Fatal(err)
	}
	hash := fnv.New64()
	if err := binary.Write(hash, binary.LittleEndian, w); err != nil {
		t.Fatal(err)
	}
	if got, want := hash.Sum64(), uint64(0x91b5f07a1bb57d23); got != want {
		t.Errorf("the centre has the hash %#x, wanted %#x", got, want)
	}
	if w, err := space(t, 1, 1, -1).AnalyticCentre(); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty space has the centre %v (%v)", w, err)
	}
	if w, err := space(t, 2).AnalyticCentre(); err != nil || w[0] != 0 || w[1] != 0 {
		t.Errorf("a space without constraints has the centre %v (%v), wanted 0", w, err)
	}
}
