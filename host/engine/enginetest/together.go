package enginetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// TogetherCases use one engine from several goroutines at once.
func TogetherCases() []Case {
	return []Case{{"several goroutines", checkTogether}}
}

// checkTogether puts several cases to an engine at once: dense, sparse and narrow examples,
// with cells, with targets and with neither, plans and projections, each twice.
func checkTogether(e engine.Engine) error {
	var cases []Case
	for _, p := range []problem{
		{name: "together", n: 70, d: 19, q: 5},
		{name: "together", n: 40, d: 270, q: 3, sparse: true},
		{name: "together", n: 50, d: 9, q: 3, narrow: 1},
		{name: "together", n: 30, d: 9, q: 4, narrow: 2},
	} {
		cases = append(cases, Case{p.String(), p.check})
	}
	step := walk{name: "together", n: 90, d: 12, q: 3, noise: 0.1, stride: 0.2}
	for _, k := range []evaluation{
		{problem: problem{name: "together", n: 270, d: 5, q: 3}, aims: []aim{labels, soft}},
		{problem: problem{name: "together", n: 33, d: 19, q: 4, narrow: 1}},
	} {
		cases = append(cases, k.cases()...)
	}
	p := tinyProjections()[1]
	cases = append(cases, Case{"walk", step.check}, Case{p.String(), p.check},
		Case{"no labels", checkNoLabels}, Case{"plan", checkPlan},
		Case{"plan to evaluate", checkEvaluatePlan})
	errs := make([]error, 2*len(cases))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			c := cases[i%len(cases)]
			if err := c.Check(e); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// checkPlan asks for a plan, with labels and without, and for the device.
func checkPlan(e engine.Engine) error {
	x, y := small()
	scorer, err := e.Plan(x, nil, 2)
	if err != nil {
		return err
	}
	cells, err := e.Plan(x, y, 2)
	if err != nil {
		return err
	}
	if scorer.ClassSums != 0 || cells.ClassSums < 2*2*2*8 ||
		scorer.Examples != cells.Examples || scorer.Scratch > cells.Scratch {
		return fmt.Errorf("plans for %s: without labels %+v, with labels %+v", e.Device().ID, scorer,
			cells)
	}
	return nil
}

// RunClose judges what open's engines do when they are closed, also while they are used.
func RunClose(t *testing.T, open func() engine.Engine) {
	t.Helper()
	for name, check := range map[string]func(engine.Engine) error{
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
func checkEngineClosed(e engine.Engine) error {
	x, y := small()
	r, err := e.LoadCells(x, y, 2, numerics.FixedPoint{})
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
	for range 2 {
		if err := e.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	e.Device()
	_, load := e.Load(x, 2)
	_, cells := e.LoadCells(x, y, 2, numerics.FixedPoint{})
	_, evaluator := e.LoadEvaluator(x, 2, numerics.FixedPoint{})
	_, plan := e.Plan(x, nil, 2)
	_, planned := e.PlanEvaluator(x, 2)
	project := e.Project(make([]float32, 9), x, engine.Projection{Function: linear, Landmarks: x})
	for what, err := range map[string]error{
		"load": load, "load cells": cells, "load evaluator": evaluator, "plan": plan,
		"plan evaluator":      planned,
		"project":             project,
		"predict of a scorer": s.Predict(make([]int32, 3)),
	} {
		if !errors.Is(err, engine.ErrClosed) {
			return fmt.Errorf("%s on a closed engine: %v, want %v", what, err, engine.ErrClosed)
		}
	}
	if err := errors.Join(refuses(r, engine.ErrClosed), refusesEvaluator(v,
		engine.ErrClosed)); err != nil {
		return fmt.Errorf("on a closed engine: %w", err)
	}
	return errors.Join(r.Close(), s.Close(), v.Close())
}

// CheckFailed judges a data set of 3 examples, 2 features and 2 classes of which an
// operation has failed: everything but Close returns engine.ErrFailed. A test of an engine
// makes the failure, which no case of the suite can.
func CheckFailed(r engine.Cells) error {
	if err := refuses(r, engine.ErrFailed); err != nil {
		return fmt.Errorf("after a failure: %w", err)
	}
	return r.Close()
}

// Small loads the data set that CheckFailed wants.
func Small(e engine.Engine) (engine.Cells, error) {
	x, y := small()
	return e.LoadCells(x, y, 2, numerics.FixedPoint{})
}

// refuses asks for every operation on the data set of small and wants an error.
func refuses(r engine.Cells, want error) error {
	w, f := engine.NewWeights(2, 2), make([]float32, 6)
	_, assign := r.Assign(0)
	for what, err := range map[string]error{
		"rescore": r.Rescore(w, []int{0}), "scores": r.Scores(f, 0, 3),
		"predict": r.Predict(make([]int32, 3)),
		"assign":  assign, "class sums": r.ClassSums(make([]int64, 4), 0), "norms": r.Norms(f[:4], f[:4]),
		"update vectors": r.UpdateVectors(f[:2], []engine.Pair{{P: 0, Q: 1}}, f[:4]),
	} {
		if !errors.Is(err, want) {
			return fmt.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	return nil
}

// checkUnderWay closes an engine that goroutines work on: each operation succeeds or
// returns ErrClosed.
func checkUnderWay(e engine.Engine) error {
	p := problem{n: 300, d: 20, q: 4}
	x, y, inv, rng := p.build()
	w := engine.NewWeights(p.q, p.d)
	for j := range w.W {
		w.W[j] = normal(rng)
	}
	const users = 4
	errs := make([]error, users)
	var started, done sync.WaitGroup
	started.Add(users)
	for i := range errs {
		form := x
		if i%2 == 1 {
			form = x.Compressed().Stored()
		}
		done.Go(func() {
			first := true
			for errs[i] == nil {
				errs[i] = useOnce(e, form, y, w, inv)
				if first {
					started.Done()
				}
				first = false
			}
		})
	}
	started.Wait()
	err := e.Close()
	done.Wait()
	for _, e := range errs {
		if !errors.Is(e, engine.ErrClosed) {
			err = errors.Join(err, fmt.Errorf("under way: %v, want %v", e, engine.ErrClosed))
		}
	}
	return err
}

// useOnce loads examples, with labels, with targets and with neither, and uses them.
func useOnce(e engine.Engine, x dataset.Stored, y []int32, w engine.Weights,
	inv []float32) (err error) {
	s, err := e.Load(x, w.Q)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r, err := e.LoadCells(x, y, w.Q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	v, err := e.LoadEvaluator(x, w.Q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	if err := v.SetTargets(engine.Targets{Values: make([]float32, w.Q*w.Q), Row: y}); err != nil {
		return err
	}
	classes := make([]int, w.Q)
	for c := range classes {
		classes[c] = c
	}
	for range 3 {
		if _, err := v.Evaluate(make([]int64, w.Q*w.D), w); err != nil {
			return err
		}
		if err := errors.Join(s.Rescore(w, classes), r.Rescore(w, classes)); err != nil {
			return err
		}
		if _, err := r.Assign(0); err != nil {
			return err
		}
		err := errors.Join(s.Predict(make([]int32, x.N)), r.Norms(make([]float32, w.Q*w.Q), inv))
		if err != nil {
			return err
		}
	}
	landmarks := dataset.Examples{N: 2, D: x.D, X: w.W[:2*w.D]}
	return e.Project(make([]float32, x.N*2), x, engine.Projection{Function: linear,
		Landmarks: landmarks})
}
