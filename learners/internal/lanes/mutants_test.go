package lanes

import (
	"math"
	"testing"
)

// mutants are kernels broken as assembly could be. Each has to fail where the others pass.
var mutants = []struct {
	name   string
	damage func(k *kernels)
}{
	{"a chunk's sum goes on into the next chunk", func(k *kernels) {
		k.sparse = func(columns []int32, values, w, out []float32) {
			near := make([]int32, len(columns)) // all of one chunk
			few := make([]float32, len(columns)*len(out))
			for i, j := range columns {
				near[i] = int32(i)
				copy(few[i*len(out):], w[int(j)*len(out):(int(j)+1)*len(out)])
			}
			if len(near) > chunk {
				near = near[:chunk]
			}
			sparseGo(near, values[:len(near)], few, out)
		}
	}},
	{"lanes beyond 16 are not scored", func(k *kernels) {
		k.sparse = func(columns []int32, values, w, out []float32) {
			sparseGo(columns, values, w, out)
			clear(out[min(most, len(out)):])
		}
	}},
	{"lanes beyond 16 are not added to", func(k *kernels) {
		k.addSparse = func(columns []int32, values, w, tau []float32) {
			some := make([]float32, len(tau))
			copy(some, tau[:min(most, len(tau))])
			addSparseGo(columns, values, w, some)
		}
	}},
	{"-0 stays in the weights", func(k *kernels) {
		k.addSparse = func(columns []int32, values, w, tau []float32) {
			addSparseGo(columns, values, w, tau)
			for i, v := range w {
				if v == 0 {
					w[i] = float32(math.Copysign(0, -1))
				}
			}
		}
	}},
	{"products of sums are not rounded", func(k *kernels) {
		k.late = func(sums []float64, terms []term, x []float64) {
			for j := range sums {
				for _, e := range terms {
					sums[j] = math.FMA(e.t, x[e.at+j], sums[j])
				}
			}
		}
	}},
	{"products of sparse sums are not rounded", func(k *kernels) {
		k.lateSparse = func(columns []int32, values []float32, sums, by []float64) {
			for i, j := range columns {
				for r, b := range by {
					sums[int(j)*len(by)+r] = math.FMA(b, float64(values[i]), sums[int(j)*len(by)+r])
				}
			}
		}
	}},
	{"the last lanes have no sums", func(k *kernels) {
		k.lateSparse = func(columns []int32, values []float32, sums, by []float64) {
			some := make([]float64, len(by))
			copy(some, by[:len(by)/8*8])
			lateSparseGo(columns, values, sums, some)
		}
	}},
	{"the end of an example is not widened", func(k *kernels) {
		k.widen = func(dst []float64, src []float32) { widenGo(dst, src[:len(src)/4*4]) }
	}},
	{"the last term is left out", func(k *kernels) {
		k.late = func(sums []float64, terms []term, x []float64) { lateGo(sums, terms[:len(terms)-1], x) }
	}},
}

func TestMutantsAreCaught(t *testing.T) {
	judged := func(k *kernels) error {
		for _, q := range []int{5, 20} {
			if err := judge(k, q, 600); err != nil {
				return err
			}
		}
		return judgeLate(k, 20, 65)
	}
	if err := judged(&portable); err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		k := portable
		m.damage(&k)
		if judged(&k) == nil {
			t.Errorf("%s: not caught", m.name)
		}
	}
}
