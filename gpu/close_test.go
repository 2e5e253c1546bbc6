//go:build cgo && !noopencl

package gpu

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// TestCloseUnderWay closes engines that still compute, on examples that a resident
// forgotten by its owner holds: nothing they read may be gone before they are done.
func TestCloseUnderWay(t *testing.T) {
	x := dataset.Examples{N: 4000, D: 300, X: make([]float32, 4000*300)}
	for k := range x.X {
		x.X[k] = float32(k % 7)
	}
	w := engine.NewWeights(20, x.D)
	eachDevice(t, func(i Info) {
		for range 5 {
			e := openTest(t, i, Options{}, build{})
			r, err := e.Load(x, nil, w.Q)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Rescore(w, sketch.All(w.Q)); err != nil { // which waits for nothing
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
