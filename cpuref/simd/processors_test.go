package simd

import (
	"runtime"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// The number of processors changes between two tasks that share out the columns of the
// class sums, as Go changes it whenever a container is given more or fewer.
func TestProcessorsChangeWhileSumsMove(t *testing.T) {
	const n, d, q = 3, 4 * moveColumns, 2
	x, y := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}, make([]int32, n)
	for k := range x.X {
		x.X[k] = float32(1 + k%7)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	changing := portable
	changing.add = func(sum []int64, x []float32, scale float32, next []float32) {
		runtime.GOMAXPROCS(4)
		portable.add(sum, x, scale, next)
	}
	sums := func(e *engine.Engine) []int64 {
		r, err := e.LoadCells(x, y, q, numerics.FixedPoint{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Assign(0); err != nil {
			t.Fatal(err)
		}
		all := make([]int64, q*d)
		if err := r.ClassSums(all, 0); err != nil {
			t.Fatal(err)
		}
		return all
	}
	want, got := sums(cpuref.New()), sums(engine.New(&processor{k: &changing}))
	for k := range want {
		if got[k] != want[k] {
			t.Fatalf("class sum [0][%d], column %d, is %d, want %d", k/d, k%d, got[k], want[k])
		}
	}
}
