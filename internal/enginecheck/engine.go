// Package enginecheck checks every call of an engine before it computes: the same checks and the
// same errors for all engines.
package enginecheck

import (
	"fmt"
	"strings"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Computing is an engine without checks. It gets sound arguments only, and no call after Close.
// Each data set of it is closed once, also after the engine.
type Computing interface {
	Device() engine.Device
	// Load returns an engine.Cells for Sorting and an engine.Evaluator for Evaluating.
	Load(x dataset.Stored, t Task) (engine.Scorer, error)
	Plan(x dataset.Stored, t Task) (engine.Plan, error)
	Project(dst []float32, x dataset.Stored, p engine.Projection) error
	Close() error
}

// Task is what examples are loaded for.
type Task struct {
	Use     Use
	Classes int
	Labels  []int32             // of Sorting
	Format  numerics.FixedPoint // of the sums; never zero for an engine that does not check by itself
}

// Use is one of the loads of engine.Engine.
type Use int

// The uses: Load, LoadCells and LoadEvaluator.
const (
	Scoring Use = iota
	Sorting
	Evaluating
)

// String returns the operation.
func (u Use) String() string { return [...]string{"load", "load cells", "load evaluator"}[u] }

// Engine is an engine.Engine that checks every call before another engine computes: closed,
// failed, arguments, in this order. What the other engine loads is checked in the same way.
type Engine struct {
	computing Computing
	how       How
	mu        sync.RWMutex // written to by Close, and by each operation if operations take turns
	closed    bool
}

// How says what an Engine does for the engine behind it.
type How struct {
	// InMemory: all that Plan lists lies in the memory of the process, and is refused where there is
	// no room for it.
	InMemory bool
	// Turns: no operation begins before the one before it has ended.
	Turns bool
	// ChecksExamples: the engine behind checks examples, labels and formats by itself.
	ChecksExamples bool
}

// New returns an engine that checks for computing.
func New(computing Computing, how How) *Engine {
	return &Engine{computing: computing, how: how}
}

// Locked calls f when no other operation is under way, if operations take turns.
func (e *Engine) Locked(f func()) {
	if e.how.Turns {
		e.mu.Lock()
		defer e.mu.Unlock()
	} else {
		e.mu.RLock()
		defer e.mu.RUnlock()
	}
	f()
}

// Do calls f as an operation: it returns ErrClosed after Close, and Close waits for it.
func (e *Engine) Do(op string, f func() error) (err error) {
	e.Locked(func() {
		if e.closed {
			err = fmt.Errorf("%s: %w", op, engine.ErrClosed)
			return
		}
		err = during(op, f())
	})
	return err
}

// during names the operation in an error that does not name it.
func during(op string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), op+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", op, err)
}

// Device implements engine.Engine.
func (e *Engine) Device() engine.Device { return e.computing.Device() }

// Close implements engine.Engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	return e.computing.Close()
}

// plan checks a task and returns its plan; ErrMemory where the process has no room.
func (e *Engine) plan(op string, x dataset.Stored, t *Task) (p engine.Plan, err error) {
	if !e.how.ChecksExamples {
		if t.Format, err = Load(x, *t); err != nil {
			return p, err
		}
	}
	if op != "plan" && !e.how.InMemory {
		return p, nil // a load that finds out by itself
	}
	if p, err = e.computing.Plan(x, *t); err == nil && e.how.InMemory {
		err = inMemory(op, x, t.Classes, p)
	}
	return p, err
}

// load loads examples when the arguments are sound and there is room.
func (e *Engine) load(rows dataset.Rows, t Task) (*data, error) {
	op, d := t.Use.String(), &data{e: e}
	return d, e.Do(op, func() (err error) {
		x := rows.Stored()
		if _, err = e.plan(op, x, &t); err != nil {
			return err
		}
		if d.scorer, err = e.computing.Load(x, t); err != nil {
			return err
		}
		d.n, d.d, d.q = d.scorer.Shape()
		d.cells, _ = d.scorer.(engine.Cells)
		d.evaluator, _ = d.scorer.(engine.Evaluator)
		switch t.Use {
		case Sorting:
			d.fixed = d.cells.FixedPoint()
		case Evaluating:
			d.fixed = d.evaluator.FixedPoint()
		}
		return nil
	})
}

// Load implements engine.Engine.
func (e *Engine) Load(x dataset.Rows, classes int) (engine.Scorer, error) {
	d, err := e.load(x, Task{Classes: classes})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// LoadCells implements engine.Engine.
func (e *Engine) LoadCells(x dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (engine.Cells, error) {
	d, err := e.load(x, Task{Use: Sorting, Classes: classes, Labels: y, Format: f})
	if err != nil {
		return nil, err
	}
	return cells{d}, nil
}

// LoadEvaluator implements engine.Engine.
func (e *Engine) LoadEvaluator(x dataset.Rows, classes int, f numerics.FixedPoint,
) (engine.Evaluator, error) {
	d, err := e.load(x, Task{Use: Evaluating, Classes: classes, Format: f})
	if err != nil {
		return nil, err
	}
	return evaluator{d}, nil
}

// Plan implements engine.Engine.
func (e *Engine) Plan(x dataset.Rows, y []int32, classes int) (engine.Plan, error) {
	t := Task{Classes: classes, Labels: y}
	if y != nil {
		t.Use = Sorting
	}
	return e.planned(x, t)
}

// PlanEvaluator implements engine.Engine.
func (e *Engine) PlanEvaluator(x dataset.Rows, classes int) (engine.Plan, error) {
	return e.planned(x, Task{Use: Evaluating, Classes: classes})
}

func (e *Engine) planned(x dataset.Rows, t Task) (p engine.Plan, err error) {
	err = e.Do("plan", func() (err error) {
		p, err = e.plan("plan", x.Stored(), &t)
		return err
	})
	return p, err
}

// Project implements engine.Engine.
func (e *Engine) Project(dst []float32, rows dataset.Rows, p engine.Projection) error {
	return e.Do("project", func() error {
		x := rows.Stored()
		if !e.how.ChecksExamples {
			if err := Project(dst, x, p); err != nil {
				return err
			}
		}
		return e.computing.Project(dst, x, p)
	})
}
