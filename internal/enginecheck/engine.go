// Package enginecheck checks every call of an engine before it computes: the same checks and the
// same errors for all engines.
package enginecheck

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Computing is an engine without checks. It gets sound arguments only, and no call after Close.
// Each data set of it is closed once, also after the engine.
type Computing interface {
	Device() engine.Device
	// Load returns an engine.Cells for Sorting and an engine.Evaluator for Evaluating.
	Load(x dataset.Examples, t Task) (engine.Scorer, error)
	Plan(x dataset.Examples, t Task) (engine.Plan, error)
	Project(dst []float32, x dataset.Examples, p engine.Projection) error
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
func (e *Engine) plan(op string, x dataset.Examples, t *Task) (p engine.Plan, err error) {
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
func (e *Engine) load(rows dataset.Examples, t Task) (*data, error) {
	op, d := t.Use.String(), &data{e: e}
	return d, e.Do(op, func() (err error) {
		x := rows
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
func (e *Engine) Load(x dataset.Examples, classes int) (engine.Scorer, error) {
	d, err := e.load(x, Task{Classes: classes})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// LoadCells implements engine.Engine.
func (e *Engine) LoadCells(x dataset.Examples, y []int32, classes int, f numerics.FixedPoint,
) (engine.Cells, error) {
	d, err := e.load(x, Task{Use: Sorting, Classes: classes, Labels: y, Format: f})
	if err != nil {
		return nil, err
	}
	return cells{d}, nil
}

// LoadEvaluator implements engine.Engine.
func (e *Engine) LoadEvaluator(x dataset.Examples, classes int, f numerics.FixedPoint,
) (engine.Evaluator, error) {
	d, err := e.load(x, Task{Use: Evaluating, Classes: classes, Format: f})
	if err != nil {
		return nil, err
	}
	return evaluator{d}, nil
}

// Plan implements engine.Engine.
func (e *Engine) Plan(x dataset.Examples, y []int32, classes int) (engine.Plan, error) {
	t := Task{Classes: classes, Labels: y}
	if y != nil {
		t.Use = Sorting
	}
	return e.planned(x, t)
}

// PlanEvaluator implements engine.Engine.
func (e *Engine) PlanEvaluator(x dataset.Examples, classes int) (engine.Plan, error) {
	return e.planned(x, Task{Use: Evaluating, Classes: classes})
}

func (e *Engine) planned(x dataset.Examples, t Task) (p engine.Plan, err error) {
	err = e.Do("plan", func() (err error) {
		p, err = e.plan("plan", x, &t)
		return err
	})
	return p, err
}

// Project implements engine.Engine.
func (e *Engine) Project(dst []float32, rows dataset.Examples, p engine.Projection) error {
	return e.Do("project", func() error {
		x := rows
		if !e.how.ChecksExamples {
			if err := Project(dst, x, p); err != nil {
				return err
			}
		}
		return e.computing.Project(dst, x, p)
	})
}

// data checks for a data set of an Engine, whatever its use. cells and evaluator have the methods
// of theirs.
type data struct {
	e          *Engine
	scorer     engine.Scorer // nil when closed, as are the next two
	cells      engine.Cells
	evaluator  engine.Evaluator
	n, d, q    int
	fixed      numerics.FixedPoint
	hasTargets bool
	labels     []int32 // of the last CountPredicted
	failed     error   // of the first operation that failed
}

type cells struct{ *data }

type evaluator struct{ *data }

// Inner returns the data set of the engine behind an Engine, for tests of that engine.
func Inner(s engine.Scorer) engine.Scorer {
	switch r := s.(type) {
	case cells:
		return r.scorer
	case evaluator:
		return r.scorer
	}
	return s.(*data).scorer
}

// do checks what op is for, then its arguments, and has it computed. After an error the data set
// is of no more use.
func (s *data) do(op string, check error, compute func() error) (err error) {
	s.e.Locked(func() {
		switch {
		case s.scorer == nil || s.e.closed:
			err = fmt.Errorf("%s: %w", op, engine.ErrClosed)
		case s.failed != nil:
			err = fmt.Errorf("%s: %w: %w", op, engine.ErrFailed, s.failed)
		case check != nil:
			err = during(op, check)
		default:
			if err = during(op, compute()); err != nil && !errors.Is(err, engine.ErrClosed) {
				s.failed = err
			}
		}
	})
	return err
}

func (s *data) Shape() (n, d, q int) { return s.n, s.d, s.q }

func (s *data) FixedPoint() numerics.FixedPoint { return s.fixed }

func (s *data) Close() (err error) {
	s.e.Locked(func() {
		if s.scorer != nil {
			err = s.scorer.Close()
		}
		s.scorer, s.cells, s.evaluator = nil, nil, nil
	})
	return err
}

func (s *data) Rescore(w engine.Weights, classes []int) error {
	return s.do("rescore", checkRescore(w, classes, s.d, s.q),
		func() error { return s.scorer.Rescore(w, classes) })
}

func (s *data) Scores(dst []float32, from, to int) error {
	return s.do("scores", checkScores(dst, from, to, s.n, s.q),
		func() error { return s.scorer.Scores(dst, from, to) })
}

func (s *data) Predict(dst []int32) error {
	return s.do("predict", checkLen("dst", len(dst), s.n),
		func() error { return s.scorer.Predict(dst) })
}

// CountPredicted checks labels once: those of the call before are not changed since.
func (s *data) CountPredicted(counts []int64, y []int32) error {
	err := checkLen("counts", len(counts), s.q*s.q)
	if err == nil && (len(y) != s.n || unsafe.SliceData(y) != unsafe.SliceData(s.labels)) {
		if err = checkLabels(y, s.n, s.q); err == nil {
			s.labels = y
		}
	}
	return s.do("count predicted", err,
		func() error { return s.scorer.CountPredicted(counts, y) })
}

func (s cells) Assign(alpha float32) (a engine.Assignment, err error) {
	err = s.do("assign", nil, func() (err error) {
		a, err = s.data.cells.Assign(alpha)
		return err
	})
	return a, err
}

func (s cells) ClassSums(dst []int64, p int) error {
	return s.do("class sums", errors.Join(checkClass(p, s.q), checkLen("dst", len(dst), s.q*s.d)),
		func() error { return s.data.cells.ClassSums(dst, p) })
}

func (s cells) Norms(dst, inv []float32) error {
	return s.do("norms",
		errors.Join(checkLen("dst", len(dst), s.q*s.q), checkLen("inv", len(inv), s.q*s.q)),
		func() error { return s.data.cells.Norms(dst, inv) })
}

func (s cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	return s.do("update vectors", checkUpdateVectors(dst, pairs, inv, s.d, s.q),
		func() error { return s.data.cells.UpdateVectors(dst, pairs, inv) })
}

func (s evaluator) SetTargets(t engine.Targets) error {
	return s.do("set targets", checkTargets(t, s.n, s.q), func() error {
		s.hasTargets = true
		return s.data.evaluator.SetTargets(t)
	})
}

func (s evaluator) Evaluate(sums []int64, w engine.Weights) (found engine.Evaluation, err error) {
	check := errors.Join(checkWeights(w, s.d, s.q), checkLen("sums", len(sums), s.q*s.d))
	if !s.hasTargets {
		check = fmt.Errorf("%w: found no targets, want a call of SetTargets before", engine.ErrShape)
	}
	err = s.do("evaluate", check, func() (err error) {
		found, err = s.data.evaluator.Evaluate(sums, w)
		return err
	})
	return found, err
}

func (s evaluator) WeightedSums(sums []int64, a []float32) error {
	return s.do("weighted sums", checkWeightedSums(sums, a, s.n, s.d),
		func() error { return s.data.evaluator.WeightedSums(sums, a) })
}
