// Package enginetest is the conformance suite that every engine runs: the same
// bits as package cpuref, at sizes around every width a kernel could like,
// with hard values, fences around every slice, and the same kinds of error.
package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Case is one judgement of an engine. It does not need a *testing.T, so that a
// test can also ask that a broken engine fails.
type Case struct {
	Name    string
	Check   func(*engine.Engine) error        // against package cpuref
	Against func(e, ref *engine.Engine) error // against another reference
}

// newCase returns a case that compares an engine with a reference. That is package cpuref, whose
// loops define every result, and for cpuref itself the naive engine of its tests.
func newCase(name string, against func(e, ref *engine.Engine) error) Case {
	check := func(e *engine.Engine) error { return against(e, cpuref.New()) }
	return Case{name, check, against}
}

type checks map[string]func(e, ref *engine.Engine) error

// all returns cases by their names.
func all(checks checks) []Case {
	cases := []Case{}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		cases = append(cases, newCase(name, checks[name]))
	}
	return cases
}

// Cases lists the suite.
func Cases() []Case {
	return slices.Concat(cases("", problem.checkCells, problems()...), WalkCases(),
		projectCases(projections()), partCases(), EvaluationCases(), TogetherCases(), all(checks{
			"errors": checkErrors, "plan": checkPlan, "errors of project": checkProjectErrors,
			"no labels": checkNoLabels, "two residents": checkTwoResidents,
			"self-test": func(e, _ *engine.Engine) error { return engine.SelfTest(e) }}))
}

// WalkCases are the cases of many small changes of the weights: an engine with bounds must get
// each right though it scores few examples.
func WalkCases() []Case {
	cases := []Case{}
	for _, w := range walks() {
		cases = append(cases, newCase(w.name, w.check))
	}
	return append(cases, newCase("rounding decides", checkRounding))
}

// WideCases have more columns than 16 bits count, which takes more memory than
// an engine that is made to cut the others in tiles may be given.
func WideCases() []Case {
	p := problem{name: "wide", n: 21, d: 70001, q: 3, edit: thinOut, targets: []drawTargets{labels},
		counts: []int{1}}
	return slices.Concat(cases("evaluate: ", problem.checkEvaluation, p),
		cases("", problem.checkCells, p), all(checks{"more memory than there is": checkMemory}))
}

// ShortCases are for what makes an engine many times slower and looks for other faults
// than wrong bits, such as the race detector: the tiny cases, one with enough examples
// to be shared out, and misuse.
func ShortCases() []Case {
	short := slices.Concat(TinyCases(), partCases(), evaluationParts(), TogetherCases(), all(checks{
		"errors": checkErrors, "evaluate: errors": checkEvaluateErrors,
		"errors of project": checkProjectErrors, "two residents": checkTwoResidents}))
	for _, w := range walks() {
		if w.n > 2000 {
			short = append(short, newCase(w.name, w.check))
		}
	}
	return short
}

// AllCases are Cases and WideCases, or with go test -short ShortCases.
func AllCases() []Case {
	if testing.Short() {
		return ShortCases()
	}
	return append(Cases(), WideCases()...)
}

// TinyCases are some cases small enough for an interpreter of kernels.
func TinyCases() []Case {
	tiny := walk{problem: problem{name: "tiny walk", n: 20, d: 5, q: 3}, noise: 0.1, stride: 0.2}
	return slices.Concat(cases("", problem.checkCells, []problem{
		{name: "tiny", n: 1, d: 1, q: 2},
		{name: "tiny with margin", n: 35, d: 5, q: 3, alpha: 0.5},
		{name: "tiny with two chunks", n: 17, d: 259, q: 3},
		{name: "tiny with many classes", n: 20, d: 2, q: 17, value: digits, weight: digits},
	}...), projectCases(tinyProjections()), tinyEvaluations(),
		all(checks{tiny.name: tiny.check, "no labels": checkNoLabels}))
}

// Run runs cases, such as the ones Cases returns, as subtests of t.
func Run(t *testing.T, e *engine.Engine, cases []Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("the conformance suite is empty")
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Check(e); err != nil {
				t.Fatalf("%s: %v", e.Device().Name, err)
			}
		})
	}
}

func checkNoLabels(e, _ *engine.Engine) error {
	x, _ := small()
	r, err := e.Load(x, 2)
	if err != nil {
		return err
	}
	w := engine.Weights{Q: 2, D: 2, W: []float32{1, 0, -1, 1}}
	if err := r.Rescore(w, []int{0, 1}); err != nil {
		return err
	}
	// Scores are 1, 3, 5 against 1, 1, 1.
	return errors.Join(into("predict", []int32{0, 0, 0}, r.Predict), r.Close())
}

// checkTwoResidents interleaves two data sets on one engine.
func checkTwoResidents(e, ref *engine.Engine) error {
	a := problem{name: "a", n: 40, d: 5, q: 3}
	x, y, inv, rng := a.build()
	got, want, err := loadBoth(e, ref, &fences{}, x, x, y, a.q)
	if err != nil {
		return err
	}
	w := engine.NewWeights(a.q, a.d)
	draw(rng, w.W, normal)
	all := classes(a.q)
	if err := errors.Join(got.Rescore(w, all), want.Rescore(w, all)); err != nil {
		return err
	}
	if err := (problem{name: "b", n: 70, d: 9, q: 4}).checkCells(e, ref); err != nil {
		return err
	}
	if err := a.round(got, want, w, nil, 0, inv, rng); err != nil {
		return fmt.Errorf("after another data set was used: %w", err)
	}
	return got.Close()
}

