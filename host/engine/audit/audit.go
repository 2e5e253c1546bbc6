// Package audit compares a driver with another one: wrong results of a device, its memory or the
// way to it become errors instead of models.
package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// ErrDiffers is returned by an operation whose result is wrong. The text names the value, and says
// what was found and wanted.
var ErrDiffers = errors.New("result differs between engines")

// The levels of an audit. Sample takes two percent of the time, or 40 ms: the counts of each
// assignment must add up to the counts of the labels, and some results are computed again by the
// other driver and compared bit by bit. When a data set is closed, its last assignment or
// evaluation is compared if there is time, which finds memory that went wrong at any time. Full
// computes everything twice.
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
	return newDriver(d, by, level == Full)
}

func newDriver(d, by engine.Driver, full bool) *driver {
	return &driver{Driver: d, by: by, full: full, start: time.Now(), rate: 0.2e-9}
}

// driver is a driver that is audited by another one.
type driver struct {
	engine.Driver
	by     engine.Driver
	full   bool
	start  time.Time
	closed bool

	mu    sync.Mutex
	spent float64 // seconds, by all audits
	rate  float64 // seconds for a multiplication of an audit, as measured last
}

func (a *driver) Serial() bool { return a.Driver.Serial() || a.by.Serial() }

func (a *driver) Close() error {
	a.closed = true
	return errors.Join(a.Driver.Close(), a.by.Close())
}

// What audits may take: a share of the time since the engine was opened, and a while that nobody
// notices. Audits under way leave as much again for the last one of a data set.
const (
	shareOfTime = 0.01
	freeSeconds = 0.02
)

// affords returns how many multiplications there is time for, with times the usual allowance.
func (a *driver) affords(times float64) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return (times*(freeSeconds+shareOfTime*time.Since(a.start).Seconds()) - a.spent) / a.rate
}

// audit calls compare, which takes that number of multiplications, if there is time. A lack of
// memory is an error only if everything is audited.
func (a *driver) audit(op string, operations int, times float64, compare func() error) error {
	if !a.full && float64(operations) > a.affords(times) {
		return nil
	}
	start := time.Now()
	err := compare()
	took := time.Since(start).Seconds()
	a.mu.Lock()
	if a.spent += took; operations > 1<<20 { // of fewer the time says little
		a.rate = took / float64(operations)
	}
	a.mu.Unlock()
	if !a.full && errors.Is(err, engine.ErrMemory) {
		return nil
	}
	return named(op, err)
}

// named says that an error is of an audit.
func named(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("audit of %s: %w", op, err)
}

// some returns the range of n examples to audit, of that number of multiplications each: all, or as
// many as there is time for, at least one.
func (a *driver) some(n, each int) (from, to int) {
	if a.full {
		return 0, n
	}
	count := int(min(max(1, a.affords(1)/float64(each)), float64(n)))
	from = rand.IntN(n - count + 1)
	return from, from + count
}

// Project compares all that it returns, or some examples.
func (a *driver) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	if err := a.Driver.Project(dst, x, p); err != nil {
		return err
	}
	width, each := p.Width(), p.Landmarks.N*(x.D+p.Axes.Q)
	from, to := a.some(x.N, each)
	return a.audit("a projection", 0, 1, func() error {
		want := make([]float32, (to-from)*width)
		return cmp.Or(a.by.Project(want, x.Part(from, to), p),
			same(fmt.Sprintf("projection of examples from %d on", from), dst[from*width:], want))
	})
}

func (a *driver) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	found, err := a.Driver.Load(x, t)
	if err != nil {
		return nil, err
	}
	l := &loaded{a: a, x: x, task: t, found: found, w: engine.NewWeights(t.Classes, x.D),
		stale: make([]bool, t.Classes), labels: make([]int64, t.Classes)}
	for _, k := range t.Labels {
		l.labels[k]++
	}
	return l, nil
}

// loaded is a data set on the audited driver, and on the other one from the first audit of an
// assignment or of weighted sums on. It has the methods of all uses.
type loaded struct {
	a      *driver
	x      dataset.Examples
	task   engine.Task
	found  engine.Loaded
	other  engine.Loaded  // nil before
	w      engine.Weights // of all calls of Rescore
	stale  []bool         // classes that the other has not rescored since
	labels []int64        // examples of each label

	targets *engine.Targets // that the other does not have yet, or nil
	again   func() error    // audits the last assignment or evaluation; nil if it is audited
	current bool            // the other has the last assignment
	failed  bool            // an operation or a comparison
}

// note remembers that an operation failed.
func (l *loaded) note(err error) error {
	l.failed = l.failed || err != nil
	return err
}

