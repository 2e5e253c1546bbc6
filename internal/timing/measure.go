// Package timing measures what an engine takes for each operation and for a
// training run, through the engine's interface alone.
package timing

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Setup says what to measure on. All fields are required, but for Say.
type Setup struct {
	Engine  engine.Engine
	X       dataset.Stored    // prepared
	Y       []int32           // noisy labels
	Noise   *confusion.Matrix // of the labels
	Learner learners.Params   // of the runs
	Steps   int               // of a run, at least 1
	Repeat  int               // how often everything is measured, at least 1
	Trace   *Trace            // gets the spans of the last run

	// Bandwidth measures the device's memory, in bytes per second. It is asked
	// before, between and after all else, and the best answer counts: whatever
	// else the machine is doing can only lower it.
	Bandwidth func() (float64, error)

	Say func(format string, args ...any) // tells how it goes on, if not nil
}

// problem is what the learner learns from.
func (s Setup) problem() *learners.Problem {
	return &learners.Problem{X: s.X.Examples, At: s.X.At, Y: s.Y, Q: s.Noise.Q(), Noise: s.Noise,
		Engine: s.Engine, Seed: 1}
}

// Report is what Measure found. Null in it stands for what an engine does not
// count and for what makes no sense for an operation.
type Report struct {
	Bandwidth    float64     `json:"bandwidth_gb_per_s"` // of the device's memory, in 10⁹ bytes
	ExampleBytes int64       `json:"example_bytes"`      // of all examples, as the engine stores them
	Operations   []Operation `json:"operations"`
	Run          Run         `json:"run"`
}

// Operation is what one call of an operation takes. Launches and transfers are
// means; all that depends on the time is of the median.
type Operation struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // median
	Least   float64 `json:"seconds_least"`
	Most    float64 `json:"seconds_most"`

	// Bytes of examples that were read, as the engine counts them, or, if it does
	// not, as the operation has to read by its definition.
	BytesRead      *int64   `json:"bytes_read"`
	GBPerSecond    *float64 `json:"gb_per_s"`        // 10⁹ bytes of BytesRead per second
	BandwidthShare *float64 `json:"bandwidth_share"` // GBPerSecond / Report.Bandwidth

	Launches  *float64 `json:"launches"`  // of kernels
	Transfers *float64 `json:"transfers"` // between host and device that the host waited for
	Moved     *int     `json:"moved"`     // examples, by an assignment
}

// Measure measures training runs, and then each operation with weights that a
// run has made. Errors are ctx's and those of the engine.
func Measure(ctx context.Context, s Setup) (r Report, err error) {
	plan, err := s.Engine.Plan(s.X, s.Y, s.Noise.Q())
	if err != nil {
		return r, err
	}
	r.ExampleBytes = plan.Examples
	var last *lastStep
	for _, part := range []func() error{
		func() (err error) { last, err = s.warmUp(ctx); return err },
		func() (err error) { r.Run, err = s.runs(ctx, plan.Examples); return err },
		func() (err error) { r.Operations, err = s.operations(ctx, plan.Examples, last); return err },
		func() error { return nil },
	} {
		rate, err := s.Bandwidth()
		if err != nil {
			return r, err
		}
		r.Bandwidth = max(r.Bandwidth, rate/1e9)
		if err := part(); err != nil {
			return r, fmt.Errorf("measure: %w", err)
		}
	}
	r.Run.Whole.compare(r.Bandwidth)
	r.Run.Step.compare(r.Bandwidth)
	for k := range r.Operations {
		r.Operations[k].compare(r.Bandwidth)
	}
	return r, nil
}

// compare sets the share of the bandwidth, which is in 10⁹ bytes per second.
func (o *Operation) compare(bandwidth float64) {
	if o.GBPerSecond != nil {
		share := *o.GBPerSecond / bandwidth
		o.BandwidthShare = &share
	}
}

// say tells how it goes on.
func (s Setup) say(format string, args ...any) {
	if s.Say != nil {
		s.Say(format, args...)
	}
}

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

// BandwidthBytes is the size of an array that is larger than caches.
const BandwidthBytes = 256 << 20

// Copier is an engine that measures how fast its device copies within its own memory, in
// bytes per second read and written together.
type Copier interface {
	CopyBandwidth() (bytesPerSecond float64, err error)
}

// ReadBandwidth measures how fast all processors together read memory, in bytes
// per second: the best of several searches of an array for a byte that it lacks.
func ReadBandwidth(size int) float64 {
	x := bytes.Repeat([]byte{1}, size) // a page that was never written to is not there
	best := time.Duration(1<<63 - 1)
	for range 12 {
		start := time.Now()
		parallel.Ranges(size, 1<<16, func(from, to int) { bytes.IndexByte(x[from:to], 0) })
		best = min(best, time.Since(start))
	}
	return float64(size) / max(best.Seconds(), 1e-9)
}

// Trace collects spans of time on named tracks and writes them in the JSON array
// format of Chrome's trace viewer, which chrome://tracing and ui.perfetto.dev
// open. The zero value is ready. It is safe for concurrent use.
type Trace struct {
	mu    sync.Mutex
	spans []span
}

// span is one stretch of time on a track.
type span struct {
	track, name string
	start, end  time.Time
}

// Track returns a function that adds a span to a track. Spans of a track that
// lie within each other are drawn so.
func (t *Trace) Track(track string) func(name string, start, end time.Time) {
	return func(name string, start, end time.Time) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.spans = append(t.spans, span{track, name, start, end})
	}
}

// Reset forgets all spans.
func (t *Trace) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spans = nil
}

// Seconds returns the lengths of all spans of a name on a track, in order.
func (t *Trace) Seconds(track, name string) []float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []float64
	for _, s := range t.spans {
		if s.track == track && s.name == name {
			all = append(all, s.end.Sub(s.start).Seconds())
		}
	}
	return all
}

// event is one line of the file. Times are in microseconds.
type event struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"` // X is a span, M describes a track
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"` // the track, from 1
	Args     map[string]any `json:"args,omitempty"`
}

// Write writes the trace; time 0 is the beginning of the first span.
func (t *Trace) Write(w io.Writer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var tracks []string
	events := []event{}
	for _, s := range t.spans {
		if !slices.Contains(tracks, s.track) {
			tracks = append(tracks, s.track)
			events = append(events, event{Name: "thread_name", Phase: "M", Process: 1,
				Thread: len(tracks), Args: map[string]any{"name": s.track}})
		}
	}
	// A span that holds others comes before them.
	sorted := slices.Clone(t.spans)
	slices.SortStableFunc(sorted, func(a, b span) int {
		return cmp.Or(a.start.Compare(b.start), b.end.Compare(a.end))
	})
	micro := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	for _, s := range sorted {
		events = append(events, event{
			Name: s.name, Phase: "X", Process: 1, Thread: 1 + slices.Index(tracks, s.track),
			Time: micro(s.start.Sub(sorted[0].start)), Duration: micro(s.end.Sub(s.start)),
		})
	}
	return json.NewEncoder(w).Encode(events)
}
