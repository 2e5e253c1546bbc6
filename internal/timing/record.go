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
