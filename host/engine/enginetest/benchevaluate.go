package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// BenchmarkEvaluate measures evaluations of dense examples and of sparse ones of the sizes of
// texts. GFLOP/s counts two operations for each term of the two products of stored values
// and classes, scores and weighted sums, and nothing for the softmax; GB/s counts one
// reading of the stored values and their columns, whatever is really read. Both are of the
// fastest evaluation.
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
			x := drawExamples(rng, s.n, s.d, s.stored)
			benchmarkEvaluate(b, e, rng, x, s.q)
		})
	}
}

// drawExamples draws n examples. If they have less than d stored values, those are in columns
// that are the rarer the higher they are, as words are.
func drawExamples(rng *rand.Rand, n, d, stored int) dataset.Examples {
	if stored == d {
		x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		for k := range x.X {
			x.X[k] = rng.Float32() - 0.5
		}
		return x
	}
	x := dataset.Examples{N: n, D: d, Starts: []int64{0}}
	in := make([]int, d) // the last example, counted from 1, that has a value in a column
	for i := range n {
		for range stored {
			in[min(d-1, int(math.Pow(float64(d), rng.Float64())))] = i + 1
		}
		for j, last := range in {
			if last == i+1 {
				x.Columns, x.Values = append(x.Columns, int32(j)), append(x.Values, rng.Float32())
			}
		}
		x.Starts = append(x.Starts, int64(len(x.Values)))
	}
	return x
}

func benchmarkEvaluate(b *testing.B, e engine.Engine, rng *rand.Rand, x dataset.Examples, q int) {
	t := engine.Targets{Values: make([]float32, q*q), Row: make([]int32, x.N)}
	for k := range t.Values {
		t.Values[k] = float32(-rng.ExpFloat64())
	}
	for i := range t.Row {
		t.Row[i] = int32(rng.IntN(q))
	}
	w := engine.NewWeights(q, x.D)
	for k := range w.W {
		w.W[k] = 0.1 * float32(rng.NormFloat64())
	}
	v, err := e.LoadEvaluator(x, q, numerics.FixedPoint{})
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	if err := v.Aim(t); err != nil {
		b.Fatal(err)
	}
	sums := make([]int64, q*x.D)
	evaluate := func() {
		if _, err := v.Evaluate(sums, w); err != nil {
			b.Fatal(err)
		}
	}
	evaluate() // some drivers compile when a kernel is first used
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		evaluate()
		best = min(best, time.Since(start))
	}
	s, bytes := best.Seconds(), 4*x.Stored()
	if x.Sparse() {
		bytes *= 2
	}
	b.ReportMetric(1e3*s, "ms-best")
	b.ReportMetric(4*float64(x.Stored())*float64(q)/s/1e9, "GFLOP/s")
	b.ReportMetric(float64(bytes)/s/1e9, "GB/s")
}
