package sketch

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// near draws examples near the space of a few axes.
func near(rng *rand.Rand, n, d int, noise float64) dataset.Examples {
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	axes := make([]float64, 6*d)
	for j := range axes {
		axes[j] = rng.NormFloat64()
	}
	for i := range n {
		for a := range 6 {
			s := rng.NormFloat64() / float64(a+1)
			for j := range d {
				x.Row(i)[j] += float32(s * axes[a*d+j])
			}
		}
		for j := range d {
			x.Row(i)[j] += float32(noise * rng.NormFloat64())
		}
	}
	clear(x.Row(n - 1))
	return x
}

func (b *Basis) project(x dataset.Examples) []float32 {
	lines := make([]float32, b.K*x.N)
	for k := range b.K {
		for i := range x.N {
			lines[k*x.N+i] = numerics.Dot(x.Row(i), b.V[k*b.D:(k+1)*b.D])
		}
	}
	return lines
}

// TestBound follows estimates of scores through many changes of weights and compares
// them with the scores.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		n, d, k int
		noise   float64
		size    float64 // of the weights
		change  float64 // relative to them
		share   float64 // of the largest score that the bound may at most come to
	}{
		{100, 300, 16, 0.1, 1, 0.01, 0.5},
		{100, 300, 16, 0, 1, 0.01, 0.02},
		{100, 20, 20, 1, 1, 0.1, 0.05},
		{60, 700, 8, 0.3, 1e10, 1e-3, 0.3},
		{60, 700, 8, 0.3, 1e-10, 1e-6, 0.3},
		{100, 5, 1, 0.1, 1, 0.1, 10},
	} {
		t.Run(fmt.Sprintf("%d×%d to %d", c.n, c.d, c.k), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(c.d), uint64(c.k)))
			x := near(rng, c.n, c.d, c.noise)
			b, err := newBasis(x, c.k)
			if err != nil {
				t.Fatal(err)
			}
			tile := b.Sketch(x.X, b.project(x), c.n)
			w := make([]float32, c.d)
			for j := range w {
				w[j] = float32(c.size * rng.NormFloat64())
			}
			row := func(int) []float32 { return w }
			const span = 25 // rounds
			h := newHistory(b, []*Tile{tile}, 1, span, row)
			estimate, scored := make([]float32, c.n), make([]int, c.n)
			for i := range estimate {
				estimate[i] = numerics.Dot(x.Row(i), w)
			}
			longest, closest := euclidean(w), math.Inf(1)
			for round := 1; round < 60; round++ {
				changed := []int{0}
				if round%7 == 3 {
					changed = nil
				} else {
					for j := range w {
						w[j] += float32(c.change * c.size * rng.NormFloat64())
					}
				}
				longest = max(longest, euclidean(w))
				shifts, ok := h.Next(row, changed)
				if !ok || h.Round() != round {
					t.Fatal("no bound for moderate weights")
				}
				var coef []float32
				if changed != nil {
					coef = tile.Coef(shifts[0])
				}
				for i := range c.n {
					var sum float32
					for k := range coef {
						sum = numerics.FMA(coef[k], float32(tile.Q[k*c.n+i]), sum)
					}
					estimate[i] += sum
					score := numerics.Dot(x.Row(i), w)
					if scored[i] < h.Oldest() || rng.IntN(50) == 0 {
						estimate[i], scored[i] = score, round
					}
					slot := scored[i] % span
					miss := math.Abs(float64(score) - float64(estimate[i]))
					bound := float64(numerics.FMA(tile.Rho[i], h.Eta[slot], tile.Nu[i]*(h.Theta[slot]+h.Slack(0))))
					if miss > bound {
						t.Fatalf("example %d: the estimate is off by %g, the bound says %g", i, miss, bound)
					}
					if miss > 0 {
						closest = min(closest, bound/miss)
					}
					if most := c.share * float64(tile.Nu[i]) * longest; bound > most+1e-30 {
						t.Errorf("example %d: the bound is %g, at most %g was expected", i, bound, most)
					}
				}
			}
			t.Logf("the bound is at least %.2f times the error", closest)
		})
	}
}

// TestTile compares lengths with exact arithmetic.
func TestTile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := near(rng, 20, 50, 0.2)
	b, err := newBasis(x, 8)
	if err != nil {
		t.Fatal(err)
	}
	tile := b.Sketch(x.X, b.project(x), x.N)
	for i := range x.N {
		rest2, all2 := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)
		for j := range b.D {
			rest := new(big.Float).SetPrec(200).SetFloat64(float64(x.Row(i)[j]))
			all2.Add(all2, new(big.Float).Mul(rest, rest))
			for k := range b.K {
				term := new(big.Float).SetPrec(200).SetFloat64(float64(b.V[k*b.D+j]))
				term.Mul(term, big.NewFloat(float64(tile.Step[k])*float64(tile.Q[k*x.N+i])))
				rest.Sub(rest, term)
			}
			rest2.Add(rest2, new(big.Float).Mul(rest, rest))
		}
		rho, _ := rest2.Sqrt(rest2).Float64()
		nu, _ := all2.Sqrt(all2).Float64()
		if r := float64(tile.Rho[i]); r < rho || r > 1.01*rho+0.02*nu+1e-30 {
			t.Errorf("example %d: rho = %g, exactly %g", i, r, rho)
		}
		if v := float64(tile.Nu[i]); v < nu || v > 1.001*nu+1e-30 {
			t.Errorf("example %d: nu = %g, exactly %g", i, v, nu)
		}
	}
}

func TestOutOfRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := near(rng, 20, 50, 0.2)
	b, err := newBasis(x, 8)
	if err != nil {
		t.Fatal(err)
	}
	tile := b.Sketch(x.X, b.project(x), x.N)
	w := make([]float32, 50)
	row := func(int) []float32 { return w }
	h := newHistory(b, []*Tile{tile}, 1, 9, row)
	for _, v := range []float32{1e20, float32(math.Inf(1)), float32(math.NaN())} {
		w[3] = v
		if _, ok := h.Next(row, []int{0}); ok || h.Round() != 0 {
			t.Errorf("weights of %g are bounded", v)
		}
	}
	// Back in range, scores were infinite; when all are computed afresh they are not.
	h.Fresh(row, []int{0})
	w[3] = 1
	if _, ok := h.Next(row, []int{0}); ok || h.Round() != 1 {
		t.Error("scores of NaN weights are bounded")
	}
	h.Fresh(row, []int{0})
	w[3] = 2
	if _, ok := h.Next(row, []int{0}); !ok || h.Round() != 3 {
		t.Error("no bound for moderate weights after large ones")
	}
	// Weights that are moderate for examples of a moderate length.
	for i := range x.X {
		x.X[i] *= 1e30
	}
	if b, err = newBasis(x, 8); err != nil {
		t.Fatal(err)
	}
	tile = b.Sketch(x.X, b.project(x), x.N)
	w[3] = 1
	h = newHistory(b, []*Tile{tile}, 1, 9, row)
	w[3] = 1e8
	if _, ok := h.Next(row, []int{0}); ok || h.Round() != 0 {
		t.Error("scores that overflow are bounded")
	}
	w[3] = 1e2
	if _, ok := h.Next(row, []int{0}); !ok || h.Round() != 1 {
		t.Error("no bound for weights whose scores cannot overflow")
	}
	if _, err := newBasis(x, 51); err == nil {
		t.Error("51 directions of 50 features")
	}
}
