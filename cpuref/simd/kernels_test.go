package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachKernel judges the kernels of every level of this machine against their
// twins in Go, with slices that end, and then begin, at a forbidden page.
func eachKernel(t *testing.T, f func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool)) {
	levels := assembly()
	// then Go's own level, whose table may be wrong, and which may read too far as well
	if len(levels) == 0 {
		levels = available()
	}
	for _, k := range levels {
		for _, atEnd := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/end=%v", k.level, atEnd), func(t *testing.T) {
				f(t, k, rand.New(rand.NewPCG(3, 5)), atEnd)
			})
		}
	}
}

// hard are float32 values that arithmetic likes to get wrong.
var hard = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -1.5, 0x1p-149, -0x1p-130,
	0x1p-70, 0x1p100, math.MaxFloat32}

func draw(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		if rng.IntN(20) == 0 {
			v[i] = hard[rng.IntN(len(hard))]
		}
	}
	return v
}

// equal compares bits; all NaN are one value.
func equal(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] ||
			want[i] == want[i]) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestDense(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for _, d := range []int{4, 5, 6, 7, 8, 15, 16, 17, 65, 254, 255, 256, 257, 258, 260, 511, 512,
			513, 517} {
			for at, n := range k.widths {
				v, blocks, step := dense{d: d}, 1+rng.IntN(3), (n+1)*lanes
				x := draw(rng, blocks*lanes*d)
				rows := make([][]float32, n)
				lines := make([]int, n)
				for c := range rows {
					rows[c] = draw(rng, d)
					lines[c] = (n - c) * lanes // line 0 is nobody's
				}
				rows[n-1], lines[n-1] = rows[0], lines[0] // as plan repeats a class
				w := make([]float32, v.packed(n))
				v.pack(w, rows)
				scores := draw(rng, blocks*step)
				want := slices.Clone(scores)
				denseGo(x, d, blocks, w, lines, want, step, 0, 0)
				gx, gw, got := guarded(t, x, atEnd), guarded(t, w, atEnd), guarded(t, scores, atEnd)
				k.dense[at](gx, d, blocks, gw, lines, got, step, 4*lanes*d, 256)
				what := fmt.Sprintf("d=%d, %d classes", d, n)
				equal(t, what, got, want)
				equal(t, what+": x", gx, x)
				equal(t, what+": w", gw, w)
			}
		}
	})
}

func TestSparse(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		const d = 1100
		for rows := 1; rows <= lanes; rows++ {
			for _, n := range []int{1, 2, 7, 8, 9, 16, 17, 20, 32} {
				at, found := slices.BinarySearch(k.sparseWidths, n)
				if at == len(k.sparse) || !found && !k.fewer {
					continue
				}
				starts, columns := []int64{0}, []int32{}
				for i := range rows {
					for j := range d {
						if i%5 != 3 && (rng.IntN(1+40*i) == 0 || j == d-1) {
							columns = append(columns, int32(j))
						}
					}
					starts = append(starts, int64(len(columns)))
				}
				values, w := draw(rng, len(columns)), draw(rng, d*n)
				want := make([]float32, rows*n)
				sparseGo(starts, columns, values, w, n, want)
				got := guarded(t, make([]float32, rows*n), atEnd)
				k.sparse[at](guarded(t, starts, atEnd), guarded(t, columns, atEnd), guarded(t, values, atEnd),
					guarded(t, w, atEnd), n, got)
				equal(t, fmt.Sprintf("%d rows, %d classes", rows, n), got, want)
			}
		}
	})
}

func TestRegion(t *testing.T) {
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1, 1, 2}
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for _, q := range []int{1, 2, 3, 10, 17} {
			for _, alpha := range []float32{0, 0.5, 1} {
				blocks := 1 + rng.IntN(4)
				scores := draw(rng, blocks*q*lanes)
				for i := range scores {
					if rng.IntN(3) == 0 {
						scores[i] = odd[rng.IntN(len(odd))]
					}
				}
				before := make([]int32, blocks*lanes)
				for i := range before {
					before[i] = int32(rng.IntN(2*q+1)) - 1
				}
				want, wantChanged := make([]int32, blocks*lanes), make([]uint16, blocks)
				regionGo(scores, q, alpha, before, want, wantChanged)
				got, gotChanged := guarded(t, make([]int32, blocks*lanes), atEnd), guarded(t,
					make([]uint16, blocks), atEnd)
				k.region(guarded(t, scores, atEnd), q, alpha, guarded(t, before, atEnd), got, gotChanged)
				if !slices.Equal(got, want) || !slices.Equal(gotChanged, wantChanged) {
					t.Fatalf("q=%d alpha=%v: %v %v, want %v %v", q, alpha, got, gotChanged, want, wantChanged)
				}
			}
		}
	})
}

func TestSums(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for n := range 40 {
			for _, scale := range []float32{1, 0x1p58, 0x1p-30} {
				x, sum := make([]float32, n), make([]int64, n)
				for j := range x {
					x[j] = float32(rng.IntN(64)-32) / 4 // ties
					if rng.IntN(3) == 0 {
						x[j] = float32(rng.NormFloat64())
					}
					sum[j] = rng.Int64() >> 4
				}
				for _, s := range []float32{scale, -scale} {
					got, want := guarded(t, sum, atEnd), slices.Clone(sum)
					k.add(got, guarded(t, x, atEnd), s, x)
					addGo(want, x, s, x)
					if !slices.Equal(got, want) {
						t.Fatalf("%d values at scale %v: %v, want %v", n, s, got, want)
					}
				}
			}
		}
	})
}

func TestUpdate(t *testing.T) {
	eachKernel(t, func(t *testing.T, k *kernels, rng *rand.Rand, atEnd bool) {
		for n := range 40 {
			src := make([]int64, n)
			for j := range src {
				src[j] = rng.Int64()>>rng.IntN(63) - 1<<rng.IntN(40) | 1<<rng.IntN(62)
			}
			want, got := make([]float32, n), guarded(t, make([]float32, n), atEnd)
			toFloatGo(want, src)
			k.toFloat(got, guarded(t, src, atEnd))
			equal(t, fmt.Sprintf("%d floats", n), got, want)
		}
		for _, labels := range []int{1, 2, 5, 17} {
			g, b, bt := draw(rng, labels*chunk), draw(rng, labels), draw(rng, labels*lanes)
			gg := guarded(t, g, atEnd)
			for columns := 1; columns <= chunk; columns += 1 + rng.IntN(9) {
				z := make([]float32, (columns+31)/32*32)
				got := guarded(t, z, atEnd)
				combineGo(z, g, b, 0x1.8p-20)
				k.combine(got, gg, guarded(t, b, atEnd), 0x1.8p-20)
				equal(t, fmt.Sprintf("combine %d columns, %d labels", columns, labels), got, z)
				norm := make([]float32, lanes)
				got = guarded(t, norm, atEnd)
				normsGo(g, columns, bt, 0x1.8p-20, norm)
				k.norms(gg, columns, guarded(t, bt, atEnd), 0x1.8p-20, got)
				equal(t, fmt.Sprintf("norms of %d columns, %d labels", columns, labels), got, norm)
			}
		}
	})
}
