package sketch

import (
	"math"
	"sync"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Tile is the sketch of n examples, for an engine to lay out as it likes.
type Tile struct {
	N, K int
	// Q[t*N+i] is the projection of example i on direction t, in units of Step[t].
	Q    []int8
	Step []float32
	// Rho[i] ≥ ρ, the length of what the sketch leaves of example i; Nu[i] ≥ ν, its length,
	// but at least shortest.
	Rho, Nu []float32

	spread float64 // at least ‖ŝ‖/ν of any example, ν as in Nu
	error  float64 // at least ‖Vx - ŝ‖/ν of any example
	most   float64 // at least ν of any example
}

// Sketch makes the sketch of dense examples x, n×D, from their dot products by
// clause 1 with the directions, projections[t*stride+i].
func (b *Basis) Sketch(x []float32, projections []float32, stride int) *Tile {
	n := len(x) / b.D
	t := &Tile{
		N: n, K: b.K, Q: make([]int8, b.K*n), Step: make([]float32, b.K),
		Rho: make([]float32, n), Nu: make([]float32, n),
	}
	parallel.Ranges(b.K, 1, func(from, to int) {
		for k := from; k < to; k++ {
			var most float32
			for _, p := range projections[k*stride : k*stride+n] {
				most = max(most, p, -p)
			}
			t.Step[k] = most / 127
			if !(t.Step[k] > 0x1p-100) || math.IsInf(float64(t.Step[k]), 0) {
				t.Step[k] = 1 // too small or too large to matter; the bound knows
			}
		}
	})
	var mutex sync.Mutex
	parallel.Ranges(n, 1024, func(from, to int) {
		spread, miss, most := b.sketch(t, x, projections, stride, from, to)
		mutex.Lock()
		t.spread, t.error, t.most = max(t.spread, spread), max(t.error, miss), max(t.most, most)
		mutex.Unlock()
	})
	return t
}

// sketch is Sketch for examples from..to-1; it returns their part of spread, error and most.
func (b *Basis) sketch(t *Tile, x, projections []float32, stride, from, to int) (spread, miss,
	most float64) {
	sums := make([]float64, 3*(to-from)) // ⟨Vx,ŝ⟩, ‖ŝ‖², ‖Vx-ŝ‖²
	product, square, missed := sums[:to-from], sums[to-from:2*(to-from)], sums[2*(to-from):]
	for k := range b.K {
		step := float64(t.Step[k])
		for i, p := range projections[k*stride+from : k*stride+to] {
			q := max(-127, min(127, math.RoundToEven(float64(p)/step)))
			t.Q[k*t.N+from+i] = int8(q)
			s, p := q*step, float64(p)
			product[i] += p * s
			square[i] += s * s
			missed[i] += (p - s) * (p - s)
		}
	}
	for i := range product {
		nu, s := up(euclidean(x[(from+i)*b.D:(from+i+1)*b.D])), math.Sqrt(square[i])
		// ‖computed Vx - Vx‖
		rounding := math.Sqrt(float64(b.K)) * (b.gamma*(1+b.skew)*nu + float64(b.D)*least)
		rho2 := nu*nu - 2*product[i] + 2*rounding*s + square[i]*(1+b.skew)
		rho2 += 1e-9 * (nu*nu + square[i]) // rounding here
		counts := max(nu, shortest)
		t.Rho[from+i], t.Nu[from+i] = up32(math.Sqrt(max(rho2, 0))), up32(counts)
		spread = max(spread, s/counts)
		miss = max(miss, (math.Sqrt(missed[i])+rounding)/counts)
		most = max(most, counts)
	}
	return spread, miss, most
}

// Coef returns the estimated change of the scores of a class whose weights change by
// shift in the directions: that of example i is Σ Coef[t]·Q[t*N+i], in float32 by K
// fma in any order.
func (t *Tile) Coef(shift []float64) []float32 {
	coef := make([]float32, t.K)
	for k, a := range shift {
		coef[k] = float32(a * float64(t.Step[k]))
	}
	return coef
}
