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
func (w *watch) begin() {
	w.before, _ = worked(w.e)
	w.began = time.Now()
}

// pause ends the part of a sample that begin began.
func (w *watch) pause() {
	w.took += time.Since(w.began)
	now, _ := worked(w.e)
	w.work.Launches += now.Launches - w.before.Launches
	w.work.Transfers += now.Transfers - w.before.Transfers
	w.work.ExampleBytes += now.ExampleBytes - w.before.ExampleBytes
	w.work.Rescored += now.Rescored - w.before.Rescored
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

// worked returns what an engine has counted so far; false if it does not count.
func worked(e engine.Engine) (engine.Work, bool) {
	if c, ok := e.(interface{ Work() engine.Work }); ok {
		return c.Work(), true
	}
	return engine.Work{}, false
}

// operation makes a report of the samples. bytes of examples have to be read by
// a call, -1 stands for an operation that has to read none.
func (w *watch) operation(name string, bytes int64) Operation {
	o := Operation{Name: name, Seconds: median(w.samples), Least: slices.Min(w.samples),
		Most: slices.Max(w.samples)}
	if _, counts := worked(w.e); counts {
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
