package timing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/synth"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// setup is a small measurement. Those with a real engine are in cmd/uma-gpu,
// which alone may name one.
func setup(t *testing.T, e engine.Engine) Setup {
	t.Helper()
	x, y, err := synth.Generate(t.Context(), 200, 5, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := confusion.Pairwise([]string{"a", "b", "c"}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	return Setup{
		Engine: e, X: dataset.Examples{N: 200, D: 5, X: x}.Stored(), Y: y, Noise: c,
		Learner:   uma.Defaults(),
		Bandwidth: func() (float64, error) { return 1e9, nil }, Steps: 3, Repeat: 2, Trace: &Trace{},
	}
}

// broken is an engine that loads nothing.
type broken struct{ engine.Engine }

var errBroken = errors.New("broken")

func (*broken) Plan(x dataset.Rows, _ []int32, _ int) (engine.Plan, error) {
	return engine.Plan{Examples: int64(4 * len(x.Stored().X))}, nil
}

func (*broken) LoadCells(dataset.Rows, []int32, int, numerics.FixedPoint) (engine.Cells, error) {
	return nil, errBroken
}

func TestErrorsOfTheEngine(t *testing.T) {
	if _, err := Measure(t.Context(), setup(t, &broken{})); !errors.Is(err, errBroken) {
		t.Errorf("found %v", err)
	}
	s := setup(t, &broken{})
	if _, err := s.operations(t.Context(), 1, &lastStep{after: engine.NewWeights(3,
		5)}); !errors.Is(err, errBroken) {
		t.Errorf("found %v", err)
	}
	s.Bandwidth = func() (float64, error) { return 0, errBroken }
	if _, err := Measure(t.Context(), s); !errors.Is(err, errBroken) {
		t.Errorf("found %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, s); err == nil {
		t.Error("a cancelled measurement succeeds")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{1, 2, 4, 100},
		3}} {
		if got := median(c.v); got != c.want {
			t.Errorf("%v: %v, want %v", c.v, got, c.want)
		}
	}
}

// counter is an engine that counts what the test tells it to.
type counter struct {
	engine.Engine
	w engine.Work
}

func (c *counter) Work() engine.Work { return c.w }

// Work is that of the timed parts alone, and a mean over all calls.
func TestWatch(t *testing.T) {
	e := &counter{w: engine.Work{Launches: 100}}
	w := &watch{e: e}
	for range 3 {
		for range 2 {
			e.w.Launches += 50 // preparation
			if err := w.time(func() error {
				e.w.Launches += 2
				e.w.Transfers++
				e.w.ExampleBytes += 8
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		w.end(2)
	}
	o := w.operation("x", 77)
	if *o.Launches != 2 || *o.Transfers != 1 || *o.BytesRead != 8 || len(w.samples) != 3 ||
		!(o.Least <= o.Seconds && o.Seconds <= o.Most) {
		t.Errorf("found %+v of %+v", o, w)
	}
	o.compare(4)
	if share := *o.GBPerSecond / 4; math.Abs(share-*o.BandwidthShare) > 1e-9*share {
		t.Errorf("share %v, want %v", *o.BandwidthShare, share)
	}
	w.e = &broken{} // counts nothing
	if o := w.operation("x", 77); o.Launches != nil || o.Transfers != nil || *o.BytesRead != 77 {
		t.Errorf("found %+v", o)
	}
	o = w.operation("x", -1)
	if o.compare(4); o.BytesRead != nil || o.GBPerSecond != nil || o.BandwidthShare != nil {
		t.Errorf("found %+v", o)
	}
	if err := w.time(func() error { return errBroken }); !errors.Is(err, errBroken) {
		t.Errorf("found %v", err)
	}
}

func TestReadBandwidth(t *testing.T) {
	if rate := ReadBandwidth(BandwidthBytes); !(rate > 0) || math.IsInf(rate, 0) {
		t.Errorf("found %v", rate)
	}
}

func TestTrace(t *testing.T) {
	var trace Trace
	host, kernels := trace.Track("host"), trace.Track("kernels")
	at := func(ms int) time.Time {
		return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond)
	}
	host("forgotten", at(0), at(1))
	trace.Reset()
	trace.Track("host")("inner", at(12), at(13)) // the same track
	host("outer", at(12), at(15))
	kernels("score", at(11), at(12))
	if s := trace.Seconds("host", "outer"); len(s) != 1 || s[0] != 0.003 {
		t.Errorf("found %v", s)
	}
	var b bytes.Buffer
	if err := trace.Write(&b); err != nil {
		t.Fatal(err)
	}
	var events []event
	if err := json.Unmarshal(b.Bytes(), &events); err != nil {
		t.Fatal(err)
	}
	want := []event{
		{Name: "thread_name", Phase: "M", Process: 1, Thread: 1}, {Name: "thread_name", Phase: "M",
			Process: 1, Thread: 2},
		{Name: "score", Phase: "X", Duration: 1000, Process: 1, Thread: 2},
		{Name: "outer", Phase: "X", Time: 1000, Duration: 3000, Process: 1, Thread: 1},
		{Name: "inner", Phase: "X", Time: 1000, Duration: 1000, Process: 1, Thread: 1},
	}
	if len(events) != len(want) {
		t.Fatalf("found %+v", events)
	}
	for k, e := range events {
		if e.Args = nil; e.Name != want[k].Name || e.Phase != want[k].Phase ||
			e.Thread != want[k].Thread || e.Time != want[k].Time || e.Duration != want[k].Duration {
			t.Errorf("event %d: %+v, want %+v", k, e, want[k])
		}
	}
	if b.Reset(); (&Trace{}).Write(&b) != nil || b.String() != "[]\n" {
		t.Errorf("an empty trace is %q", b.String())
	}
}
