package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Benchmark measures each operation of an engine apart, the transfer of the
// examples apart from the work on them. GB/s counts the bytes of x that an
// operation has to read, whatever it really reads.
func Benchmark(b *testing.B, e engine.Engine) {
	for _, s := range []struct{ n, d, q int }{{4096, 64, 10}, {20000, 17, 26}, {20000, 784, 10}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/Q=%d", s.n, s.d, s.q), func(b *testing.B) {
			benchmark(b, e, s.n, s.d, s.q)
		})
	}
}

func benchmark(b *testing.B, e engine.Engine, n, d, q int) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for i := range x.X {
		x.X[i] = float32(rng.NormFloat64())
	}
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(rng.IntN(q))
	}
	inv := make([]float32, q*q)
	for i := range inv {
		inv[i] = float32(rng.NormFloat64())
	}
	ws := [2]engine.Weights{engine.NewWeights(q, d), engine.NewWeights(q, d)}
	for i := range ws[0].W {
		ws[0].W[i] = float32(rng.NormFloat64())
		ws[1].W[i] = ws[0].W[i] * float32(1+0.05*rng.NormFloat64())
	}
	all := make([]int, q)
	for i := range all {
		all[i] = i
	}
	r, err := e.LoadCells(x, y, q, numerics.FixedPoint{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	must(r.Rescore(ws[0], all))
	_, err = r.Assign(0)
	must(err)

	// measure reports f's rate; bytes is what one call reads of the examples. A
	// read of one score at the end makes an engine that queues its work finish.
	one := make([]float32, q)
	measure := func(name string, bytes int, f func(b *testing.B, i int)) {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				f(b, i)
			}
			must(r.Scores(one, 0, 1))
			s := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(float64(n)/s, "examples/s")
			if bytes > 0 {
				b.ReportMetric(float64(bytes)/s/1e9, "GB/s")
			}
		})
	}
	pass := 4 * n * d
	measure("load", pass, func(*testing.B, int) {
		r, err := e.LoadCells(x, y, q, numerics.FixedPoint{})
		must(err)
		must(r.Close())
	})
	measure("rescore2", pass, func(*testing.B, int) { must(r.Rescore(ws[0], all[:2])) })
	measure("rescoreQ", pass, func(*testing.B, int) { must(r.Rescore(ws[0], all)) })
	pred := make([]int32, n)
	measure("predict", 0, func(*testing.B, int) { must(r.Predict(pred)) })
	measure("assign-still", 0, func(*testing.B, int) { _, err := r.Assign(0); must(err) })
	z, norms := make([]float32, d), make([]float32, q*q)
	// All of them: an engine may remember the norms of one inverse.
	other := slices.Clone(inv)
	slices.Reverse(other)
	measure("norms", 0, func(_ *testing.B, i int) {
		must(r.Norms(norms, [][]float32{inv, other}[i%2]))
	})
	measure("update-vector", 0, func(*testing.B, int) {
		must(r.UpdateVectors(z, []engine.Pair{{P: 0, Q: 1}}, inv))
	})
	// A step as a learner takes it: two classes changed a little, some examples move.
	measure("step", pass, func(_ *testing.B, i int) {
		must(r.Rescore(ws[(i+1)%2], all[:2]))
		_, err := r.Assign(0)
		must(err)
		must(r.Norms(norms, inv))
		must(r.UpdateVectors(z, []engine.Pair{{P: 0, Q: 1}}, inv))
	})
	// The first assignment puts every example into a cell.
	measure("assign-all", pass, func(b *testing.B, _ int) {
		b.StopTimer()
		r, err := e.LoadCells(x, y, q, numerics.FixedPoint{})
		must(err)
		must(r.Rescore(ws[0], all))
		must(r.Scores(one, 0, 1))
		b.StartTimer()
		_, err = r.Assign(0)
		must(err)
		must(r.Scores(one, 0, 1)) // waits for the sums as well
		b.StopTimer()
		must(r.Close())
		b.StartTimer()
	})
}
