package timing

import (
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// watch measures the time and the work of calls of an engine, in samples.
type watch struct {
	e       engine.Engine
	took    time.Duration // of the sample under way
	samples []float64     // seconds of a call, mean over the calls of a sample
	work    engine.Work   // of all samples
	calls   int           // of all samples

	began  time.Time // the part of a sample under way
	before engine.Work
}

// begin begins a part of a sample.
func (w *watch) begin() { w.before, w.began = worked(w.e), time.Now() }

// pause ends the part of a sample that begin began.
func (w *watch) pause() {
	w.took += time.Since(w.began)
	w.work = worked(w.e).Sub(w.before.Sub(w.work))
}

// time times a part of a sample.
func (w *watch) time(f func() error) error {
	w.begin()
	defer w.pause()
	return f()
}

// end ends a sample of a number of calls.
func (w *watch) end(calls int) {
	w.samples = append(w.samples, w.took.Seconds()/float64(calls))
	w.calls += calls
	w.took = 0
}

// worked is what an engine has counted so far, 0 if it does not count.
func worked(e engine.Engine) engine.Work {
	if c, ok := e.(engine.Counting); ok {
		return c.Work()
	}
	return engine.Work{}
}

// operation makes a report of the samples. bytes of examples have to be read by
// a call, -1 stands for an operation that has to read none.
func (w *watch) operation(name string, bytes int64) Operation {
	o := Operation{Name: name, Seconds: median(w.samples), Least: slices.Min(w.samples),
		Most: slices.Max(w.samples)}
	if _, counts := w.e.(engine.Counting); counts {
		launches, transfers := float64(w.work.Launches)/float64(w.calls),
			float64(w.work.Transfers)/float64(w.calls)
		o.Launches, o.Transfers = &launches, &transfers
		if bytes >= 0 || w.work.ExampleBytes > 0 {
			bytes = w.work.ExampleBytes / int64(w.calls)
		}
	}
	if bytes >= 0 {
		rate := float64(bytes) / max(o.Seconds, 1e-9) / 1e9
		o.BytesRead, o.GBPerSecond = &bytes, &rate
	}
	return o
}

// median of one or more values.
func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
