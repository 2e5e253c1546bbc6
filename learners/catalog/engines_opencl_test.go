//go:build cgo && !noopencl

package catalog_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// tile is an allocation that cuts the examples of learnertest, of 72 kB, in tiles.
const tile = 1 << 16

func init() {
	openers = append(openers, func(t *testing.T) (all []engine.Engine) {
		infos, err := gpu.Devices()
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range infos {
			for _, o := range []gpu.Options{{}, {MaxAlloc: tile}} {
				e, err := gpu.Open(i, o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { e.Close() })
				all = append(all, e)
			}
			x := dataset.Examples{N: 120, D: 150, X: make([]float32, 120*150)}
			plan, err := all[len(all)-1].Plan(x, make([]int32, x.N), 4)
			if err != nil || plan.Tiles < 2 {
				t.Fatalf("%s: examples like those of learnertest lie in %d tiles, %v; wanted 2 or more", i.ID(), plan.Tiles, err)
			}
		}
		return all
	})
}
