// Package enginetest is the conformance suite that every engine runs: the same
// bits as package cpuref, at sizes around every width a kernel could like,
// with hard values, fences around every slice, and the same kinds of error.
package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/engine"
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

// Cases lists the suite.
func Cases() []Case {
	return slices.Concat(cases("", problem.checkCells, problems()...),
		cases("", problem.checkSteps, walks()...), projectCases(projections()), partCases(),
		EvaluationCases(), BinnedCases(), TogetherCases(), []Case{
			newCase("no labels", checkNoLabels),
			newCase("two residents", checkTwoResidents),
			newCase("self-test", func(e, _ *engine.Engine) error { return engine.SelfTest(e) })})
}

// WideCases have more columns than 16 bits count, which takes more memory than
// an engine that is made to cut the others in tiles may be given.
func WideCases() []Case {
	p := problem{name: "wide", n: 21, d: 70001, q: 3, edit: thinOut, targets: []drawTargets{labels},
		counts: []int{1}}
	return slices.Concat(cases("evaluate: ", problem.checkEvaluation, p),
		cases("", problem.checkCells, p),
		[]Case{newCase("more memory than there is", checkMemory)})
}

// ShortCases are for what makes an engine many times slower and looks for other faults
// than wrong bits, such as the race detector: the tiny cases, and some with enough examples to be
// shared out.
func ShortCases() []Case {
	return slices.Concat(TinyCases(), partCases(), evaluationParts(), TogetherCases(),
		cases("", problem.checkSteps, problem{name: "walk", n: 2100, d: 9, q: 3}),
		[]Case{newCase("two residents", checkTwoResidents)})
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
	return slices.Concat(cases("", problem.checkCells, []problem{
		{name: "tiny", n: 1, d: 1, q: 2},
		{name: "tiny with margin", n: 35, d: 5, q: 3, alpha: 0.5},
		{name: "tiny with two chunks", n: 17, d: 259, q: 3},
		{name: "tiny with many classes", n: 20, d: 2, q: 17, value: digits, weight: digits},
	}...), cases("", problem.checkSteps, problem{name: "tiny walk", n: 20, d: 5, q: 3}),
		projectCases(tinyProjections()), tinyEvaluations(), tinyBinned(),
		[]Case{newCase("no labels", checkNoLabels)})
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
	r, err := e.Load(small, 2)
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
// with cells, with targets and with neither, and projections, each twice.
func checkTogether(e, ref *engine.Engine) error {
	together := slices.Concat(cases("", problem.checkCells, []problem{
		{name: "together", n: 70, d: 19, q: 5},
		{name: "together", n: 40, d: 270, q: 3},
	}...), cases("evaluate: ", problem.checkEvaluation, []problem{
		{name: "together", n: 270, d: 5, q: 3, targets: []drawTargets{labels, soft}},
	}...), cases("", problem.checkSteps, problem{name: "walk", n: 90, d: 12, q: 3}),
		projectCases(tinyProjections()[1:2]), tinyBinned()[1:],
		[]Case{newCase("no labels", checkNoLabels)})
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