// TogetherCases use one engine from several goroutines at once.
func TogetherCases() []Case { return []Case{newCase("several goroutines", checkTogether)} }

// checkTogether puts several cases to an engine at once: dense and sparse examples,
// with cells, with targets and with neither, plans and projections, each twice.
func checkTogether(e, ref *engine.Engine) error {
	step := walk{problem: problem{name: "together", n: 90, d: 12, q: 3}, noise: 0.1, stride: 0.2}
	together := slices.Concat(cases("", problem.checkCells, []problem{
		{name: "together", n: 70, d: 19, q: 5},
		{name: "together", n: 40, d: 270, q: 3},
	}...), cases("evaluate: ", problem.checkEvaluation, []problem{
		{name: "together", n: 270, d: 5, q: 3, targets: []drawTargets{labels, soft}},
	}...), projectCases(tinyProjections()[1:2]), all(checks{"walk": step.check,
		"no labels": checkNoLabels, "plan": checkPlan, "plan to evaluate": checkEvaluatePlan}))
	errs := make([]error, 2*len(together))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			c := together[i%len(together)]
			if err := c.Against(e, ref); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// RunClose judges what open's engines do when they are closed, also while they are used.
func RunClose(t *testing.T, open func() *engine.Engine) {
	t.Helper()
	for name, check := range map[string]func(*engine.Engine) error{
		"closed": checkEngineClosed, "closed under way": checkUnderWay,
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				if err := check(open()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// checkEngineClosed uses a closed engine and what was loaded on it.
func checkEngineClosed(e *engine.Engine) error {
	x, y := small()
	r, err := Small(e)
	if err != nil {
		return err
	}
	s, err := e.Load(x, 2)
	if err != nil {
		return err
	}
	v, err := SmallEvaluator(e)
	if err != nil {
		return err
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		return err
	}
	e.Device()
	var all []misuse
	for _, l := range loaders(e) {
		_, err := l.load(x, y, 2, numerics.FixedPoint{})
		all = append(all, misuse{l.name, err, engine.ErrClosed})
	}
	_, plan := e.Plan(x, nil, 2)
	_, planned := e.PlanEvaluator(x, 2)
	project := e.Project(make([]float32, 9), x, engine.Projection{Function: linear, Landmarks: x})
	all = append(all, misuse{"plan", plan, engine.ErrClosed},
		misuse{"plan evaluator", planned, engine.ErrClosed},
		misuse{"project", project, engine.ErrClosed},
		misuse{"predict of a scorer", s.Predict(make([]int32, 3)), engine.ErrClosed})
	return errors.Join(refused("closed engine", all...), refuses(r, engine.ErrClosed),
		refuses(v, engine.ErrClosed), r.Close(), s.Close(), v.Close())
}

// checkUnderWay closes an engine that goroutines work on: each operation succeeds or
// returns ErrClosed.
func checkUnderWay(e *engine.Engine) error {
	p := problem{n: 300, d: 20, q: 4}
	x, y, inv, rng := p.build()
	w := engine.NewWeights(p.q, p.d)
	draw(rng, w.W, normal)
	errs := make([]error, 4) // of goroutines
	var started, done sync.WaitGroup
	started.Add(len(errs))
	for i := range errs {
		p := p
		p.sparse = i%2 == 1
		form := p.form(x)
		done.Go(func() {
			errs[i] = useOnce(e, form, y, w, inv)
			for started.Done(); errs[i] == nil; {
				errs[i] = useOnce(e, form, y, w, inv)
			}
		})
	}
	started.Wait()
	err := e.Close()
	done.Wait()
	for _, got := range errs {
		err = errors.Join(err, refused("under way", misuse{"use", got, engine.ErrClosed}))
	}
	return err
}

// useOnce loads examples, with labels, with targets and with neither, and uses them.
func useOnce(e *engine.Engine, x dataset.Examples, y []int32, w engine.Weights,
	inv []float32) (err error) {
	var loaded []scorer
	defer func() {
		for _, r := range loaded {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, l := range loaders(e) {
		r, err := l.load(x, y, w.Q, numerics.FixedPoint{})
		if err != nil {
			return err
		}
		loaded = append(loaded, r)
	}
	r, s, v := loaded[0].(*engine.Cells), loaded[1], loaded[2].(*engine.Evaluator)
	if err := v.SetTargets(engine.Targets{Values: make([]float32, w.Q*w.Q), Row: y}); err != nil {
		return err
	}
	all := classes(w.Q)
	for range 3 {
		for _, use := range []func() error{
			func() error { _, err := v.Evaluate(make([]int64, w.Q*w.D), w); return err },
			func() error { return errors.Join(s.Rescore(w, all), r.Rescore(w, all)) },
			func() error { _, err := r.Assign(0); return err },
			func() error { return s.Predict(make([]int32, x.N)) },
			func() error { return r.Norms(make([]float32, w.Q*w.Q), inv) },
		} {
			if err := use(); err != nil {
				return err
			}
		}
	}
	landmarks := dataset.Examples{N: 2, D: x.D, X: w.W[:2*w.D]}
	return e.Project(make([]float32, x.N*2), x, engine.Projection{Function: linear,
		Landmarks: landmarks})
}
