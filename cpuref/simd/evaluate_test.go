package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

func TestWeighted(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for rows := 1; rows <= k.mostRows; rows++ {
			for _, columns := range []int{1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100} {
				examples := 1 + rng.IntN(numerics.Block)
				stride, step, width := columns+rng.IntN(3), (rows+rng.IntN(3))*lanes, columns+rng.IntN(3)
				x, a := draw(rng, (examples-1)*stride+columns), draw(rng, (examples-1)/lanes*step+rows*lanes)
				totals := draw(rng, (rows-1)*width+columns)
				want := slices.Clone(totals)
				weightedGo(x, stride, columns, examples, a, step, rows, want, width, 0, 0)
				gx, ga, got := guarded(t, x, atEnd), guarded(t, a, atEnd), guarded(t, totals, atEnd)
				k.weighted(gx, stride, columns, examples, ga, step, rows, got, width, 4*stride, 128)
				what := fmt.Sprintf("%d rows, %d columns, %d examples", rows, columns, examples)
				equal(t, what, got, want)
				equal(t, what+": x", gx, x)
				equal(t, what+": a", ga, a)
			}
		}
	})
}

func TestSpread(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for _, q := range []int{1, 2, 5, 17} {
			for blocks := range 4 {
				values, rows := draw(rng, (1+rng.IntN(5))*q), make([]int64, blocks*lanes)
				for i := range rows {
					rows[i] = int64(rng.IntN(len(values)/q) * q)
				}
				want, got := make([]float32, len(rows)*q), guarded(t, make([]float32, len(rows)*q), atEnd)
				spreadGo(want, q, values, rows)
				k.spread(got, q, guarded(t, values, atEnd), guarded(t, rows, atEnd))
				equal(t, fmt.Sprintf("%d classes, %d blocks", q, blocks), got, want)
			}
		}
	})
}

// Scores and targets of every size, some of them ending in a refusal.
func TestResiduals(t *testing.T) {
	inf := float32(math.Inf(1))
	odd := []float32{inf, -inf, float32(math.NaN()), math.MaxFloat32, -math.MaxFloat32, 0x1p15,
		-0x1p14}
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		refusals, accepted := 0, 0
		for _, q := range []int{1, 2, 3, 10, 33} {
			for blocks := range 4 {
				for _, size := range []float32{0.01, 1, 30, 100, 0x1p14} {
					n := blocks * q * lanes
					scores, targets, weight := draw(rng, n), draw(rng, n), make([]float32, blocks*lanes)
					for i := range scores {
						scores[i] *= size
						if rng.IntN(20*q) == 0 {
							scores[i] = odd[rng.IntN(len(odd))]
						}
						switch rng.IntN(4 * q) {
						case 0:
							targets[i] = -inf
						case 1:
							targets[i] = odd[3+rng.IntN(len(odd)-3)] // SetTargets refuses the others
						}
					}
					for i := range weight {
						weight[i] = []float32{0, 1, rng.Float32()}[rng.IntN(3)]
					}
					for _, kind := range []struct {
						name         string
						kernel, twin residualKernel
					}{{"posterior", k.posterior, posteriorGo}, {"given", k.given, givenGo}} {
						a, losses, refused := draw(rng, n), draw(rng, blocks*lanes), make([]uint16, blocks)
						gotA, gotLosses, gotRefused := guarded(t, a, atEnd), guarded(t, losses, atEnd), guarded(t,
							refused, atEnd)
						gs, gw := guarded(t, scores, atEnd), guarded(t, weight, atEnd)
						if kind.name == "given" {
							for i, v := range targets {
								targets[i] = max(v, -math.MaxFloat32)
							}
						}
						kind.kernel(gs, q, guarded(t, targets, atEnd), gotA, gw, gotLosses, gotRefused)
						kind.twin(scores, q, slices.Clone(targets), a, weight, losses, refused)
						what := fmt.Sprintf("%s, %d classes, scores of %v", kind.name, q, size)
						if !slices.Equal(gotRefused, refused) {
							t.Fatalf("%s: refused %016b, want %016b", what, gotRefused, refused)
						}
						equal(t, what+": residuals", gotA, a)
						equal(t, what+": losses", gotLosses, losses)
						equal(t, what+": scores", gs, scores)
						equal(t, what+": weight", gw, weight)
						for i := range weight {
							if refused[i/lanes]>>(i%lanes)&1 == 1 {
								refusals++
							} else {
								accepted++
							}
						}
					}
				}
			}
		}
		if refusals < 500 || accepted < 500 {
			t.Errorf("%d refused and %d accepted, wanted many of both", refusals, accepted)
		}
	})
}

func TestColumnSums(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		const n = 1100
		for columns := range int32(12) {
			runs, rows := []int32{}, []int32{}
			for range columns * 3 {
				size := 1 + rng.IntN(1<<rng.IntN(9))
				runs = append(runs, int32(size), rng.Int32N(columns))
				for range size {
					rows = append(rows, rng.Int32N(n))
				}
			}
			values := make([]float32, len(rows))
			for i := range values {
				values[i] = float32(rng.NormFloat64())
			}
			for at, sums := range k.columnSums {
				width := (at + 1) * lanes
				a := make([]float32, n*width)
				for i := range a {
					a[i] = 2*rng.Float32() - 1
				}
				for _, scale := range []float32{1, 0x1p45, 0x1p-30} {
					want := make([]int64, int(columns)*width)
					for i := range want {
						want[i] = rng.Int64N(100)
					}
					got := guarded(t, slices.Clone(want), atEnd)
					columnSumsGo(width)(runs, rows, values, a, scale, want)
					sums(guarded(t, runs, atEnd), guarded(t, rows, atEnd), guarded(t, values, atEnd),
						guarded(t, a, atEnd), scale, got)
					if !slices.Equal(got, want) {
						t.Fatalf("%d columns of %d rows at scale %v: %v, want %v", columns, width, scale, got, want)
					}
				}
			}
		}
	})
}
