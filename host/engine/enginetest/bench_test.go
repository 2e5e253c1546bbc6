package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// rates are what one call of a benchmark gets through: multiply-adds of products, and bytes
// of examples that it has to read, whatever an engine reads.
type rates struct{ terms, bytes int }

// measure reports the rates of f's fastest call: two operations of GFLOP/s for each term.
func measure(b *testing.B, name string, r rates, f func() error) {
	b.Run(name, func(b *testing.B) {
		call := func() {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
		call() // some drivers compile when a kernel is first used
		best := time.Hour
		for b.Loop() {
			start := time.Now()
			call()
			best = min(best, time.Since(start))
		}
		s := best.Seconds()
		b.ReportMetric(1e3*s, "ms-best")
		b.ReportMetric(2*float64(r.terms)/s/1e9, "GFLOP/s")
		if r.bytes > 0 {
			b.ReportMetric(float64(r.bytes)/s/1e9, "GB/s")
		}
	})
}

// each runs f on the fastest engine for processors and, in a build with OpenCL, on each device.
func each(b *testing.B, f func(b *testing.B, e *engine.Engine)) {
	b.Run("cpu", func(b *testing.B) { f(b, simd.New()) })
	if !gpu.Built {
		return
	}
	infos, err := gpu.Devices()
	if err != nil {
		b.Fatal(err)
	}
	for _, i := range infos {
		b.Run(i.ID(), func(b *testing.B) {
			e, err := gpu.Open(i, gpu.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			f(b, e)
		})
	}
}

func BenchmarkEvaluate(b *testing.B) { each(b, evaluate) }
func BenchmarkProject(b *testing.B)  { each(b, project) }

// evaluate measures evaluations, and weighted sums alone, of dense examples and of sparse ones as
// large as texts. Terms count the products of stored values and classes in scores and weighted
// sums; the columns of stored values are read too.
func evaluate(b *testing.B, e *engine.Engine) {
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
			x := drawTexts(rng, s.n, s.d, s.stored)
			r, err := e.LoadEvaluator(x, s.q, numerics.FixedPoint{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			if err := r.SetTargets(labels(rng, s.n, s.q)); err != nil {
				b.Fatal(err)
			}
			w, a, sums := engine.NewWeights(s.q, s.d), make([]float32, s.n*s.q), make([]int64, s.q*s.d)
			draw(rng, w.W, func(*rand.Rand) float32 { return float32(0.1 * rng.NormFloat64()) })
			draw(rng, a, func(*rand.Rand) float32 { return 2*rng.Float32() - 1 })
			terms, bytes := x.Size()*s.q, 4*x.Size()
			if x.Sparse() {
				bytes *= 2
			}
			measure(b, "evaluate", rates{2 * terms, bytes}, func() error {
				_, err := r.Evaluate(sums, w)
				return err
			})
			measure(b, "weighted-sums", rates{terms, bytes}, func() error {
				return r.WeightedSums(sums, a)
			})
		})
	}
}

// drawTexts draws n examples. If they have less than d values stored, those are in
// columns that are the rarer the higher they are, as words are; a few less where one is
// drawn twice.
func drawTexts(rng *rand.Rand, n, d, stored int) dataset.Examples {
	if stored == d {
		return drawExamples(rng, n, d, around0)
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

func around0(r *rand.Rand) float32 { return r.Float32() - 0.5 }

// project measures projections of the sizes that kernel PCA has. It compares with
// a matrix product of the same sizes, or with two of them one after the other.
func project(b *testing.B, e *engine.Engine) {
	for _, s := range []struct {
		f             kernel.Function
		n, d, m, axes int
	}{
		{linear, 16000, 17, 4000, 0},
		{linear, 16000, 64, 4000, 0},
		{linear, 16000, 784, 4000, 0},
		{linear, 8000, 4000, 1600, 0}, // the second product alone
		{gauss, 16000, 17, 4000, 1600},
		{gauss, 5620, 64, 3823, 640},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var x, axes dataset.Examples
		p := engine.Projection{Function: s.f}
		name := fmt.Sprintf("%s/n=%d/d=%d/m=%d/axes=%d", s.f.Kind, s.n, s.d, s.m, s.axes)
		var dst []float32
		measure(b, name, rates{terms: s.n * s.m * (s.d + s.axes)}, func() error {
			if dst == nil {
				x, axes = drawExamples(rng, s.n, s.d, around0), drawExamples(rng, s.axes, s.m, around0)
				p.Landmarks = drawExamples(rng, s.m, s.d, around0)
				if s.axes > 0 {
					p.Axes = engine.Weights{Q: s.axes, D: s.m, W: axes.X}
				}
				dst = make([]float32, s.n*p.Width())
			}
			return e.Project(dst, x, p)
		})
	}
}
