package numerics_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// AddScaled4 gives the bits of four calls of AddScaled64.
func TestAddScaled4(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	numbers := func(n int) []float64 {
		list := make([]float64, n)
		for k := range list {
			list[k] = rng.NormFloat64()
		}
		return list
	}
	for _, n := range []int{0, 1, 7, 300} {
		y, a := numbers(n), [4]float64(numbers(4))
		x := [4][]float64{numbers(n), numbers(n + 1), numbers(n), numbers(n)}
		want := slices.Clone(y)
		for r := range x {
			numerics.AddScaled64(want, a[r], x[r][:n])
		}
		if numerics.AddScaled4(y, a, x); !slices.Equal(y, want) {
			t.Errorf("%d numbers: got %v, want %v", n, y, want)
		}
	}
}
