package means_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

// TestCover compares the traversal with a twin that
// knows all distances.
func TestCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	x := dataset.Examples{N: 300, D: 3}
	for range 300 * 3 {
		x.X = append(x.X, float32(rng.IntN(9))) // some examples are equal
	}
	linear := kernel.Function{Kind: kernel.Linear}
	for _, k := range []int{1, 2, 50, 299} {
		c, err := means.NewCover(t.Context(), simd.New(), x, linear, k, true, 4, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, near, of := []int{c.Rows[0]}, make([]float64, x.N), make([]int32, x.N)
		for at := 0; ; at++ {
			farthest := 0
			for i := range x.N {
				d := 0.0
				for j, v := range x.Row(i) {
					u := float64(v - x.Row(rows[at])[j])
					d += u * u
				}
				if at == 0 || d < near[i] {
					near[i], of[i] = d, int32(at)
				}
				if near[i] > near[farthest] {
					farthest = i
				}
			}
			if len(rows) == k || near[farthest] == 0 {
				break
			}
			rows = append(rows, farthest)
		}
		if !slices.Equal(c.Rows, rows) || !slices.Equal(c.Nearest, of) || !slices.Equal(c.Distances,
			near) {
			t.Errorf("%d centres: %v, %v by the twin", k, c.Rows, rows)
		}
	}
}
