package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Unmix gives what its formula does, of noise with and without zeros and equal entries.
func TestUnmixEqualsFormula(t *testing.T) {
	const n, q = 40, 7
	rng := rand.New(rand.NewPCG(5, 5))
	for _, zeros := range []float64{0, 0.5, 1} {
		noise, p := make([]float64, q*q), make([]float32, 0, n*q)
		for k := range q {
			sum := 0.0
			for y := range q {
				v := rng.Float64()
				if y != k && rng.Float64() < zeros {
					v = 0.01 * float64(k%2)
				}
				noise[y*q+k] = v
				sum += v
			}
			for y := range q {
				noise[y*q+k] /= sum
			}
		}
		for range n {
			row, sum := make([]float32, q), float32(0)
			for k := range row {
				row[k] = max(0, rng.Float32()-0.3)
				sum += row[k]
			}
			for k := range row {
				row[k] /= sum
			}
			p = append(p, row...)
		}
		got := slices.Clone(p)
		Unmix(t.Context(), got, noise, q)
		for i := range n {
			truth := slices.Repeat([]float64{1. / q}, q)
			for range unmixRounds {
				next := make([]float64, q)
				for y, v := range p[i*q : (i+1)*q] {
					sum := 0.0
					for k, f := range truth {
						sum += noise[y*q+k] * f
					}
					for k, f := range truth {
						if sum > 0 {
							next[k] += float64(v) * noise[y*q+k] * f / sum
						}
					}
				}
				truth = next
			}
			sum := lists.Sum(truth)
			for k, f := range truth {
				if v := float64(got[i*q+k]); math.Abs(v-f/sum) > 1e-6 {
					t.Fatalf("zeros %v, example %d, class %d: got %v, want %v", zeros, i, k, v, f/sum)
				}
			}
		}
	}
}
