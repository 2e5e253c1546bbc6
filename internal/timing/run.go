package timing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
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

// warmSteps is the length of the run that warms up.
const warmSteps = 30

// warmUp makes a short run and returns the weights around its last step.
func (s Setup) warmUp(ctx context.Context) (*lastStep, error) {
	steps := min(s.Steps, warmSteps)
	s.say("warming up with a run of %d steps", steps)
	last := &lastStep{}
	rules := s.Learner.Definition().Weights
	res, err := s.train(ctx, steps, rules[len(rules)-1], watched{Params: s.Learner, last: last},
		&watch{e: s.Engine})
	if err == nil && res.Steps == 0 {
		err = errors.New("there is no step to make: the learner has nothing to improve on W = 0, give " +
			"other examples")
	}
	last.after = res.W
	return last, err
}

// train makes one run, which w times from the moment when the examples are loaded.
func (s Setup) train(ctx context.Context, steps int, rule learners.Rule, params watched, w *watch,
) (res host.Result, err error) {
	var last time.Time
	o := host.RunOptions{MaxSteps: steps, Weights: rule, OnStart: func() {
		w.begin()
		last = time.Now()
	}}
	if params.note != nil {
		o.OnStep = func(host.Report) {
			now := time.Now()
			params.note(stepSpan, last, now)
			last = now
		}
	}
	res, err = host.Run(ctx, params, s.problem(), o)
	if err == nil {
		w.pause()
		err = ctx.Err() // an interrupted run has a result too
	}
	return res, err
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
		res, err := s.train(ctx, s.Steps, "", watched{Params: s.Learner, note: n}, w)
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
	if _, counts := s.Engine.(engine.Counting); counts {
		all := float64(steps) * float64(s.Repeat)
		read := float64(w.work.ExampleBytes) / (all * float64(bytes))
		rescored := float64(w.work.Rescored) / (all * float64(s.X.N))
		r.BytesReadShare, r.RescoredShare = &read, &rescored
	}
	// The work of a step is the mean of all, its time the median.
	step := &watch{e: s.Engine, samples: spans[stepSpan], work: w.work, calls: len(spans[stepSpan])}
	r.Step = step.operation(stepSpan, bytes)
	for _, name := range phases {
		if len(spans[name]) == 0 { // the learner does without
			continue
		}
		phase := &watch{samples: spans[name]}
		r.Phases = append(r.Phases, phase.operation(name, -1))
	}
	return r, nil
}
