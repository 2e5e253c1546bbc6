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
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// rates are what one call of a benchmark gets through: multiply-adds of products, and bytes
// of examples that it has to read, whatever an engine reads.
type rates struct{ terms, bytes int }

// measure reports rates of f's fastest call: two operations of GFLOP/s for each term. If f returns
// before the work is done, finish waits for it, and rates are of the mean.
func measure(b *testing.B, name string, r rates, finish func() error, f func(call int) error) {
	b.Run(name, func(b *testing.B) {
		try := func(err error) {
			if err != nil {
				b.Fatal(err)
			}
		}
		try(f(0)) // some drivers compile when a kernel is first used
		b.ResetTimer()
		best := time.Hour
		for call := range b.N {
			start := time.Now()
			try(f(call))
			best = min(best, time.Since(start))
		}
		s := best.Seconds()
		if finish != nil {
			try(finish())
			s = b.Elapsed().Seconds() / float64(b.N)
		} else {
			b.ReportMetric(1e3*s, "ms-best")
		}
		if r.terms > 0 {
			b.ReportMetric(2*float64(r.terms)/s/1e9, "GFLOP/s")
		}
		if r.bytes > 0 {
			b.ReportMetric(float64(r.bytes)/s/1e9, "GB/s")
		}
	})
}

// Benchmark measures each operation of an engine apart, the transfer of the
// examples apart from the work on them.
func Benchmark(b *testing.B, e engine.Engine) {
	for _, p := range []problem{
		{n: 4096, d: 64, q: 10}, {n: 20000, d: 17, q: 26}, {n: 20000, d: 784, q: 10},
	} {
		b.Run(fmt.Sprintf("n=%d/d=%d/Q=%d", p.n, p.d, p.q), func(b *testing.B) { p.benchmark(b, e) })
	}
}

func (p problem) benchmark(b *testing.B, e engine.Engine) {
	x, y, inv, rng := p.build()
	ws := [2]engine.Weights{engine.NewWeights(p.q, p.d), engine.NewWeights(p.q, p.d)}
	for i := range ws[0].W {
		ws[0].W[i] = float32(rng.NormFloat64())
		ws[1].W[i] = ws[0].W[i] * float32(1+0.05*rng.NormFloat64())
	}
	all := newNaive(x.Examples, y, p.q).classes()
	one, pred := make([]float32, p.q), make([]int32, p.n)
	z, norms := make([]float32, p.d), make([]float32, p.q*p.q)
	other := slices.Clone(inv)
	slices.Reverse(other)
	var r engine.Cells
	load := func() (err error) {
		r, err = e.LoadCells(x, y, p.q, numerics.FixedPoint{})
		return err
	}
	assign := func(int) error { _, err := r.Assign(0); return err }
	finish := func() error { return r.Scores(one, 0, 1) } // makes an engine finish what it queues
	in := func(steps ...func(int) error) func(int) error {
		return func(call int) error {
			for _, step := range steps {
				if err := step(call); err != nil {
					return err
				}
			}
			return nil
		}
	}
	rescore := func(classes []int) func(int) error {
		return func(call int) error { return r.Rescore(ws[(call+1)%2], classes) }
	}
	// Two inverses in turn: an engine may remember the norms of one.
	norm := func(call int) error { return r.Norms(norms, [][]float32{inv, other}[call%2]) }
	vector := func(int) error { return r.UpdateVectors(z, []engine.Pair{{P: 0, Q: 1}}, inv) }
	if err := in(func(int) error { return load() }, rescore(all), assign)(0); err != nil {
		b.Fatal(err)
	}
	read := rates{bytes: 4 * p.n * p.d}
	measure(b, "load", read, finish, func(int) error {
		kept := r
		err := load()
		if err == nil {
			err = r.Close()
		}
		r = kept
		return err
	})
	measure(b, "rescore2", read, finish, rescore(all[:2]))
	measure(b, "rescoreQ", read, finish, rescore(all))
	measure(b, "predict", rates{}, finish, func(int) error { return r.Predict(pred) })
	measure(b, "assign-still", rates{}, finish, assign)
	measure(b, "norms", rates{}, finish, norm)
	measure(b, "update-vector", rates{}, finish, vector)
	// A step as a learner takes it: two classes changed a little, some examples move.
	same := func(int) error { return r.Norms(norms, inv) }
	measure(b, "step", read, finish, in(rescore(all[:2]), assign, same, vector))
	// The first assignment puts every example into a cell.
	measure(b, "assign-all", read, finish, func(int) error {
		b.StopTimer()
		err := r.Close()
		if err == nil {
			err = in(func(int) error { return load() }, rescore(all), func(int) error { return finish() })(1)
		}
		b.StartTimer()
		if err == nil {
			err = assign(0)
		}
		return err
	})
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEvaluate measures evaluations, and weighted sums alone, of dense examples and of
// sparse ones of the sizes of texts. Terms are those of the products of stored values and
// classes, scores and weighted sums; the columns of stored values are read too.
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
			measure(b, "evaluate", rates{2 * terms, bytes}, nil, func(int) error {
				_, err := r.Evaluate(sums, w)
				return err
			})
			measure(b, "weighted-sums", rates{terms, bytes}, nil, func(int) error {
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

// BenchmarkProject measures projections of the sizes that kernel PCA has. It compares with
// a matrix product of the same sizes, or with two of them one after the other.
func BenchmarkProject(b *testing.B, e engine.Engine) {
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
		measure(b, name, rates{terms: s.n * s.m * (s.d + s.axes)}, nil, func(int) error {
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
