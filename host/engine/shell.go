package engine

import (
	"fmt"
	"strings"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Engine computes on examples through a Driver. All methods may be called from several goroutines
// at once, Close included; serial drivers get one call at a time. Every method but Device and
// Close returns ErrClosed after Close.
type Engine struct {
	driver Driver
	serial bool
	mu     sync.RWMutex // written by Close, and by every operation of a serial driver
	closed bool
}

// New returns an engine over a driver, which it owns: Close closes it.
func New(d Driver) *Engine { return &Engine{driver: d, serial: d.Serial()} }

// Serial reports whether operations come one at a time, and, on ranks, must come in one order.
func (e *Engine) Serial() bool { return e.serial }

// Device describes where the engine computes.
func (e *Engine) Device() Device { return e.driver.Device() }

// Close frees the device. Operations under way in other goroutines finish; later ones return
// ErrClosed, also on data sets that were loaded. Close these first. A second Close does nothing.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	return e.driver.Close()
}

// Load loads n examples of d features, dense or sparse, to score them for a number of classes.
// Both forms give the same bits if the weights are finite. The engine may keep references to x's
// slices until Close; nobody may write to them. Scores start at 0, as for W = 0.
// Errors: ErrShape, ErrValue, ErrMemory, ErrClosed.
func (e *Engine) Load(x dataset.Examples, classes int) (*Scorer, error) {
	return e.load(x, Task{Classes: classes})
}

// LoadCells is Load for examples with noisy labels y[i] in [0, classes); the engine may keep a
// reference to y as to x's slices. Every cell starts empty. f is the fixed-point format of the
// class sums; the zero value selects the format that clause 3 derives from these examples.
// Errors: see Load; ErrLabel; ErrShape also for a format that cannot hold the examples.
func (e *Engine) LoadCells(x dataset.Examples, y []int32, classes int,
	f numerics.FixedPoint) (*Cells,
	error) {
	s, err := e.load(x, Task{Use: UseCells, Classes: classes, Labels: y, Format: f})
	if err != nil {
		return nil, err
	}
	return &Cells{s}, nil
}

// LoadEvaluator is Load for examples whose scores are compared with targets, which SetTargets sets.
// f is the fixed-point format of the weighted sums, as for LoadCells. Errors: see Load;
// ErrShape also for a format that cannot hold the examples, ErrValue for values above 2^118 in
// size.
func (e *Engine) LoadEvaluator(x dataset.Examples, classes int, f numerics.FixedPoint) (*Evaluator,
	error) {
	s, err := e.load(x, Task{Use: UseEvaluator, Classes: classes, Format: f})
	if err != nil {
		return nil, err
	}
	return &Evaluator{Scorer: s}, nil
}

func (e *Engine) load(x dataset.Examples, t Task) (s *Scorer, err error) {
	err = e.do(t.Use.String(), func() (err error) {
		if t.Format, err = checkTask(x, t); err != nil {
			return err
		}
		loaded, err := e.driver.Load(x, t)
		if err != nil {
			return err
		}
		s = &Scorer{held: held{e: e, close: loaded.Close}, loaded: loaded, n: x.N, d: x.D, q: t.Classes,
			fixed: t.Format}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Project maps each example of x, dense or sparse, by p (clause 13) and writes the numbers to dst,
// n×p.Width() row-major. Both forms of x and of the landmarks give the same bits. The engine keeps
// nothing. Errors: ErrShape, ErrValue, ErrMemory, ErrClosed.
func (e *Engine) Project(dst []float32, x dataset.Examples, p Projection) error {
	return e.do("project", func() error {
		if err := checkProject(dst, x, p); err != nil {
			return err
		}
		return e.driver.Project(dst, x, p)
	})
}

// locked calls f as an operation: Close waits for it, and with a serial driver nothing else runs.
func (e *Engine) locked(f func()) {
	if e.serial {
		e.mu.Lock()
		defer e.mu.Unlock()
	} else {
		e.mu.RLock()
		defer e.mu.RUnlock()
	}
	f()
}

// do runs an operation of the engine itself.
func (e *Engine) do(op string, f func() error) (err error) {
	e.locked(func() {
		if err = ErrClosed; !e.closed {
			err = f()
		}
	})
	return named(op, err)
}

// named adds the operation to an error that does not begin with it.
func named(op string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), op+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", op, err)
}
