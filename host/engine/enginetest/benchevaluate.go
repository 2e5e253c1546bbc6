package enginetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// BenchmarkEvaluate measures evaluations, dense and sparse, and weighted sums alone. GFLOP/s
// counts two operations for each term of a dot product and of a weighted sum, and nothing for
// residuals; GB/s counts the bytes of one reading of x, whatever an engine reads.
func BenchmarkEvaluate(b *testing.B, e engine.Engine) {
	for _, s := range []struct {
		n, d, q int
		stored  float64 // about the share of values that are not 0; 1 for dense examples
	}{
		{20000, 17, 26, 1},
		{20000, 64, 10, 1},
		{20000, 784, 10, 1},
		{5000, 784, 100, 1},
		{20000, 10000, 20, 0.005},
		{20000, 784, 10, 0.2},
	} {
		b.Run(fmt.Sprintf("n=%d/d=%d/Q=%d/stored=%v", s.n, s.d, s.q, s.stored), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			x := benchmarkExamples(rng, s.n, s.d, s.stored)
			w := engine.NewWeights(s.q, s.d)
			for k := range w.W {
				w.W[k] = float32(0.1 * rng.NormFloat64())
			}
			a := make([]float32, s.n*s.q)
			for k := range a {
				a[k] = 2*rng.Float32() - 1
			}
			r, err := e.LoadEvaluator(x, s.q, numerics.FixedPoint{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			if err := r.Aim(drawLabels(rng, s.n, s.q)); err != nil {
				b.Fatal(err)
			}
			sums := make([]int64, s.q*s.d)
			terms, bytes := 2*s.n*s.d*s.q, 4*s.n*s.d
			if x.Sparse() {
				terms, bytes = 2*len(x.Values)*s.q, 8*len(x.Values)
			}
			for _, m := range []struct {
				name  string
				terms int
				f     func() error
			}{
				{"evaluate", 2 * terms, func() error { _, err := r.Evaluate(sums, w); return err }},
				{"weighted-sums", terms, func() error { return r.WeightedSums(sums, a) }},
			} {
				b.Run(m.name, func(b *testing.B) {
					for b.Loop() {
						if err := m.f(); err != nil {
							b.Fatal(err)
						}
					}
					s := b.Elapsed().Seconds() / float64(b.N)
					b.ReportMetric(float64(m.terms)/s/1e9, "GFLOP/s")
					b.ReportMetric(float64(bytes)/s/1e9, "GB/s")
				})
			}
		})
	}
}

// benchmarkExamples draws n examples of d features, sparse if not all values are stored.
func benchmarkExamples(rng *rand.Rand, n, d int, stored float64) dataset.Examples {
	if stored == 1 {
		x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		for k := range x.X {
			x.X[k] = float32(rng.NormFloat64())
		}
		return x
	}
	x := dataset.Examples{N: n, D: d, Starts: []int64{0}}
	for range n {
		for j := int(rng.ExpFloat64() / stored); j < d; j += 1 + int(rng.ExpFloat64()/stored) {
			x.Columns = append(x.Columns, int32(j))
			x.Values = append(x.Values, float32(rng.NormFloat64()))
		}
		x.Starts = append(x.Starts, int64(len(x.Values)))
	}
	return x
}
