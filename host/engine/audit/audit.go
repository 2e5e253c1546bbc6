// Package audit compares a driver with another one: wrong results of a device, its memory or the
// way to it become errors instead of models.
package audit

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// ErrDiffers is returned by an operation whose result is wrong. The text names the value, and says
// what was found and wanted.
var ErrDiffers = errors.New("result differs between engines")

// The levels of an audit. Sample takes two percent of the time, or 60 ms: the counts of each
// assignment must add up to the counts of the labels, and some results are computed again by the
// other driver and compared bit by bit. When a data set is closed, its last assignment or
// evaluation is compared, which finds memory that went wrong at any time. Full computes everything
// twice.
const (
	Off    = "off"
	Sample = "sample"
	Full   = "full"
)

// Driver returns d audited by another driver that computes the same bits; d itself at level Off or
// "". After an operation that returned ErrDiffers, its data set returns engine.ErrFailed. Close of
// a data set may return ErrDiffers too: nobody knows since when it was wrong. Auditing takes the
// memory of a data set on the other driver; a sample does without where there is too little. Close
// closes both drivers.
func Driver(d, by engine.Driver, level string) engine.Driver {
	if level == Off || level == "" {
		return d
	}
	return &driver{Driver: d, by: by, budget: newBudget(level == Full)}
}

// driver is a driver that is audited by another one.
type driver struct {
	engine.Driver
	by     engine.Driver
	budget *budget
	closed bool
}

func (a *driver) Serial() bool { return a.Driver.Serial() || a.by.Serial() }

func (a *driver) Close() error {
	a.closed = true
	return errors.Join(a.Driver.Close(), a.by.Close())
}

func (a *driver) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	loaded, err := a.Driver.Load(x, t)
	if err != nil {
		return nil, err
	}
	s := &scorer{a: a, loaded: loaded, x: x, task: t, w: engine.NewWeights(t.Classes, x.D),
		stale: make([]bool, t.Classes)}
	switch t.Use {
	case engine.UseCells:
		c := &cells{scorer: s, r: loaded.(engine.LoadedCells), labels: make([]int64, t.Classes)}
		for _, k := range t.Labels {
			c.labels[k]++
		}
		return c, nil
	case engine.UseEvaluator:
		return &evaluator{scorer: s, r: loaded.(engine.LoadedEvaluator)}, nil
	}
	return s, nil
}

