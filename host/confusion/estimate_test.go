package confusion

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func invert(t *testing.T, m *Matrix) *Inverse {
	t.Helper()
	v, err := m.Invert()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// 64 examples, C = [[3/4, 1/2], [1/4, 1/2]]. Predictions and true labels are
// joint [[3, 1], [1, 3]]/8, so noisy labels are J·Cᵀ = [[22, 10], [18, 14]]/64.
func TestEstimatesByHand(t *testing.T) {
	v := &Inverse{Q: 2, V: []float64{2, -2, -1, 3}} // of [[3/4, 1/2], [1/4, 1/2]]
	counts := []int64{22, 10, 18, 14}
	if got := v.EstimatedError(counts, 64); got != .25 {
		t.Errorf("estimated error %v, wanted 0.25", got)
	}
	if got, want := v.Priors([]int64{40, 24}, 64), []float64{.5, .5}; !slices.Equal(got, want) {
		t.Errorf("priors %v, wanted %v", got, want)
	}
}

// More noisy labels 0 than C can explain: π̂_1 = (-1·16 + 3·0)/16 = -1.
func TestEstimatesOutsideTheSimplex(t *testing.T) {
	v := &Inverse{Q: 2, V: []float64{2, -2, -1, 3}} // of [[3/4, 1/2], [1/4, 1/2]]
	if got, want := v.Priors([]int64{16, 0}, 16), []float64{2, 1. / 16}; !slices.Equal(got, want) {
		t.Errorf("priors %v, wanted %v", got, want)
	}
	if got := v.EstimatedError([]int64{16, 0, 0, 0}, 16); got != -1 {
		t.Errorf("estimated error %v, wanted -1", got)
	}
}

// The order of summation of clauses 7 and 10, by a twin written from their text.
func TestEstimatesBitForBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, q := range []int{2, 3, 7, 26} {
		v := invert(t, randomMatrix(t, rng, q, .5))
		counts := make([]int64, q*q)
		labels := make([]int64, q)
		n := 0
		for i := range counts {
			counts[i] = rng.Int64N(1000)
			labels[i%q] += counts[i]
			n += int(counts[i])
		}
		sum := 0.0
		for p := 0; p < q; p++ {
			for k := 0; k < q; k++ {
				product := float64(counts[p*q+k]) / float64(n) * v.V[p*q+k]
				product = math.Float64frombits(math.Float64bits(product)) // a rounded value
				sum += product
			}
		}
		if got := v.EstimatedError(counts, n); got != 1-sum {
			t.Errorf("Q %d: estimated error %v, wanted %v", q, got, 1-sum)
		}
		pi := v.Priors(labels, n)
		total := 0.0
		for class := 0; class < q; class++ {
			sum := 0.0
			for k := 0; k < q; k++ {
				product := v.V[class*q+k] * float64(labels[k])
				product = math.Float64frombits(math.Float64bits(product))
				sum += product
			}
			want := sum / float64(n)
			if want < 1/float64(n) {
				want = 1 / float64(n)
			}
			if pi[class] != want {
				t.Errorf("Q %d: prior of class %d is %v, wanted %v", q, class, pi[class], want)
			}
			total += sum / float64(n)
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("Q %d: priors before the floor sum to %v", q, total)
		}
	}
}
