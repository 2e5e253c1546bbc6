package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestProduct(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for _, columns := range []int{1, 2, 17, 255, 256} {
			for blocks := range 3 {
				rows, stride, step := productRows*blocks, columns+rng.IntN(3), productColumns+rng.IntN(3)
				x, w := draw(rng, max(0, (rows-1)*stride+columns)), draw(rng, columns*productColumns)
				totals := draw(rng, max(0, (rows-1)*step+productColumns))
				gx, gw := guarded(t, x, atEnd), guarded(t, w, atEnd)
				for _, first := range []bool{true, false} {
					want, got := slices.Clone(totals), guarded(t, totals, atEnd)
					productGo(x, stride, blocks, columns, w, want, step, first)
					k.product(gx, stride, blocks, columns, gw, got, step, first)
					what := fmt.Sprintf("%d columns, %d blocks, first %v", columns, blocks, first)
					equal(t, what, got, want)
					equal(t, what+": x", gx, x)
					equal(t, what+": w", gw, w)
				}
			}
		}
	})
}

// The arguments of the exponential are all of its range here, and its ends exactly.
func TestKernelValues(t *testing.T) {
	inf := float32(math.Inf(1))
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for n := 0; n <= 96; n += lanes {
			for _, gamma := range []float32{1, 0.01, 40, 0x1p-149, math.MaxFloat32} {
				values, yy := draw(rng, n), draw(rng, n)
				for l := range yy {
					yy[l] = float32(rng.Float64() * 90)
					if rng.IntN(10) == 0 {
						yy[l] = []float32{0x1.5d589ep6, math.Nextafter32(0x1.5d589ep6, inf), 0, inf,
							0x1p-149}[rng.IntN(5)]
						values[l] = []float32{0, inf, -inf, 1}[rng.IntN(4)]
					}
				}
				for _, xx := range []float32{0, 2.5, inf} {
					want, got := slices.Clone(values), guarded(t, values, atEnd)
					rbfGo(want, xx, gamma, yy)
					k.rbf(got, xx, gamma, guarded(t, yy, atEnd))
					equal(t, fmt.Sprintf("rbf of %d, gamma %v", n, gamma), got, want)
				}
			}
		}
	})
}