// Project compares all that it returns, or a sample of the examples.
func (a *driver) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	if err := a.Driver.Project(dst, x, p); err != nil {
		return err
	}
	width := p.Width()
	return a.budget.some(x.N, func(which []int) error {
		part, want := x, make([]float32, len(which)*width)
		if len(which) < x.N {
			part = x.Pick(which)
		}
		if err := a.by.Project(want, part, p); err != nil {
			return fmt.Errorf("audit of a projection: %w", err)
		}
		for k, i := range which {
			if err := same(dst[i*width:(i+1)*width], want[k*width:(k+1)*width], func(t int) string {
				return fmt.Sprintf("projection of example %d: number %d", i, t)
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// same compares bits. name says what value k is.
func same[T int32 | int64 | float32](found, wanted []T, name func(k int) string) error {
	for k, want := range wanted {
		if got := found[k]; got != want && !(isNaN(got) && isNaN(want)) || zeroSigns(got, want) {
			return differs(name(k), got, want)
		}
	}
	return nil
}

func isNaN[T int32 | int64 | float32](v T) bool { return v != v }

// zeroSigns reports whether a and b are zeros of different signs.
func zeroSigns[T int32 | int64 | float32](a, b T) bool {
	return a == 0 && b == 0 && 1/float64(a) != 1/float64(b)
}

func differs(what string, found, wanted any) error {
	if f, ok := found.(float32); ok {
		return fmt.Errorf("%s: %w: found %v (%[3]x), wanted %v (%[4]x)", what, ErrDiffers, f, wanted)
	}
	return fmt.Errorf("%s: %w: found %v, wanted %v", what, ErrDiffers, found, wanted)
}

// scorer is a data set on the audited driver, and on the other one from the first audit on.
type scorer struct {
	a      *driver
	loaded engine.Loaded
	x      dataset.Examples
	task   engine.Task
	w      engine.Weights // of all calls of Rescore
	stale  []bool         // classes that the other has not rescored since

	other  engine.Loaded // nil before the first audit
	failed error         // of the first operation or comparison that failed
}

// note remembers the error of an operation.
func (s *scorer) note(err error) error {
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// compared remembers the error of a comparison, and says what it was about.
func (s *scorer) compared(op string, err error) error {
	if err == nil {
		return nil
	}
	return s.note(fmt.Errorf("audit of %s: %w", op, err))
}

// audit calls compare, which takes that number of operations, if there is time. A lack of memory is
// an error only if everything is audited.
func (s *scorer) audit(op string, a allowance, operations int, compare func() error) error {
	err := s.a.budget.audit(a, operations, compare)
	if errors.Is(err, engine.ErrMemory) && !s.a.budget.full {
		return nil
	}
	return s.compared(op, err)
}

// again computes values on the other driver, if there is time, and compares them.
func again[T int64 | float32](s *scorer, op string, operations int, found []T,
	compute func(want []T) error, name func(k int) string) error {
	return s.audit(op, all, operations, func() error {
		want := make([]T, len(found))
		if err := compute(want); err != nil {
			return err
		}
		return same(found, want, name)
	})
}

func (s *scorer) Rescore(w engine.Weights, classes []int) error {
	if err := s.note(s.loaded.Rescore(w, classes)); err != nil {
		return err
	}
	for _, c := range classes {
		copy(s.w.Row(c), w.Row(c))
		s.stale[c] = true
	}
	return nil
}

// begin loads the data set on the other driver, and brings its scores up to date.
func (s *scorer) begin() (err error) {
	if s.other == nil {
		if s.other, err = s.a.by.Load(s.x, s.task); err != nil {
			s.other = nil
			return err
		}
	}
	classes := lists.Where(len(s.stale), func(c int) bool { return s.stale[c] })
	if len(classes) == 0 {
		return nil
	}
	if err := s.other.Rescore(s.w, classes); err != nil {
		return err
	}
	clear(s.stale)
	return nil
}

// cost is the number of multiplications and additions of an audit of all examples.
func (s *scorer) cost() int { return s.x.Size() * (s.w.Q + 8) }

// Scores compares the scores of all examples, or of some.
func (s *scorer) Scores(dst []float32, from, to int) error {
	if err := s.note(s.loaded.Scores(dst, from, to)); err != nil || from == to {
		return err
	}
	return s.compared("scores", s.a.budget.some(to-from, func(which []int) error {
		return s.scores(from, which, func(k int, want []float32) error {
			return same(dst[which[k]*s.w.Q:], want, func(c int) string {
				return fmt.Sprintf("score of example %d for class %d", from+which[k], c)
			})
		})
	}))
}

// Predict compares the predictions of all examples, or of some.
func (s *scorer) Predict(dst []int32) error {
	if err := s.note(s.loaded.Predict(dst)); err != nil {
		return err
	}
	return s.compared("predictions", s.a.budget.some(len(dst), func(which []int) error {
		return s.scores(0, which, func(k int, want []float32) error {
			if class := engine.Predicted(want, s.w.Q)[0]; dst[which[k]] != class {
				return differs(fmt.Sprintf("prediction of example %d", which[k]), dst[which[k]], class)
			}
			return nil
		})
	}))
}

// scores computes the scores of some examples, counted from from, and passes each to judge.
func (s *scorer) scores(from int, which []int, judge func(k int, scores []float32) error) error {
	q := s.w.Q
	if s.a.budget.full { // which are all examples, and the other driver is faster
		if err := s.begin(); err != nil {
			return err
		}
		scores := make([]float32, len(which)*q)
		if err := s.other.Scores(scores, from, from+len(which)); err != nil {
			return err
		}
		for k := range which {
			if err := judge(k, scores[k*q:(k+1)*q]); err != nil {
				return err
			}
		}
		return nil
	}
	row, scores := make([]float32, s.x.D), make([]float32, q)
	for k, i := range which {
		x := s.x.DenseRow(row, from+i)
		for c := range scores {
			scores[c] = numerics.Dot(x, s.w.Row(c))
		}
		if err := judge(k, scores); err != nil {
			return err
		}
	}
	return nil
}

func (s *scorer) Close() error {
	err := s.loaded.Close()
	if s.other != nil {
		err = errors.Join(err, s.other.Close())
	}
	return err
}
