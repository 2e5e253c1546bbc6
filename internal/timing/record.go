package timing

import (
	"context"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

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
var phases = []string{assignSpan, chooseSpan, normsSpan, updateVectorsSpan, evaluateSpan, rescoreSpan}

// note adds a span to the trace.
type note func(name string, start, end time.Time)

// since is for defer: it notes what began when since was called.
func (n note) since(name string) func() {
	start := time.Now()
	return func() { n(name, start, time.Now()) }
}

// recordedEngine is any engine that notes when the operations on cells run. Like recorded
// and watchedLearner it spells out every method, so that a new one is noticed here.
type recordedEngine struct {
	e    engine.Engine
	note note
}

func (e recordedEngine) Device() engine.Device { return e.e.Device() }
func (e recordedEngine) Close() error          { return e.e.Close() }

func (e recordedEngine) Load(x dataset.Rows, classes int) (engine.Scorer, error) {
	return e.e.Load(x, classes)
}

func (e recordedEngine) LoadCells(
	x dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (engine.Cells, error) {
	r, err := e.e.LoadCells(x, y, classes, f)
	if err != nil {
		return nil, err
	}
	return recorded{r, e.note}, nil
}

func (e recordedEngine) LoadEvaluator(
	x dataset.Rows, classes int, f numerics.FixedPoint,
) (engine.Evaluator, error) {
	r, err := e.e.LoadEvaluator(x, classes, f)
	if err != nil {
		return nil, err
	}
	return recordedEvaluator{r, e.note}, nil
}

func (e recordedEngine) PlanEvaluator(x dataset.Rows, classes int) (engine.Plan, error) {
	return e.e.PlanEvaluator(x, classes)
}

func (e recordedEngine) Plan(x dataset.Rows, y []int32, classes int) (engine.Plan, error) {
	return e.e.Plan(x, y, classes)
}

func (e recordedEngine) Project(dst []float32, x dataset.Rows, p engine.Projection) error {
	return e.e.Project(dst, x, p)
}

// recorded is a data set on any engine that notes when its operations run.
type recorded struct {
	r    engine.Cells
	note note
}

func (r recorded) Shape() (n, d, q int)            { return r.r.Shape() }
func (r recorded) FixedPoint() numerics.FixedPoint { return r.r.FixedPoint() }
func (r recorded) Close() error                    { return r.r.Close() }

func (r recorded) Rescore(w engine.Weights, classes []int) error {
	defer r.note.since(rescoreSpan)()
	return r.r.Rescore(w, classes)
}

// Scores, Predict and ClassSums are no part of a step.
func (r recorded) Scores(dst []float32, from, to int) error { return r.r.Scores(dst, from, to) }
func (r recorded) Predict(dst []int32) error                { return r.r.Predict(dst) }
func (r recorded) ClassSums(dst []int64, p int) error       { return r.r.ClassSums(dst, p) }

func (r recorded) Assign(alpha float32) (engine.Assignment, error) {
	defer r.note.since(assignSpan)()
	return r.r.Assign(alpha)
}

func (r recorded) Norms(dst, inv []float32) error {
	defer r.note.since(normsSpan)()
	return r.r.Norms(dst, inv)
}

func (r recorded) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	defer r.note.since(updateVectorsSpan)()
	return r.r.UpdateVectors(dst, pairs, inv)
}

// recordedEvaluator is a data set with targets that notes when its evaluations run.
type recordedEvaluator struct {
	r    engine.Evaluator
	note note
}

func (r recordedEvaluator) Shape() (n, d, q int)            { return r.r.Shape() }
func (r recordedEvaluator) FixedPoint() numerics.FixedPoint { return r.r.FixedPoint() }
func (r recordedEvaluator) Close() error                    { return r.r.Close() }

func (r recordedEvaluator) Rescore(w engine.Weights, classes []int) error {
	defer r.note.since(rescoreSpan)()
	return r.r.Rescore(w, classes)
}

func (r recordedEvaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	defer r.note.since(evaluateSpan)()
	return r.r.Evaluate(sums, w)
}

// The rest is no part of most steps.
func (r recordedEvaluator) Scores(dst []float32, from, to int) error {
	return r.r.Scores(dst, from, to)
}
func (r recordedEvaluator) Predict(dst []int32) error  { return r.r.Predict(dst) }
func (r recordedEvaluator) Aim(t engine.Targets) error { return r.r.Aim(t) }
func (r recordedEvaluator) WeightedSums(sums []int64, a []float32) error {
	return r.r.WeightedSums(sums, a)
}

// watched are the parameters of a learner that is watched from its start on.
type watched struct {
	learners.Params
	note note      // nil for none
	last *lastStep // nil for none
}

// Start starts the learner on an engine that notes its operations.
func (w watched) Start(ctx context.Context, p *learners.Problem) (learners.Learner, error) {
	if w.note != nil {
		on := p.On(p.Rows(), p.Y)
		on.Engine = recordedEngine{p.Engine, w.note}
		p = on
	}
	l, err := w.Params.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return &watchedLearner{l, w.note, w.last}, nil
}

// watchedLearner is any learner whose steps are watched.
type watchedLearner struct {
	learner learners.Learner
	note    note
	last    *lastStep
}

func (l *watchedLearner) Count(ctx context.Context, w engine.Weights, changed []int) ([]int64, error) {
	return l.learner.Count(ctx, w, changed)
}

func (l *watchedLearner) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	if l.note != nil {
		defer l.note.since(chooseSpan)()
	}
	if l.last == nil {
		return l.learner.Step(ctx, w)
	}
	before := w.Clone()
	s, err := l.learner.Step(ctx, w)
	if err == nil && !s.Done {
		l.last.before, l.last.changed = before, s.Changed
	}
	return s, err
}

func (l *watchedLearner) Save() ([]byte, error)      { return l.learner.Save() }
func (l *watchedLearner) Restore(saved []byte) error { return l.learner.Restore(saved) }
func (l *watchedLearner) Close() error               { return l.learner.Close() }

// lastStep keeps the weights before and after the last step of a run, and which
// classes that step changed.
type lastStep struct {
	before, after engine.Weights
	changed       []int
}
