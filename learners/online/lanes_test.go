package online

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// values are of all sizes, 0, -0 and subnormal ones too.
func values(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		switch rng.IntN(6) {
		case 0:
			v[i] = float32(math.Copysign(0, rng.Float64()-0.5))
		case 1:
			v[i] = float32(rng.NormFloat64() * 1e-25)
		default:
			v[i] = float32(rng.NormFloat64())
		}
	}
	return v
}

// agrees says whether kernels have the bits of their twins in Go for examples of all sizes around
// what assembly could like, dense and sparse. The twins are compared with plain loops by judge.
func agrees(k *kernels) bool {
	for _, lanes := range []int{8, 16, 24, 40} {
		for _, d := range []int{1, 7, 255, 256, 257, 512, 784, 1300} {
			rng := rand.New(rand.NewPCG(uint64(lanes), uint64(d)))
			var columns []int32
			for j := range d {
				if lanes == 16 || rng.IntN(3) == 0 {
					columns = append(columns, int32(j))
				}
			}
			x, tau := values(rng, len(columns)), values(rng, lanes)
			w, sums, by := values(rng, d*lanes), make([]float64, d*lanes), make([]float64, lanes)
			for i, v := range w {
				sums[i] = float64(v) * rng.Float64()
			}
			for r, v := range tau {
				by[r] = 1000 * float64(v)
			}
			own, ownSums, out, ownOut := slices.Clone(w), slices.Clone(sums), make([]float32, lanes),
				make([]float32, lanes)
			portable.dots(columns, x, w, out)
			k.dots(columns, x, own, ownOut)
			portable.add(columns, x, w, tau)
			k.add(columns, x, own, tau)
			portable.late(columns, x, sums, by)
			k.late(columns, x, ownSums, by)
			if !slices.EqualFunc(slices.Concat(out, w), slices.Concat(ownOut, own), sameBits) ||
				!slices.Equal(sums, ownSums) {
				return false
			}
		}
	}
	return true
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

func TestKernels(t *testing.T) {
	for _, k := range available() {
		if !agrees(k) {
			t.Errorf("%s has other bits than Go", k.level)
		}
	}
}

// Kernels broken as assembly could be are caught.
func TestKernelMutants(t *testing.T) {
	for name, damage := range map[string]func(k *kernels){
		"a chunk's sum goes on into the next chunk": func(k *kernels) {
			k.dots = func(columns []int32, values, w, out []float32) {
				near, few := make([]int32, len(columns)), make([]float32, len(columns)*len(out))
				for i, j := range columns {
					near[i] = int32(i) // all of one chunk, as far as it goes
					copy(few[i*len(out):], w[int(j)*len(out):(int(j)+1)*len(out)])
				}
				dotsGo(near, values, few, out)
			}
		},
		"lanes beyond 16 are not scored": func(k *kernels) {
			k.dots = func(columns []int32, values, w, out []float32) {
				dotsGo(columns, values, w, out)
				clear(out[min(16, len(out)):])
			}
		},
		"the last lanes are not added to": func(k *kernels) {
			k.add = func(columns []int32, values, w, tau []float32) {
				some := make([]float32, len(tau))
				copy(some, tau[:len(tau)/16*16])
				addGo(columns, values, w, some)
			}
		},
		"-0 stays in the weights": func(k *kernels) {
			k.add = func(columns []int32, values, w, tau []float32) {
				addGo(columns, values, w, tau)
				for i, v := range w {
					if v == 0 {
						w[i] = float32(math.Copysign(0, -1))
					}
				}
			}
		},
		"products of sums are not rounded": func(k *kernels) {
			k.late = func(columns []int32, values []float32, sums, by []float64) {
				for i, j := range columns {
					for r, b := range by {
						sums[int(j)*len(by)+r] = math.FMA(b, float64(values[i]), sums[int(j)*len(by)+r])
					}
				}
			}
		},
		"the last lanes have no sums": func(k *kernels) {
			k.late = func(columns []int32, values []float32, sums, by []float64) {
				some := make([]float64, len(by))
				copy(some, by[:len(by)-4])
				lateGo(columns, values, sums, some)
			}
		},
	} {
		k := portable
		damage(&k)
		if agrees(&k) {
			t.Errorf("%s: not caught", name)
		}
	}
}
