package shard_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// BenchmarkUpdate measures the work of an UMA step on class sums on the host: the norms and the
// vectors of all pairs of ten classes of 784 features; each assignment moves an example.
func BenchmarkUpdate(b *testing.B) {
	const n, d, q = 200, 784, 10
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	y, inverse := make([]int32, n), make([]float32, q*q)
	for i := range x.X {
		x.X[i] = float32(i*7919%1009) / 1009
	}
	var pairs []engine.Pair
	for i := range n {
		y[i] = int32(i % q)
	}
	for i := range inverse {
		inverse[i] = float32(i%13) / 13
		pairs = append(pairs, engine.Pair{P: i / q, Q: i % q})
	}
	for name, e := range map[string]*engine.Engine{
		"simd": simd.New(), "shards": together(b, nil, simd.NewDriver(), simd.NewDriver()),
	} {
		b.Run(name, func(b *testing.B) {
			r, err := e.LoadCells(x, y, q, numerics.FixedPoint{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			w, classes := engine.NewWeights(q, d), make([]int, q)
			for k := range q {
				classes[k] = k
			}
			norms, z := make([]float32, q*q), make([]float32, q*q*d)
			for i := range b.N {
				for j := range w.W {
					w.W[j] = float32((j+i)*6101%997) / 997
				}
				b.StopTimer()
				if err := r.Rescore(w, classes); err != nil {
					b.Fatal(err)
				}
				if _, err := r.Assign(0); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := r.Norms(norms, inverse); err != nil {
					b.Fatal(err)
				}
				if err := r.UpdateVectors(z, pairs, inverse); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
