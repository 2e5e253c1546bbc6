package means

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFactor: LLᵀ has the kernel values of the rows in their new order, L⁻ᵀL⁻¹ solves with them,
// and rows in the span of the others are left out.
func TestFactor(t *testing.T) {
	const n, rank = 150, 140 // more than two panels
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, n*rank)
	for i := range x {
		x[i] = float64(float32(rng.NormFloat64()))
	}
	values, exact := make([]float32, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			exact[i*n+j] = dot(x[i*rank:(i+1)*rank], x[j*rank:(j+1)*rank])
			values[i*n+j] = float32(exact[i*n+j])
		}
	}
	l, order, err := factor(t.Context(), values, n)
	if err != nil || len(order) > rank+2 || len(order) < rank-2 || l.n != len(order) {
		t.Fatalf("%d rows of rank %d: %v", len(order), rank, err)
	}
	right, weights := make([]float64, len(order)), make([]float32, len(order))
	for i, a := range order {
		for j, b := range order[:i+1] {
			got := dot(l.a[i*n:i*n+j+1], l.a[j*n:j*n+j+1])
			if math.Abs(got-exact[a*n+b]) > 1e-4 {
				t.Fatalf("row %d, column %d: %v, wanted %v", i, j, got, exact[a*n+b])
			}
		}
		right[i] = exact[a*n+order[0]] // so that the first has the weight 1
	}
	l.forward(right)
	l.backward(weights[:50], right[:50])
	for i, v := range weights[:50] {
		want := 0.0
		if i == 0 {
			want = 1
		}
		if math.Abs(float64(v)-want) > 1e-3 {
			t.Errorf("weight %d is %v, wanted %v", i, v, want)
		}
	}
}
