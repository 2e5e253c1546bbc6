package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// BenchmarkEvaluate measures evaluations, and weighted sums alone, of dense examples and of
// sparse ones of the sizes of texts. GFLOP/s counts two operations for each term of the
// products of stored values and classes, scores and weighted sums, and nothing for
// residuals; GB/s counts one reading of the stored values and their columns, whatever an
// engine reads. Both, and ms-best, are of the fastest run.
func BenchmarkEvaluate(b *testing.B, e engine.Engine) {
	for _, s := range []struct{ n, d, q, stored int }{
		{60000, 784, 3, 784}, {60000, 784, 10, 784}, {60000, 784, 26, 784}, {20000, 784, 200, 784},
		{3823, 65, 10, 65}, {15000, 17, 26, 17},
		{5664, 19767, 9, 44}, {6532, 21967, 52, 42}, {11314, 44577, 20, 85}, {5000, 21967, 200, 42},
	} {
		form := "dense"
		if s.stored < s.d {
			form = "sparse"
		}
		b.Run(fmt.Sprintf("%s/n=%d/d=%d/Q=%d", form, s.n, s.d, s.q), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			x := benchmarkExamples(rng, s.n, s.d, s.stored)
			r, err := e.LoadEvaluator(x, s.q, numerics.FixedPoint{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			if err := r.SetTargets(drawLabels(rng, s.n, s.q)); err != nil {
				b.Fatal(err)
			}
			w, a, sums := engine.NewWeights(s.q, s.d), make([]float32, s.n*s.q), make([]int64, s.q*s.d)
			for k := range w.W {
				w.W[k] = float32(0.1 * rng.NormFloat64())
			}
			for k := range a {
				a[k] = 2*rng.Float32() - 1
			}
			terms := x.Size() * s.q
			b.Run("evaluate", func(b *testing.B) {
				benchmarkBest(b, x, 2*terms, func() error { _, err := r.Evaluate(sums, w); return err })
			})
			b.Run("weighted-sums", func(b *testing.B) {
				benchmarkBest(b, x, terms, func() error { return r.WeightedSums(sums, a) })
			})
		})
	}
}

// benchmarkBest measures f, which multiplies and adds so many terms.
func benchmarkBest(b *testing.B, x dataset.Examples, terms int, f func() error) {
	run := func() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	run() // some drivers compile when a kernel is first used
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		run()
		best = min(best, time.Since(start))
	}
	s, bytes := best.Seconds(), 4*x.Size()
	if x.Sparse() {
		bytes *= 2
	}
	b.ReportMetric(1e3*s, "ms-best")
	b.ReportMetric(2*float64(terms)/s/1e9, "GFLOP/s")
	b.ReportMetric(float64(bytes)/s/1e9, "GB/s")
}

// benchmarkExamples draws n examples. If they have less than d values stored, those are in
// columns that are the rarer the higher they are, as words are; about so many, since one may
// be drawn twice.
func benchmarkExamples(rng *rand.Rand, n, d, stored int) dataset.Examples {
	if stored == d {
		x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		for k := range x.X {
			x.X[k] = rng.Float32() - 0.5
		}
		return x
	}
	x := dataset.Examples{N: n, D: d, Starts: []int64{0}}
	row := make([]int32, stored)
	for range n {
		for k := range row {
			row[k] = int32(min(d-1, int(math.Pow(float64(d), rng.Float64()))))
		}
		slices.Sort(row)
		for _, j := range slices.Compact(row) {
			x.Columns, x.Values = append(x.Columns, j), append(x.Values, rng.Float32())
		}
		x.Starts = append(x.Starts, int64(len(x.Values)))
	}
	return x
}
