package enginecheck

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Engine is an engine.Engine that checks every call before another engine computes: closed,
// failed, arguments, in this order. What the other engine loads is checked in the same way.
//
// The engine behind it gets sound arguments only, and a format of sums that is never zero. Each
// data set of it is closed once, also after the engine.
type Engine struct {
	computing engine.Engine
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
func New(computing engine.Engine, how How) *Engine {
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

// use is what examples are loaded for.
type use int

const (
	scoring use = iota
	sorting     // into cells
	evaluating
)

// check returns the format of the sums of examples that are to be loaded.
func (e *Engine) check(
	op string, use use, x dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (numerics.FixedPoint, error) {
	switch {
	case e.how.ChecksExamples:
		return f, nil
	case use == scoring:
		return f, Load(op, x, classes)
	case use == sorting:
		return LoadCells(op, x, y, classes, f)
	}
	return LoadEvaluator(op, x, classes, f)
}

// plan returns the plan of a load, and ErrMemory where there is no room.
func (e *Engine) plan(op string, use use, x dataset.Rows, y []int32, classes int) (p engine.Plan,
	err error) {
	if use == evaluating {
		p, err = e.computing.PlanEvaluator(x, classes)
	} else {
		p, err = e.computing.Plan(x, y, classes)
	}
	if err == nil && e.how.InMemory {
		err = inMemory(op, x, classes, p)
	}
	return p, err
}

// load returns what wrap makes of what open loads, when the arguments are sound and there is room.
// open takes the format of the sums.
func load[R, S any](e *Engine, op string, use use, x dataset.Rows, y []int32, classes int,
	format numerics.FixedPoint, open func(numerics.FixedPoint) (R, error), wrap func(R) S,
) (s S, err error) {
	err = e.Do(op, func() error {
		format, err := e.check(op, use, x, y, classes, format)
		if err == nil && e.how.InMemory {
			_, err = e.plan(op, use, x, y, classes)
		}
		if err != nil {
			return err
		}
		r, err := open(format)
		if err == nil {
			s = wrap(r)
		}
		return err
	})
	return s, err
}

// Load implements engine.Engine.
func (e *Engine) Load(x dataset.Rows, classes int) (engine.Scorer, error) {
	return load(e, "load", scoring, x, nil, classes, numerics.FixedPoint{},
		func(numerics.FixedPoint) (engine.Scorer, error) { return e.computing.Load(x, classes) },
		func(r engine.Scorer) engine.Scorer { return e.scorer(r) })
}

// LoadCells implements engine.Engine.
func (e *Engine) LoadCells(x dataset.Rows, y []int32, classes int, format numerics.FixedPoint,
) (engine.Cells, error) {
	return load(e, "load cells", sorting, x, y, classes, format,
		func(f numerics.FixedPoint) (engine.Cells, error) {
			return e.computing.LoadCells(x, y, classes, f)
		}, func(r engine.Cells) engine.Cells { return &cells{e.scorer(r), r, r.FixedPoint()} })
}

// LoadEvaluator implements engine.Engine.
func (e *Engine) LoadEvaluator(x dataset.Rows, classes int, format numerics.FixedPoint,
) (engine.Evaluator, error) {
	return load(e, "load evaluator", evaluating, x, nil, classes, format,
		func(f numerics.FixedPoint) (engine.Evaluator, error) {
			return e.computing.LoadEvaluator(x, classes, f)
		}, func(r engine.Evaluator) engine.Evaluator {
			return &evaluator{scorer: e.scorer(r), computing: r, fixed: r.FixedPoint()}
		})
}

// Plan implements engine.Engine.
func (e *Engine) Plan(x dataset.Rows, y []int32, classes int) (engine.Plan, error) {
	if y == nil {
		return e.planned(scoring, x, nil, classes)
	}
	return e.planned(sorting, x, y, classes)
}

// PlanEvaluator implements engine.Engine.
func (e *Engine) PlanEvaluator(x dataset.Rows, classes int) (engine.Plan, error) {
	return e.planned(evaluating, x, nil, classes)
}

// planned is Plan for a use.
func (e *Engine) planned(use use, x dataset.Rows, y []int32, classes int) (p engine.Plan,
	err error) {
	const op = "plan"
	err = e.Do(op, func() (err error) {
		if _, err = e.check(op, use, x, y, classes, numerics.FixedPoint{}); err == nil {
			p, err = e.plan(op, use, x, y, classes)
		}
		return err
	})
	return p, err
}

// Project implements engine.Engine.
func (e *Engine) Project(dst []float32, x dataset.Rows, p engine.Projection) error {
	const op = "project"
	return e.Do(op, func() error {
		if !e.how.ChecksExamples {
			if err := Project(op, dst, x, p); err != nil {
				return err
			}
		}
		return e.computing.Project(dst, x, p)
	})
}

// scorer checks for a data set of an Engine.
type scorer struct {
	e         *Engine
	computing engine.Scorer // nil when closed
	n, d, q   int
	failed    error // of the first operation that failed
}

func (e *Engine) scorer(r engine.Scorer) *scorer {
	n, d, q := r.Shape()
	return &scorer{e: e, computing: r, n: n, d: d, q: q}
}

// Inner returns the data set of the engine behind an Engine, for tests of that engine.
func Inner(s engine.Scorer) engine.Scorer {
	switch s := s.(type) {
	case *cells:
		return s.scorer.computing
	case *evaluator:
		return s.scorer.computing
	case *scorer:
		return s.computing
	}
	return nil
}

// do checks what op is for, then its arguments, and has it computed. After an error the data set
// is of no more use.
func (s *scorer) do(op string, check func() error, compute func() error) (err error) {
	s.e.Locked(func() {
		switch {
		case s.computing == nil || s.e.closed:
			err = fmt.Errorf("%s: %w", op, engine.ErrClosed)
		case s.failed != nil:
			err = fmt.Errorf("%s: %w: %w", op, engine.ErrFailed, s.failed)
		default:
			err = check()
		}
		if err != nil {
			return
		}
		if err = during(op, compute()); err != nil && !errors.Is(err, engine.ErrClosed) {
			s.failed = err
		}
	})
	return err
}

func (s *scorer) Shape() (n, d, q int) { return s.n, s.d, s.q }

func (s *scorer) Close() (err error) {
	s.e.Locked(func() {
		if s.computing != nil {
			err = s.computing.Close()
			s.computing = nil
		}
	})
	return err
}

func (s *scorer) Rescore(w engine.Weights, classes []int) error {
	return s.do("rescore", func() error { return checkRescore(w, classes, s.d, s.q) },
		func() error { return s.computing.Rescore(w, classes) })
}

func (s *scorer) Scores(dst []float32, from, to int) error {
	return s.do("scores", func() error { return checkScores(dst, from, to, s.n, s.q) },
		func() error { return s.computing.Scores(dst, from, to) })
}

func (s *scorer) Predict(dst []int32) error {
	return s.do("predict", func() error { return checkLen("predict", "dst", len(dst), s.n) },
		func() error { return s.computing.Predict(dst) })
}

// cells is a scorer with cells.
type cells struct {
	*scorer
	computing engine.Cells
	fixed     numerics.FixedPoint
}

func (c *cells) FixedPoint() numerics.FixedPoint { return c.fixed }

func (c *cells) Close() error {
	c.computing = nil
	return c.scorer.Close()
}

func (c *cells) Assign(alpha float32) (a engine.Assignment, err error) {
	err = c.do("assign", func() error { return nil }, func() (err error) {
		a, err = c.computing.Assign(alpha)
		return err
	})
	return a, err
}

func (c *cells) ClassSums(dst []int64, p int) error {
	const op = "class sums"
	return c.do(op, func() error {
		return errors.Join(checkClass(op, p, c.q), checkLen(op, "dst", len(dst), c.q*c.d))
	}, func() error { return c.computing.ClassSums(dst, p) })
}

func (c *cells) Norms(dst, inv []float32) error {
	const op = "norms"
	return c.do(op, func() error {
		return errors.Join(checkLen(op, "dst", len(dst), c.q*c.q), checkLen(op, "inv", len(inv), c.q*c.q))
	}, func() error { return c.computing.Norms(dst, inv) })
}

func (c *cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	return c.do("update vectors", func() error {
		return checkUpdateVectors(dst, pairs, inv, c.d, c.q)
	}, func() error { return c.computing.UpdateVectors(dst, pairs, inv) })
}

// evaluator is a scorer with targets.
type evaluator struct {
	*scorer
	computing  engine.Evaluator
	fixed      numerics.FixedPoint
	hasTargets bool
}

func (v *evaluator) FixedPoint() numerics.FixedPoint { return v.fixed }

func (v *evaluator) Close() error {
	v.computing = nil
	return v.scorer.Close()
}

func (v *evaluator) SetTargets(t engine.Targets) error {
	return v.do("set targets", func() error { return checkTargets(t, v.n, v.q) }, func() error {
		v.hasTargets = true
		return v.computing.SetTargets(t)
	})
}

func (v *evaluator) Evaluate(sums []int64, w engine.Weights) (found engine.Evaluation, err error) {
	err = v.do("evaluate", func() error { return checkEvaluate(sums, w, v.d, v.q, v.hasTargets) },
		func() (err error) {
			found, err = v.computing.Evaluate(sums, w)
			return err
		})
	return found, err
}

func (v *evaluator) WeightedSums(sums []int64, a []float32) error {
	return v.do("weighted sums", func() error { return checkWeightedSums(sums, a, v.n, v.d) },
		func() error { return v.computing.WeightedSums(sums, a) })
}
