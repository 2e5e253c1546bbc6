//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// BenchmarkStreamed compares examples that lie on the device with streamed ones, which are three
// times larger than its memory limit.
func BenchmarkStreamed(b *testing.B) {
	const n, d, q = 60000, 784, 10
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for j := range x.X {
		x.X[j] = float32(j%255) / 255
	}
	w := engine.NewWeights(q, d)
	eachDevice(b, func(i Info) {
		for _, c := range []struct {
			name  string
			limit int64
		}{{"resident", 0}, {"streamed", 4 * n * d / 3}} {
			b.Run(i.ID()+"/"+c.name, func(b *testing.B) {
				r, err := openTest(b, i, Options{MemoryLimit: c.limit}, build{
					guard: noGuard}).Load(x, q)
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close()
				score := make([]float32, q)
				b.SetBytes(4 * n * d)
				for b.Loop() {
					if err := errors.Join(r.Rescore(w, []int{0, 1}), r.Scores(score, 0, 1)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
