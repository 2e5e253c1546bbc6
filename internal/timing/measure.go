// Package timing measures what an engine takes for each operation and for a
// training run, through the engine's interface alone.
package timing

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
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
