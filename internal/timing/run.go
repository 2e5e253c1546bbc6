package timing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
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
	last.changed = lists.Where(last.after.Q, func(c int) bool {
		return !slices.Equal(last.before.Row(c), last.after.Row(c))
	})
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

// hostTrack is the track of what the host does or waits for.
const hostTrack = "host"

// The names of the spans of a run. A step holds the others; choose is the
// learner's part and holds norms, update vectors and evaluations.
const (
	stepSpan          = "step"
	assignSpan        = "assign"
	chooseSpan        = "choose"
	normsSpan         = "norms"
	updateVectorsSpan = "update vectors"
	rescoreSpan       = "rescore"
	evaluateSpan      = "evaluate"
)

// phases are the spans within a step, in the order in which they are told.
var phases = []string{assignSpan, chooseSpan, normsSpan, updateVectorsSpan, evaluateSpan,
	rescoreSpan}

// note adds a span to the trace.
type note func(name string, start, end time.Time)

// since is for defer: it notes what began when since was called.
func (n note) since(name string) func() {
	start := time.Now()
	return func() { n(name, start, time.Now()) }
}

// recordedParams are parameters of a learner that notes its steps, and the operations of its
// engine on cells and evaluators.
type recordedParams struct {
	learners.Params
	note
}

func (p recordedParams) Definition() *learners.Definition {
	d := *p.Params.Definition()
	begin := d.Start
	d.Start = func(ctx context.Context, on *learners.Problem) (learners.Learner, error) {
		on = on.On(on.X, on.Y)
		on.Engine = recordedEngine{on.Engine, p.note}
		l, err := begin(ctx, on)
		if err != nil {
			return nil, err
		}
		return recordedLearner{l, p.note}, nil
	}
	return &d
}

type recordedLearner struct {
	learners.Learner
	note
}

func (l recordedLearner) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	defer l.since(chooseSpan)()
	return l.Learner.Step(ctx, w)
}

type recordedEngine struct {
	engine.Engine
	note
}

func (e recordedEngine) LoadCells(x dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (engine.Cells, error) {
	c, err := e.Engine.LoadCells(x, y, classes, f)
	if err != nil {
		return nil, err
	}
	return recordedCells{c, e.note}, nil
}

func (e recordedEngine) LoadEvaluator(x dataset.Rows, classes int, f numerics.FixedPoint,
) (engine.Evaluator, error) {
	v, err := e.Engine.LoadEvaluator(x, classes, f)
	if err != nil {
		return nil, err
	}
	return recordedEvaluator{v, e.note}, nil
}

type recordedCells struct {
	engine.Cells
	note
}

func (c recordedCells) Rescore(w engine.Weights, classes []int) error {
	defer c.since(rescoreSpan)()
	return c.Cells.Rescore(w, classes)
}

func (c recordedCells) Assign(alpha float32) (engine.Assignment, error) {
	defer c.since(assignSpan)()
	return c.Cells.Assign(alpha)
}

func (c recordedCells) Norms(dst, inv []float32) error {
	defer c.since(normsSpan)()
	return c.Cells.Norms(dst, inv)
}

func (c recordedCells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	defer c.since(updateVectorsSpan)()
	return c.Cells.UpdateVectors(dst, pairs, inv)
}

type recordedEvaluator struct {
	engine.Evaluator
	note
}

func (v recordedEvaluator) Rescore(w engine.Weights, classes []int) error {
	defer v.since(rescoreSpan)()
	return v.Evaluator.Rescore(w, classes)
}

func (v recordedEvaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	defer v.since(evaluateSpan)()
	return v.Evaluator.Evaluate(sums, w)
}
