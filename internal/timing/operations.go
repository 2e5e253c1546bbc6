package timing

import (
	"context"
	"errors"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// The names of the operations, in the order in which they are measured.
const (
	Load        = "load"
	AssignAll   = "assign, all moved"
	AssignStill = "assign, nothing moved"
	AssignStep  = "assign, as in a step"
	Rescore2    = "rescore 2 classes"
	RescoreAll  = "rescore all classes"
	Norms       = "norms of all regions"
	Vector      = "update vector"
	Predict     = "predict"
	Scores      = "scores"
)

// operation is one that is to be measured.
type operation struct {
	name    string
	bytes   int64                // of examples that a call has to read; -1: none
	prepare func(call int) error // before each call, not timed, if not nil
	run     func(call int) error // the call
	fence   bool                 // an engine may return from run before the work is done
}

// bench is the measurement of operations on one data set.
type bench struct {
	Setup
	r     engine.Cells // on which the next call works
	moved int          // by the last assignment
	inv   []float32    // B = float32(C⁻¹)
	z     []float32    // room for an update vector
}

// operations measures each operation apart, with the weights around a step.
func (s Setup) operations(ctx context.Context, bytes int64, step *lastStep) (found []Operation,
	err error) {
	s.say("measuring each operation")
	inverse, err := s.problem().Inverse()
	if err != nil {
		return nil, err
	}
	b := &bench{Setup: s, inv: inverse.Float32(), z: make([]float32, s.X.D)}
	defer func() { err = errors.Join(err, b.close()) }()
	list := b.list(bytes, step)
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: "measuring operations", Unit: "operation", Total: int64(len(list))})
	defer task.End()
	for _, op := range list {
		b.moved = -1
		o, err := b.measure(ctx, op, bytes)
		if err != nil {
			return nil, err
		}
		task.Add(1)
		found = append(found, o)
	}
	return found, nil
}

// list lists the operations. Each works on what those before it have left:
// AssignAll leaves all examples in the cells of step.after. Rescoring alternates between two
// weights, and norms between two inverses, because an engine may see that nothing has changed.
func (b *bench) list(bytes int64, step *lastStep) []operation {
	n, d, q := b.X.N, b.X.D, b.Noise.Q()
	every := lists.UpTo[int](q)
	turned := step.after.Clone() // each class takes the weights of the next
	turned.W = append(turned.W[d:len(turned.W):len(turned.W)], turned.W[:d]...)
	reversed := slices.Clone(b.inv)
	slices.Reverse(reversed)

	load := func(int) (err error) {
		b.r, err = b.Engine.LoadCells(b.X, b.Y, q, numerics.FixedPoint{})
		return err
	}
	// fresh is before the first assignment of step.after.
	fresh := func(int) error {
		if err := errors.Join(b.close(), load(0)); err != nil {
			return err
		}
		return errors.Join(b.r.Rescore(step.after, every), b.finish())
	}
	assign := func(int) error {
		a, err := b.r.Assign(0)
		b.moved = a.Moved
		return err
	}
	rescore := func(call int) error {
		return b.r.Rescore([]engine.Weights{step.before, step.after}[call%2], step.changed)
	}
	// look asks for the scores of an example, since an engine may put off what nobody
	// asks for.
	look := func() error { return b.r.Scores(make([]float32, q), 0, 1) }
	norms, classes, scores := make([]float32, q*q), make([]int32, n), make([]float32, n*q)
	return []operation{
		{Load, bytes, func(int) error { return b.close() }, load, false},
		{AssignAll, bytes, fresh, assign, true},
		{AssignStill, -1, func(int) error { return errors.Join(rescore(1), b.finish()) }, assign, true},
		{AssignStep, -1, func(call int) error { return errors.Join(rescore(call), b.finish()) }, assign,
			true},
		{Rescore2, bytes, nil, func(call int) error { return errors.Join(rescore(call), look()) }, true},
		{RescoreAll, bytes, nil, func(call int) error {
			return errors.Join(b.r.Rescore([]engine.Weights{turned, step.after}[call%2], every), look())
		}, true},
		{Norms, -1, nil, func(call int) error {
			return b.r.Norms(norms, [][]float32{reversed, b.inv}[call%2])
		}, false},
		{Vector, -1, nil, func(int) error {
			return b.r.UpdateVectors(b.z, []engine.Pair{{P: 0, Q: 1}}, b.inv)
		}, false},
		{Predict, -1, nil, func(int) error { return b.r.Predict(classes) }, false},
		{Scores, -1, nil, func(int) error { return b.r.Scores(scores, 0, n) }, false},
	}
}

func (b *bench) close() error {
	if b.r == nil {
		return nil
	}
	return b.r.Close()
}

// finish waits for all that the engine has begun: it reads an update vector,
// which depends on what is before it in the queue.
func (b *bench) finish() error {
	return b.r.UpdateVectors(b.z, []engine.Pair{{P: 0, Q: 1}}, b.inv)
}

// A sample takes about enough seconds, and at most most calls.
const (
	enough = 0.02
	most   = 100
)

// measure measures an operation; bytes are those of all examples. The first call warms up and
// tells how many calls make a sample.
func (b *bench) measure(ctx context.Context, op operation, bytes int64) (Operation, error) {
	first := &watch{e: b.Engine}
	if err := b.sample(first, op, 0, 1); err != nil {
		return Operation{}, err
	}
	calls := max(1, min(most, int(enough/max(first.samples[0], 1e-9))))
	w := &watch{e: b.Engine}
	for k := range b.Repeat {
		if err := ctx.Err(); err != nil {
			return Operation{}, err
		}
		if err := b.sample(w, op, 1+k*calls, calls); err != nil {
			return Operation{}, err
		}
	}
	if op.name == AssignStep { // which reads the examples that it moves
		op.bytes = int64(float64(b.moved) / float64(b.X.N) * float64(bytes))
	}
	o := w.operation(op.name, op.bytes)
	if moved := b.moved; moved >= 0 {
		o.Moved = &moved
	}
	return o, nil
}

// sample makes some calls, numbered from the first one on. Calls that
// need no preparation follow each other at once.
func (b *bench) sample(w *watch, op operation, from, calls int) (err error) {
	part := calls
	if op.prepare != nil {
		part = 1
	}
	for call := from; call < from+calls && err == nil; call += part {
		if op.prepare != nil {
			if err := op.prepare(call); err != nil {
				return err
			}
		}
		err = w.time(func() error {
			for k := range part {
				if err := op.run(call + k); err != nil {
					return err
				}
			}
			if op.fence {
				return b.finish()
			}
			return nil
		})
	}
	w.end(calls)
	return err
}
