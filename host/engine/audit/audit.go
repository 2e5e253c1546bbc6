// Package audit watches an engine by another one: results that a device, its memory or the way to
// it has changed are found, and named, instead of becoming a model.
package audit

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// ErrDiffers is returned by an operation whose result is wrong. The text of the error says which
// value it is, what was found and what was wanted.
var ErrDiffers = errors.New("result differs between engines")

// The levels of an audit. Sample takes two hundredths of the time, or 60 ms: the counts of each
// assignment have to add up to those of the labels, and some results are computed once more by the
// other engine and compared to the bit. When a data set is closed, its last assignment or
// evaluation is: what went wrong in memory is found, whenever it began. Full computes everything
// twice.
const (
	Off    = "off"
	Sample = "sample"
	Full   = "full"
)

// Engine returns e audited by another engine that has the same bits; e itself at level Off or "".
// After an operation that returned ErrDiffers its data set returns engine.ErrFailed. Closing a data
// set may return ErrDiffers too: nobody knows since when it was in error. Auditing takes the memory
// of a data set on the other engine; a sample does without where there is too little. Close closes
// both engines.
func Engine(e, by engine.Engine, level string) engine.Engine {
	if level == Off || level == "" {
		return e
	}
	return checked(&auditedEngine{e: e, by: by, budget: newBudget(level == Full)})
}

func checked(a *auditedEngine) engine.Engine {
	return enginecheck.New(a, enginecheck.How{ChecksExamples: true})
}

// auditedEngine is an engine that is watched by another one, behind the checks.
type auditedEngine struct {
	e, by  engine.Engine
	budget *budget
}

func (a *auditedEngine) Device() engine.Device { return a.e.Device() }
func (a *auditedEngine) Close() error          { return errors.Join(a.e.Close(), a.by.Close()) }

func (a *auditedEngine) Load(x dataset.Examples, t enginecheck.Task) (loaded engine.Scorer,
	err error) {
	s := &scorer{a: a, x: x}
	switch t.Use {
	case enginecheck.Sorting:
		c := &cells{scorer: s}
		c.r, err = a.e.LoadCells(x, t.Labels, t.Classes, t.Format)
		s.s, loaded = c.r, c
		s.load = func() (_ engine.Scorer, err error) {
			c.t, err = a.by.LoadCells(x, t.Labels, t.Classes, c.r.FixedPoint())
			return c.t, err
		}
		if err == nil {
			c.labels = make([]int64, t.Classes)
			for _, k := range t.Labels {
				c.labels[k]++
			}
		}
	case enginecheck.Evaluating:
		v := &evaluator{scorer: s}
		v.r, err = a.e.LoadEvaluator(x, t.Classes, t.Format)
		s.s, loaded = v.r, v
		s.load = func() (_ engine.Scorer, err error) {
			v.t, err = a.by.LoadEvaluator(x, t.Classes, v.r.FixedPoint())
			return v.t, err
		}
	default:
		s.s, err = a.e.Load(x, t.Classes)
		s.load, loaded = func() (engine.Scorer, error) { return a.by.Load(x, t.Classes) }, s
	}
	if err == nil {
		s.w, s.stale = engine.NewWeights(t.Classes, x.D), make([]bool, t.Classes)
	}
	return loaded, err
}

func (a *auditedEngine) Plan(x dataset.Examples, t enginecheck.Task) (engine.Plan, error) {
	if t.Use == enginecheck.Evaluating {
		return a.e.PlanEvaluator(x, t.Classes)
	}
	return a.e.Plan(x, t.Labels, t.Classes)
}