// judge returns err or, if there is time, the error of an audit.
func (l *loaded) judge(err error, op string, operations int, compare func() error) error {
	if err == nil {
		err = l.a.audit(op, operations, 1, compare)
	}
	return l.note(err)
}

// repeat judges values that the other driver computes too.
func repeat[T int64 | float32](l *loaded, err error, what string, operations int, found []T,
	compute func(want []T) error) error {
	return l.judge(err, what, operations, func() error {
		want := make([]T, len(found))
		return cmp.Or(compute(want), same(what, found, want))
	})
}

// repeatCells is repeat for values of the last assignment, if the other driver has it too.
func repeatCells[T int64 | float32](l *loaded, err error, what string, operations int, found []T,
	compute func(r engine.LoadedCells, want []T) error) error {
	if !l.current {
		return l.note(err)
	}
	return repeat(l, err, what, operations, found, func(want []T) error {
		return compute(l.other.(engine.LoadedCells), want)
	})
}

func (l *loaded) Rescore(w engine.Weights, classes []int) error {
	err := l.found.Rescore(w, classes)
	for _, c := range classes {
		copy(l.w.Row(c), w.Row(c))
		l.stale[c] = true
	}
	if l.task.Use == engine.UseCells && len(classes) > 0 {
		l.again = nil // the cells are of other scores
	}
	return l.note(err)
}

// cost is the number of multiplications of an audit of one example.
func (l *loaded) cost() int { return (l.x.Size()/l.x.N + 1) * (l.w.Q + 8) }

// Scores compares the scores of all examples, or of some.
func (l *loaded) Scores(dst []float32, from, to int) error {
	err := l.found.Scores(dst, from, to)
	if from == to {
		return l.note(err)
	}
	first, last := l.a.some(to-from, l.cost())
	return l.judge(err, "scores", 0, func() error {
		want, err := l.scores(from+first, from+last)
		return cmp.Or(err, same(fmt.Sprintf("scores of examples from %d on", from+first),
			dst[first*l.w.Q:], want))
	})
}

// Predict compares the predictions of all examples, or of some.
func (l *loaded) Predict(dst []int32) error {
	err := l.found.Predict(dst)
	from, to := l.a.some(len(dst), l.cost())
	return l.judge(err, "predictions", 0, func() error {
		scores, err := l.scores(from, to)
		return cmp.Or(err, same(fmt.Sprintf("predictions of examples from %d on", from), dst[from:],
			engine.Predicted(scores, l.w.Q)))
	})
}

// scores computes the scores of some examples on the other driver.
func (l *loaded) scores(from, to int) (scores []float32, err error) {
	r, err := l.a.by.Load(l.x.Part(from, to), engine.Task{Classes: l.w.Q})
	if err != nil {
		return nil, err
	}
	scores = make([]float32, (to-from)*l.w.Q)
	err = r.Rescore(l.w, lists.UpTo[int](l.w.Q))
	return scores, errors.Join(err, r.Scores(scores, 0, to-from), r.Close())
}

// load loads the data set on the other driver, unless it is there.
func (l *loaded) load() (err error) {
	if l.other == nil {
		l.other, err = l.a.by.Load(l.x, l.task)
	}
	return err
}

func (l *loaded) Assign(alpha float32) (engine.Assignment, error) {
	found, err := l.found.(engine.LoadedCells).Assign(alpha)
	if err == nil {
		err = named("an assignment", checkCounts(found, l.labels))
	}
	own := engine.Assignment{Regions: slices.Clone(found.Regions),
		Predicted: slices.Clone(found.Predicted)}
	l.again, l.current = func() error { return l.assignAgain(alpha, own) }, false
	return found, l.judge(err, "an assignment", l.x.N*l.cost(), l.again)
}

// checkCounts compares the counts of an assignment with the numbers of examples of each label.
func checkCounts(a engine.Assignment, labels []int64) error {
	q := len(labels)
	for k, want := range labels {
		got := int64(0)
		for cell := k; cell < q*q; cell += q {
			if n, most := a.Regions[cell], a.Predicted[cell]; n < 0 || n > most {
				return differs(fmt.Sprintf("counts of regions: region %d, label %d", cell/q, k), n,
					fmt.Sprintf("0 to %d", most))
			}
			got += a.Predicted[cell]
		}
		if got != want {
			return differs(fmt.Sprintf("count of examples with label %d", k), got, want)
		}
	}
	return nil
}

