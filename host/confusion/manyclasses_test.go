package confusion

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// sameBits reports whether two arrays are equal, signs of zeros included.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b)
	})
}

// permutation returns the matrix of the classes moved at random.
func permutation(t *testing.T, q int) *Matrix {
	t.Helper()
	m, err := New(names(q))
	if err != nil {
		t.Fatal(err)
	}
	for c, p := range rand.New(rand.NewPCG(1, uint64(q))).Perm(q) {
		m.P[p*q+c] = 1
	}
	return m
}

// Labels that are right cost two tables of their size, be the classes many: a singular
// value decomposition of them would take twice as many, and minutes.
func TestManyClassesWithoutNoise(t *testing.T) {
	const q = 1500
	m, err := Symmetric(names(q), 0)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := m.Invert()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if tables := float64(after.TotalAlloc-before.TotalAlloc) / (8 * q * q); tables > 2.1 {
		t.Errorf("inverting takes the memory of %.2f tables, wanted that of 2", tables)
	}
	if v.Condition != 1 || !sameBits(v.V, m.P) {
		t.Errorf("condition number %v, or not the identity", v.Condition)
	}
	// A product of such matrices would take minutes as well.
	counts, want := make([]int64, q*q), make([]float64, q*q)
	for c := range q {
		counts[(c+1)%q*q+c], counts[c*q+c] = 1, 3
		want[(c+1)%q*q+c], want[c*q+c] = 0.25, 0.75
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }
	if got := v.EstimatedConfusion(counts, 4*q); !slices.EqualFunc(got, want, near) {
		t.Error("the estimated confusion is not what was counted")
	}
}

// Leaving out the terms that are 0 changes no bit of the estimated confusion.
func TestEstimatedConfusionBitForBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, q := range []int{2, 3, 7, 26} {
		identity, err := Symmetric(names(q), 0)
		if err != nil {
			t.Fatal(err)
		}
		pairwise, err := Pairwise(names(q), 0.3)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Matrix{identity, pairwise, permutation(t, q), randomMatrix(t, rng, q, 0.5)} {
			v := invert(t, m)
			for _, zeros := range []int{0, 2, q} { // of q+1 counts
				counts, n := make([]int64, q*q), 0
				for i := range counts {
					if rng.IntN(q+1) >= zeros {
						counts[i] = rng.Int64N(1000)
					}
					n += int(counts[i])
				}
				if n == 0 {
					continue
				}
				want := make([]float64, q*q)
				for c := range q {
					column := 0.0
					for p := range q {
						for k := range q {
							want[p*q+c] += float64(float64(counts[p*q+k]) / float64(n) * v.V[c*q+k])
						}
						column += want[p*q+c]
					}
					for p := range q {
						if column > 0 {
							want[p*q+c] /= column
						} else {
							want[p*q+c] = 0
						}
					}
				}
				if got := v.EstimatedConfusion(counts, n); !sameBits(got, want) {
					t.Errorf("%d classes: %v, wanted %v", q, got, want)
				}
			}
		}
	}
}
