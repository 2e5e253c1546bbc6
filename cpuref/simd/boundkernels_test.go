package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestEstimate(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for _, depth := range []int{2, 4, 16, 64} {
			for blocks := range 4 {
				const q = 3
				sketch, coef := make([]int8, blocks*depth*lanes), draw(rng, 2*depth)
				for i := range sketch {
					sketch[i] = int8(rng.IntN(255) - 127)
				}
				lines := [][]int{{lanes, 0}, {2 * lanes, 2 * lanes}}[rng.IntN(2)]
				if lines[0] == lines[1] { // as change repeats a class
					for i := range depth {
						coef[2*i+1] = coef[2*i]
					}
				}
				scores := draw(rng, blocks*q*lanes)
				want := slices.Clone(scores)
				estimateGo(sketch, depth, coef, lines, want, q*lanes)
				got := guarded(t, scores, atEnd)
				k.bounds.estimate(guarded(t, sketch, atEnd), depth, guarded(t, coef, atEnd), lines, got,
					q*lanes)
				equal(t, fmt.Sprintf("%d directions, %d blocks", depth, blocks), got, want)
			}
		}
	})
}

func TestOpen(t *testing.T) {
	infinity := float32(math.Inf(1))
	odd := []float32{float32(math.NaN()), infinity, -infinity, 0, 1, 2, math.MaxFloat32}
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		found := map[bool]int{}
		for range 20 {
			for _, q := range []int{1, 2, 3, 10, 17} {
				for _, alpha := range []float32{0, 0.5, 1, infinity} {
					blocks, rounds := rng.IntN(4), 1+rng.IntN(5)
					n := blocks * lanes
					some := func(n int, scale float32) []float32 {
						v := draw(rng, n)
						for i := range v {
							v[i] = max(v[i], -v[i]) * scale
							if rng.IntN(50) == 0 {
								v[i] = odd[rng.IntN(len(odd))]
							}
						}
						return v
					}
					scores := draw(rng, n*q)
					for i := range scores {
						if rng.IntN(30) == 0 {
							scores[i] = odd[rng.IntN(len(odd))]
						}
					}
					rho, nu, slack, eta, theta := some(n, 0.1), some(n, 1), some(q, 0.01), some(rounds*q, 0.3),
						some(rounds*q, 0.01)
					scored, place := make([]int32, n), make([]int32, n)
					for i := range scored {
						scored[i] = int32(rng.IntN(rounds) * q)
					}
					regionGo(scores, q, alpha, place, place, make([]uint16, blocks)) // likely to be sure
					for i := range place {
						if rng.IntN(4) == 0 {
							place[i] = int32(rng.IntN(2*q+1)) - 1
						}
					}
					now := int32(rng.IntN(rounds+3) * q)
					want := make([]uint16, blocks)
					boundGo(scores, q, alpha, rho, nu, slack, eta, theta, scored, now, place, want)
					got := guarded(t, make([]uint16, blocks), atEnd)
					g := func(v []float32) []float32 { return guarded(t, v, atEnd) }
					k.bounds.open(g(scores), q, alpha, g(rho), g(nu), g(slack), g(eta), g(theta),
						guarded(t, scored, atEnd), now, guarded(t, place, atEnd), got)
					if !slices.Equal(got, want) {
						t.Fatalf("q=%d alpha=%v: %04x, want %04x", q, alpha, got, want)
					}
					for i := range n {
						found[want[i/lanes]>>(i%lanes)&1 == 1]++
					}
				}
			}
		}
		if found[true] < 1000 || found[false] < 1000 {
			t.Errorf("open or not: %v, wanted many of both", found)
		}
	})
}

func TestCopy(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for n := range 70 {
			x := draw(rng, n)
			got := guarded(t, make([]float32, n), atEnd)
			k.bounds.copy(got, guarded(t, x, atEnd), x)
			equal(t, fmt.Sprintf("%d values", n), got, x)
		}
	})
}
