package timing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// Run is a training run from W = 0, without loading the examples.
type Run struct {
	Steps          int         `json:"steps"`
	Stop           host.Stop   `json:"stop"`
	EstimatedError float64     `json:"estimated_error"`
	Whole          Operation   `json:"whole"`
	Step           Operation   `json:"step"`
	Phases         []Operation `json:"phases"` // the parts of a step; only their times are known

	// Whole.BytesRead / (Steps × bytes of all examples)
	BytesReadShare *float64 `json:"bytes_read_share"`
	// examples whose scores were computed / (Steps × all examples)
	RescoredShare *float64 `json:"rescored_share"`
}

// lastStep are the weights before and after the last step of a run, and the classes in which they
// differ.
type lastStep struct {
	before, after engine.Weights
	changed       []int
}

// warmUp makes a short run and returns its last step.
func (s Setup) warmUp(ctx context.Context) (*lastStep, error) {
	steps := min(s.Steps, 30)
	s.say("warming up with a run of %d steps", steps)
	last := &lastStep{after: engine.NewWeights(s.Noise.Q(), s.X.D)}
	_, err := host.Run(ctx, s.Learner, s.problem(), host.RunOptions{MaxSteps: steps,
		OnStep: func(r host.Report) { last.before, last.after = last.after, r.W.Clone() }})
	if err == nil {
		err = ctx.Err() // an interrupted run has a result too
	}
	if err == nil && last.before.W == nil {
		err = errors.New("there is no step to make: the learner has nothing to improve on W = 0, give " +
			"other examples")
	}
	if err != nil {
		return nil, err
	}
	for c := range last.after.Q {
		if !slices.Equal(last.before.Row(c), last.after.Row(c)) {
			last.changed = append(last.changed, c)
		}
	}
	return last, nil
}

// runs measures s.Repeat runs.
func (s Setup) runs(ctx context.Context, bytes int64) (r Run, err error) {
	w := &watch{e: s.Engine}
	n := note(s.Trace.Track(hostTrack))
	spans := map[string][]float64{}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "measuring a training", Unit: "run",
		Total: int64(s.Repeat)})
	defer task.End()
	for k := range s.Repeat {
		s.Trace.Reset()
		var last time.Time
		res, err := host.Run(ctx, recordedParams{s.Learner, n}, s.problem(), host.RunOptions{
			MaxSteps: s.Steps,
			OnStart: func() {
				w.begin()
				last = time.Now()
			},
			OnStep: func(host.Report) {
				now := time.Now()
				n(stepSpan, last, now)
				last = now
			},
		})
		if err == nil {
			w.pause()
			err = ctx.Err()
		}
		if err != nil {
			return r, err
		}
		w.end(1)
		r.Steps, r.Stop, r.EstimatedError = res.Steps, res.Stop, res.EstimatedError
		for _, name := range append([]string{stepSpan}, phases...) {
			spans[name] = append(spans[name], s.Trace.Seconds(hostTrack, name)...)
		}
		s.say("run %d of %d: %d steps in %.3f s", k+1, s.Repeat, res.Steps, w.samples[k])
		task.Add(1)
	}
	steps := int64(r.Steps)
	r.Whole = w.operation(fmt.Sprintf("run of %d steps", r.Steps), steps*bytes)
	if _, counts := worked(s.Engine); counts {
		all := float64(steps) * float64(s.Repeat)
		read := float64(w.work.ExampleBytes) / (all * float64(bytes))
		rescored := float64(w.work.Rescored) / (all * float64(s.X.N))
		r.BytesReadShare, r.RescoredShare = &read, &rescored
	}
	// The work of a step is the mean of all, its time the median.
	step := &watch{e: s.Engine, samples: spans[stepSpan], work: w.work, calls: len(spans[stepSpan])}
	r.Step = step.operation(stepSpan, bytes)
	for _, name := range phases {
		if len(spans[name]) > 0 { // some learners do without
			phase := &watch{samples: spans[name]}
			r.Phases = append(r.Phases, phase.operation(name, -1))
		}
	}
	return r, nil
}