// assignAgain assigns on the other driver, and compares counts and class sums.
func (l *loaded) assignAgain(alpha float32, found engine.Assignment) error {
	if err := l.load(); err != nil {
		return err
	}
	classes := lists.Where(len(l.stale), func(c int) bool { return l.stale[c] })
	if err := l.other.Rescore(l.w, classes); err != nil {
		return err
	}
	clear(l.stale)
	r, other := l.found.(engine.LoadedCells), l.other.(engine.LoadedCells)
	want, err := other.Assign(alpha)
	if err != nil {
		return err
	}
	q := l.w.Q
	err = cmp.Or(same("counts of predictions by label", found.Predicted, want.Predicted),
		same("counts of regions by label", found.Regions, want.Regions))
	sums, expected := make([]int64, q*l.x.D), make([]int64, q*l.x.D)
	for p := 0; p < q && err == nil; p++ {
		err = cmp.Or(r.ClassSums(sums, p), other.ClassSums(expected, p),
			same(sumsOf(p), sums, expected))
	}
	l.again, l.current = nil, true
	return err
}

func sumsOf(p int) string { return fmt.Sprintf("class sums of region %d", p) }

func (l *loaded) ClassSums(dst []int64, p int) error {
	err := l.found.(engine.LoadedCells).ClassSums(dst, p)
	return repeatCells(l, err, sumsOf(p), len(dst), dst,
		func(r engine.LoadedCells, want []int64) error { return r.ClassSums(want, p) })
}

func (l *loaded) Norms(dst, inv []float32) error {
	err := l.found.(engine.LoadedCells).Norms(dst, inv)
	return repeatCells(l, err, "norms", l.w.Q*len(dst)*l.x.D, dst,
		func(r engine.LoadedCells, want []float32) error { return r.Norms(want, inv) })
}

func (l *loaded) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	err := l.found.(engine.LoadedCells).UpdateVectors(dst, pairs, inv)
	return repeatCells(l, err, "update vectors", l.w.Q*len(dst), dst,
		func(r engine.LoadedCells, want []float32) error { return r.UpdateVectors(want, pairs, inv) })
}

func (l *loaded) SetTargets(t engine.Targets) error {
	l.targets, l.again = &t, nil // what was evaluated with other targets cannot be repeated
	return l.note(l.found.(engine.LoadedEvaluator).SetTargets(t))
}

func (l *loaded) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	found, err := l.found.(engine.LoadedEvaluator).Evaluate(sums, w)
	copy(l.w.W, w.W)
	own, last := slices.Clone(sums), w.Clone()
	l.again = func() error { return l.evaluateAgain(found, own, last) }
	return found, l.judge(err, "an evaluation", l.x.N*l.cost(), l.again)
}

// evaluateAgain evaluates weights on the other driver.
func (l *loaded) evaluateAgain(found engine.Evaluation, sums []int64, w engine.Weights) error {
	if err := l.load(); err != nil {
		return err
	}
	r := l.other.(engine.LoadedEvaluator)
	if l.targets != nil {
		if err := r.SetTargets(*l.targets); err != nil {
			return err
		}
		l.targets = nil
	}
	expected := make([]int64, len(sums))
	want, err := r.Evaluate(expected, w)
	l.again = nil
	switch {
	case err != nil:
		return err
	case found.Refused != want.Refused:
		return differs("count of refused examples", found.Refused, want.Refused)
	case found.Loss != want.Loss:
		return differs("sum of losses", found.Loss, want.Loss)
	}
	return same("weighted sums of the residuals", sums, expected)
}

func (l *loaded) WeightedSums(sums []int64, a []float32) error {
	err := l.found.(engine.LoadedEvaluator).WeightedSums(sums, a)
	return repeat(l, err, "weighted sums", l.x.N*l.cost(), sums, func(want []int64) error {
		if err := l.load(); err != nil {
			return err
		}
		return l.other.(engine.LoadedEvaluator).WeightedSums(want, a)
	})
}

// Close audits the last assignment or evaluation before it closes, unless the driver is closed or
// an operation has failed.
func (l *loaded) Close() (err error) {
	if !l.a.closed && !l.failed && l.again != nil {
		err = l.a.audit("what was computed last", l.x.N*l.cost(), 2, l.again)
	}
	err = errors.Join(err, l.found.Close())
	if l.other != nil {
		err = errors.Join(err, l.other.Close())
	}
	return err
}

// same compares bits.
func same[T int32 | int64 | float32](what string, found, wanted []T) error {
	for k, want := range wanted {
		got := found[k]
		if got == want && 1/float64(got) == 1/float64(want) || got != got && want != want {
			continue // zeros have signs, and all NaN are one
		}
		return differs(fmt.Sprintf("%s: value %d", what, k), got, want)
	}
	return nil
}

func differs(what string, found, wanted any) error {
	if f, ok := found.(float32); ok {
		return fmt.Errorf("%s: %w: found %v (%[3]x), wanted %v (%[4]x)", what, ErrDiffers, f, wanted)
	}
	return fmt.Errorf("%s: %w: found %v, wanted %v", what, ErrDiffers, found, wanted)
}
