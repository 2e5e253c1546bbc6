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
var phases = []string{assignSpan, chooseSpan, normsSpan, updateVectorsSpan, evaluateSpan,
	rescoreSpan}

// note adds a span to the trace.
type note func(name string, start, end time.Time)

// since is for defer: it notes what began when since was called.
func (n note) since(name string) func() {
	start := time.Now()
	return func() { n(name, start, time.Now()) }
}

// recordedEngine is an engine that notes when the operations on cells and evaluators run. It
// spells every method, as internal/layout demands of engines and cells.
type recordedEngine struct {
	e    engine.Engine
	note note
}

func (e recordedEngine) Device() engine.Device { return e.e.Device() }
func (e recordedEngine) Close() error          { return e.e.Close() }

func (e recordedEngine) Load(x dataset.Rows, classes int) (engine.Scorer, error) {
	return e.e.Load(x, classes)
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

func (e recordedEngine) LoadCells(x dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (engine.Cells, error) {
	c, err := e.e.LoadCells(x, y, classes, f)
	if err != nil {
		return nil, err
	}
	return recordedCells{c, e.note}, nil
}

func (e recordedEngine) LoadEvaluator(x dataset.Rows, classes int, f numerics.FixedPoint,
) (engine.Evaluator, error) {
	v, err := e.e.LoadEvaluator(x, classes, f)
	if err != nil {
		return nil, err
	}
	return recordedEvaluator{v, e.note}, nil
}

// recordedCells notes when the operations of a step run.
type recordedCells struct {
	c    engine.Cells
	note note
}

func (c recordedCells) Shape() (n, d, q int)            { return c.c.Shape() }
func (c recordedCells) FixedPoint() numerics.FixedPoint { return c.c.FixedPoint() }
func (c recordedCells) Close() error                    { return c.c.Close() }
func (c recordedCells) Scores(dst []float32, from, to int) error {
	return c.c.Scores(dst, from, to)
}
func (c recordedCells) Predict(dst []int32) error          { return c.c.Predict(dst) }
func (c recordedCells) ClassSums(dst []int64, p int) error { return c.c.ClassSums(dst, p) }

func (c recordedCells) Rescore(w engine.Weights, classes []int) error {
	defer c.note.since(rescoreSpan)()
	return c.c.Rescore(w, classes)
}

func (c recordedCells) Assign(alpha float32) (engine.Assignment, error) {
	defer c.note.since(assignSpan)()
	return c.c.Assign(alpha)
}

func (c recordedCells) Norms(dst, inv []float32) error {
	defer c.note.since(normsSpan)()
	return c.c.Norms(dst, inv)
}

func (c recordedCells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	defer c.note.since(updateVectorsSpan)()
	return c.c.UpdateVectors(dst, pairs, inv)
}

// recordedEvaluator notes when the operations of a step run.
type recordedEvaluator struct {
	engine.Evaluator
	note note
}

func (v recordedEvaluator) Rescore(w engine.Weights, classes []int) error {
	defer v.note.since(rescoreSpan)()
	return v.Evaluator.Rescore(w, classes)
}

func (v recordedEvaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	defer v.note.since(evaluateSpan)()
	return v.Evaluator.Evaluate(sums, w)
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
		on := p.On(p.X, p.Y)
		on.Engine = recordedEngine{p.Engine, w.note}
		p = on
	}
	l, err := w.Params.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return &watchedLearner{l, w.note, w.last}, nil
}

// watchedLearner is a learner whose steps are watched.
type watchedLearner struct {
	learners.Learner
	note note
	last *lastStep
}

func (l *watchedLearner) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	if l.note != nil {
		defer l.note.since(chooseSpan)()
	}
	if l.last == nil {
		return l.Learner.Step(ctx, w)
	}
	before := w.Clone()
	s, err := l.Learner.Step(ctx, w)
	if err == nil && !s.Done {
		l.last.before, l.last.changed = before, s.Changed
	}
	return s, err
}

// lastStep keeps the weights before and after the last step of a run, and which
// classes that step changed.
type lastStep struct {
	before, after engine.Weights
	changed       []int
}
