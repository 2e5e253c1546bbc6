package catalog_test

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// probe is an engine for one run, which counts its operations and what is loaded on it, and may
// refuse them. It spells every method, so that a new one is noticed here.
type probe struct {
	e          engine.Engine
	before     func(operation int) error // asked before each, from 1; nil for no questions
	operations int
	loaded     int
}

func (p *probe) next() error {
	p.operations++
	if p.before == nil {
		return nil
	}
	return p.before(p.operations)
}

// do counts an operation, and runs it unless the probe refuses it.
func (p *probe) do(operation func() error) error {
	if err := p.next(); err != nil {
		return err
	}
	return operation()
}

// loaded returns what load makes of a data set that the probe lets the engine load.
func loaded[R, S any](p *probe, load func() (R, error), wrap func(R) S) (s S, err error) {
	err = p.do(func() error {
		r, err := load()
		if err == nil {
			p.loaded++
			s = wrap(r)
		}
		return err
	})
	return s, err
}

func (p *probe) Device() engine.Device { return p.e.Device() }
func (p *probe) Close() error          { return nil }

func (p *probe) Load(x dataset.Examples, classes int) (engine.Scorer, error) {
	return loaded(p, func() (engine.Scorer, error) { return p.e.Load(x, classes) },
		func(r engine.Scorer) engine.Scorer { return &probedScorer{p: p, r: r} })
}

func (p *probe) LoadCells(x dataset.Examples, y []int32, classes int,
	f numerics.FixedPoint) (engine.Cells, error) {
	return loaded(p, func() (engine.Cells, error) { return p.e.LoadCells(x, y, classes, f) },
		func(r engine.Cells) engine.Cells { return &probedCells{probedScorer{p: p, r: r}, r} })
}

func (p *probe) LoadEvaluator(x dataset.Examples, classes int,
	f numerics.FixedPoint) (engine.Evaluator, error) {
	return loaded(p, func() (engine.Evaluator, error) { return p.e.LoadEvaluator(x, classes, f) },
		func(r engine.Evaluator) engine.Evaluator {
			return &probedEvaluator{probedScorer{p: p, r: r}, r}
		})
}

func (p *probe) PlanEvaluator(x dataset.Examples, classes int) (engine.Plan, error) {
	return p.e.PlanEvaluator(x, classes)
}

func (p *probe) Plan(x dataset.Examples, y []int32, classes int) (engine.Plan, error) {
	return p.e.Plan(x, y, classes)
}

func (p *probe) Project(dst []float32, x dataset.Examples, projection engine.Projection) error {
	return p.do(func() error { return p.e.Project(dst, x, projection) })
}

// probedScorer is a data set on a probe.
type probedScorer struct {
	p      *probe
	r      engine.Scorer
	closed bool
}

func (s *probedScorer) Shape() (n, d, q int) { return s.r.Shape() }

func (s *probedScorer) Rescore(w engine.Weights, classes []int) error {
	return s.p.do(func() error { return s.r.Rescore(w, classes) })
}

func (s *probedScorer) Scores(dst []float32, from, to int) error {
	return s.p.do(func() error { return s.r.Scores(dst, from, to) })
}

func (s *probedScorer) Predict(dst []int32) error {
	return s.p.do(func() error { return s.r.Predict(dst) })
}

func (s *probedScorer) CountPredicted(counts []int64, y []int32) error {
	return s.p.do(func() error { return s.r.CountPredicted(counts, y) })
}

func (s *probedScorer) Close() error {
	if !s.closed {
		s.closed = true
		s.p.loaded--
	}
	return s.r.Close()
}

// probedCells are cells on a probe.
type probedCells struct {
	probedScorer
	c engine.Cells
}

func (c *probedCells) FixedPoint() numerics.FixedPoint { return c.c.FixedPoint() }

func (c *probedCells) Assign(alpha float32) (engine.Assignment, error) {
	if err := c.p.next(); err != nil {
		return engine.Assignment{}, err
	}
	return c.c.Assign(alpha)
}

func (c *probedCells) ClassSums(dst []int64, p int) error {
	return c.p.do(func() error { return c.c.ClassSums(dst, p) })
}

func (c *probedCells) Norms(dst, inv []float32) error {
	return c.p.do(func() error { return c.c.Norms(dst, inv) })
}

func (c *probedCells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	return c.p.do(func() error { return c.c.UpdateVectors(dst, pairs, inv) })
}

// probedEvaluator is a data set with targets on a probe.
type probedEvaluator struct {
	probedScorer
	v engine.Evaluator
}

func (v *probedEvaluator) FixedPoint() numerics.FixedPoint { return v.v.FixedPoint() }

func (v *probedEvaluator) SetTargets(t engine.Targets) error {
	return v.p.do(func() error { return v.v.SetTargets(t) })
}

func (v *probedEvaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	if err := v.p.next(); err != nil {
		return engine.Evaluation{}, err
	}
	return v.v.Evaluate(sums, w)
}

func (v *probedEvaluator) WeightedSums(sums []int64, a []float32) error {
	return v.p.do(func() error { return v.v.WeightedSums(sums, a) })
}