// Project compares all that it returns, or a sample of the examples.
func (a *auditedEngine) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	if err := a.e.Project(dst, x, p); err != nil || x.N == 0 {
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

// scorer is a data set on e, and how to have it on the other engine too.
type scorer struct {
	a     *auditedEngine
	s     engine.Scorer
	x     dataset.Examples
	w     engine.Weights // of all calls of Rescore
	stale []bool         // classes that the other has not rescored since

	load   func() (engine.Scorer, error) // on the other
	other  engine.Scorer                 // nil before the first audit
	failed error                         // of the first comparison that failed

	labels   []int32 // of the last CountPredicted
	labelled []int64 // how many examples have each
}

func (s *scorer) Shape() (n, d, q int) { return s.s.Shape() }

// note remembers the first error of a comparison and returns err, with what it was about.
func (s *scorer) note(op string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("audit of %s: %w", op, err)
	if !errors.Is(err, engine.ErrClosed) {
		s.failed = err
	}
	return err
}

// enough turns an error of having no memory into none, unless all is to be audited.
func (s *scorer) enough(err error) error {
	if errors.Is(err, engine.ErrMemory) && !s.a.budget.full {
		return nil
	}
	return err
}

// again has the other engine compute values once more, if there is time, and compares them.
func again[T int64 | float32](s *scorer, op string, operations int, found []T,
	compute func(want []T) error, name func(k int) string) error {
	return s.note(op, s.enough(s.a.budget.audit(all, operations, func() error {
		want := make([]T, len(found))
		if err := compute(want); err != nil {
			return err
		}
		return same(found, want, name)
	})))
}

func (s *scorer) Rescore(w engine.Weights, classes []int) error {
	if err := s.s.Rescore(w, classes); err != nil {
		return err
	}
	for _, c := range classes {
		copy(s.w.Row(c), w.Row(c))
		s.stale[c] = true
	}
	return nil
}

// begin has the data set on the other engine, with the same scores.
func (s *scorer) begin() (err error) {
	if s.other == nil {
		if s.other, err = s.load(); err != nil {
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

// cost is how many multiplications and additions an audit of all examples takes.
func (s *scorer) cost() int { return s.x.Size() * (s.w.Q + 8) }

// Scores compares those of all examples, or of some.
func (s *scorer) Scores(dst []float32, from, to int) error {
	if err := s.s.Scores(dst, from, to); err != nil || from == to {
		return err
	}
	return s.note("scores", s.a.budget.some(to-from, func(which []int) error {
		return s.scores(from, which, func(k int, want []float32) error {
			return same(dst[which[k]*s.w.Q:], want, func(c int) string {
				return fmt.Sprintf("score of example %d for class %d", from+which[k], c)
			})
		})
	}))
}

// Predict compares the predictions of all examples, or of some.
func (s *scorer) Predict(dst []int32) error {
	if err := s.s.Predict(dst); err != nil {
		return err
	}
	return s.note("predictions", s.a.budget.some(len(dst), func(which []int) error {
		return s.scores(0, which, func(k int, want []float32) error {
			if class := engine.Predicted(want, s.w.Q)[0]; dst[which[k]] != class {
				return differs(fmt.Sprintf("prediction of example %d", which[k]), dst[which[k]], class)
			}
			return nil
		})
	}))
}

// CountPredicted compares all counts; or looks whether each label is counted as often as it occurs,
// and whether the predictions of some examples are among the counts.
func (s *scorer) CountPredicted(counts []int64, y []int32) error {
	if err := s.s.CountPredicted(counts, y); err != nil {
		return err
	}
	q, wanted := s.w.Q, make([]int64, len(counts))
	if s.a.budget.full {
		err := s.begin()
		if err == nil {
			err = s.other.CountPredicted(wanted, y)
		}
		if err == nil {
			err = same(counts, wanted, func(k int) string {
				return fmt.Sprintf("count of prediction %d and label %d", k/q, k%q)
			})
		}
		return s.note("count of predictions", err)
	}
	if len(y) != len(s.labels) || unsafe.SliceData(y) != unsafe.SliceData(s.labels) {
		s.labels, s.labelled = y, make([]int64, q)
		for _, k := range y {
			s.labelled[k]++
		}
	}
	for k, want := range s.labelled {
		found := int64(0)
		for p := range q {
			found += counts[p*q+k]
		}
		if found != want {
			return s.note("count of predictions", differs(fmt.Sprintf("examples of label %d", k), found,
				want))
		}
	}
	return s.note("count of predictions", s.a.budget.some(len(y), func(which []int) error {
		return s.scores(0, which, func(k int, scores []float32) error {
			p, label := int(engine.Predicted(scores, q)[0]), int(y[which[k]])
			if wanted[p*q+label]++; counts[p*q+label] < wanted[p*q+label] {
				return differs(fmt.Sprintf("count of prediction %d and label %d", p, label),
					counts[p*q+label], fmt.Sprint("at least ", wanted[p*q+label]))
			}
			return nil
		})
	}))
}

// scores computes those of some examples, counted from from, and has each judged.
func (s *scorer) scores(from int, which []int, judge func(k int, scores []float32) error) error {
	q := s.w.Q
	if s.a.budget.full { // which are all from from on, and the other engine is the faster
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
	err := s.s.Close()
	if s.other != nil {
		err = errors.Join(err, s.other.Close())
	}
	return err
}
