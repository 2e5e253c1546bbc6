//go:build linux && cgo && !noopencl

package gpu

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// peakSource is chains of fma in registers, enough to hide the latency of one. VECTOR is a vector
// of float32; the registers hold 16.
const peakSource = `
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define BEGIN(k) VECTOR s##k = (VECTOR)(x + k);
#define STEP(k) s##k = fma(s##k, (VECTOR)(x), (VECTOR)(y));
#define END(k) sum += s##k;
__kernel void peak(__global VECTOR *out, float x, float y, int rounds)
{
	EACH(BEGIN)
	for (int k = 0; k < rounds; k++) {
		EACH(STEP)
	}
	VECTOR sum = (VECTOR)(0.0f);
	EACH(END)
	out[get_global_id(0)] = sum;
}`

// peak measures how many fma of float32 a device does in a second.
func peak(b *testing.B, e *deviceEngine) float64 {
	// A GPU has small vectors and wants many work-items for each compute unit.
	vector, lanes, items := "float16", 16, 64
	if !e.cpu {
		vector, lanes, items = "float4", 4, 2048*e.info.ComputeUnits
	}
	program, err := e.q.build([]string{"#define VECTOR " + vector + "\n", peakSource}, e.options)
	if err != nil {
		b.Fatal(err)
	}
	defer e.q.release(program)
	k, err := e.q.kernel(program, "peak", 1, false)
	if err != nil {
		b.Fatal(err)
	}
	defer k.cl.Release()
	const rounds = 1 << 16
	o := buffers{q: e.q}
	out := alloc[float32](&o, "peak", lanes*items)
	if o.err != nil {
		b.Fatal(o.err)
	}
	defer o.free()
	best := 0.0
	for range 8 {
		start := time.Now()
		if err := k.launch(items, 1, struct {
			Out    *buffer[float32]
			X, Y   float32
			Rounds int
		}{out, 0.5, 0.25, rounds}); err != nil {
			b.Fatal(err)
		}
		if err := e.q.queue.Finish(); err != nil {
			b.Fatal(err)
		}
		best = max(best, float64(16*lanes*items*rounds)/time.Since(start).Seconds())
	}
	return best
}

// BenchmarkPeak reports the share of a processor's peak fma rate that an evaluation reaches: n·d·Q
// for the scores, and again for the weighted sums.
func BenchmarkPeak(b *testing.B) {
	const n, d, q = 60000, 784, 10
	rng := rand.New(rand.NewPCG(1, 2))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for k := range x.X {
		x.X[k] = rng.Float32()
	}
	targets := engine.Targets{Values: make([]float32, q*q), Row: make([]int32, n)}
	for i := range targets.Row {
		targets.Row[i] = int32(rng.IntN(q))
	}
	w, sums := engine.NewWeights(q, d), make([]int64, q*d)
	for k := range w.W {
		w.W[k] = float32(0.01 * rng.NormFloat64())
	}
	eachDevice(b, func(i Info) {
		b.Run(i.ID(), func(b *testing.B) {
			e := openTest(b, i, Options{}, build{guard: noGuard})
			r, err := e.LoadEvaluator(x, q, numerics.FixedPoint{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			if err := r.SetTargets(targets); err != nil {
				b.Fatal(err)
			}
			best := peak(b, e.deviceEngine)
			least := 1e9
			for b.Loop() {
				start := time.Now()
				if _, err := r.Evaluate(sums, w); err != nil {
					b.Fatal(err)
				}
				least = min(least, time.Since(start).Seconds())
			}
			best = max(best, peak(b, e.deviceEngine))
			b.ReportMetric(best/1e9, "Gfma/s-peak")
			b.ReportMetric(1e3*least, "ms-best")
			b.ReportMetric(100*2*n*d*q/least/best, "%peak-best")
			b.ReportMetric(100*2*n*d*q/(b.Elapsed().Seconds()/float64(b.N))/best, "%peak-mean")
		})
	})
}
