package sketch

import (
	"math"
	"runtime"
	"sync"
)

// Tile is the sketch of n examples, for an engine to lay out as it likes.
type Tile struct {
	N, K int
	// Q[t*N+i] is the projection of example i on direction t, in units of Step[t].
	Q    []int8
	Step []float32
	// Rho[i] ≥ ρ, the length of what the sketch leaves of example i; Nu[i] ≥ ν, its length.
	Rho, Nu []float32

	spread float64 // at least ‖ŝ‖/ν of any example
	error  float64 // at least ‖Vx - ŝ‖/ν of any example
	gamma  float64
	skew   float64
}

// Sketch makes the sketch of dense examples x, n×D, from their dot products by
// clause 1 with the directions, projections[t*stride+i].
func (b *Basis) Sketch(x []float32, projections []float32, stride int) *Tile {
	n := len(x) / b.D
	t := &Tile{N: n, K: b.K, Q: make([]int8, b.K*n), Step: make([]float32, b.K), Rho: make([]float32, n), Nu: make([]float32, n), gamma: b.gamma, skew: b.skew}
	parallel(b.K, 1, func(from, to int) {
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
	parallel(n, 1024, func(from, to int) {
		spread, miss := b.sketch(t, x, projections, stride, from, to)
		mutex.Lock()
		t.spread, t.error = max(t.spread, spread), max(t.error, miss)
		mutex.Unlock()
	})
	return t
}

// sketch is Sketch for examples from..to-1; it returns their part of spread and error.
func (b *Basis) sketch(t *Tile, x, projections []float32, stride, from, to int) (spread, miss float64) {
	product, square, missed := make([]float64, to-from), make([]float64, to-from), make([]float64, to-from) // ⟨Vx,ŝ⟩, ‖ŝ‖², ‖Vx-ŝ‖²
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
	rounding := math.Sqrt(float64(b.K)) * b.gamma * (1 + b.skew) // ‖computed Vx - Vx‖/ν
	for i := range product {
		nu, s := up(Length(x[(from+i)*b.D:(from+i+1)*b.D])), math.Sqrt(square[i])
		rho2 := nu*nu - 2*product[i] + 2*rounding*nu*s + square[i]*(1+b.skew)
		rho2 += 1e-9 * (nu*nu + square[i]) // rounding here
		t.Rho[from+i], t.Nu[from+i] = up32(math.Sqrt(max(rho2, 0))), up32(nu)
		spread = max(spread, s/nu)
		miss = max(miss, math.Sqrt(missed[i])/nu+rounding)
	}
	return spread, miss
}

// parallel calls f on consecutive ranges that cover 0..n-1, one per processor but of
// at least grain items.
func parallel(n, grain int, f func(from, to int)) {
	workers := max(1, min(runtime.GOMAXPROCS(0), n/grain))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
}

// Change is what a change of a class's weights does to its scores.
type Change struct {
	a      []float64 // â
	length float64   // ‖â‖
	rest   float64   // ‖Δ⊥‖
	weight float64   // the longest that the class's weights have been
}

// Change describes the change of a class's weights by delta, D numbers, when weight
// is at least the length that those weights have, had before, and may have had
// since any score that is still in use was computed. ok is false if the numbers are
// too large to bound anything; scores must then be computed afresh.
func (b *Basis) Change(delta []float64, weight float64) (c Change, ok bool) {
	c = Change{a: make([]float64, b.K), weight: up(weight)}
	rest := append([]float64(nil), delta...)
	for t := range b.K {
		row := b.v[t*b.D : (t+1)*b.D]
		c.a[t] = dot(row, delta)
	}
	for t, a := range c.a {
		axpy(-a, b.v[t*b.D:(t+1)*b.D], rest)
	}
	c.length, c.rest = up(norm(c.a)), up(norm(rest)+1e-12*norm(delta))
	return c, c.weight < 1e15 && c.length < 1e15 && c.rest < 1e15
}

// Estimate is a Change in the units of one tile.
type Estimate struct {
	// The estimated change of the score of example i is Σ Coef[t]·Q[t*N+i], in float32 by
	// K fma in any order; the bound of the error grows by Eta·Rho[i] + Theta·Nu[i].
	Coef       []float32
	Eta, Theta float32
}

// Estimate puts a change in the units of the tile.
func (t *Tile) Estimate(c Change) Estimate {
	e := Estimate{Coef: make([]float32, t.K), Eta: up32(c.rest)}
	for k, a := range c.a {
		e.Coef[k] = float32(a * float64(t.Step[k]))
	}
	rounding := unit * 1.1 * float64(t.K+4) * t.spread // of Coef and of the sum of products
	theta := c.length*(t.error+t.skew*t.spread+rounding) + 4*unit*c.weight
	e.Theta = up32(theta)
	return e
}

// Slack is what the rounding of the scores of a class adds to the bound, in units of
// Nu, whatever the number of changes; weight as for Change.
func (t *Tile) Slack(weight float64) float32 {
	return up32(2*t.gamma*up(weight) + 8*unit*up(weight))
}
