package catalog_test

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// probe is a driver for one run, over an engine. It counts the operations and what is loaded, and
// may refuse an operation. It spells every method, so that a new one is noticed here.
type probe struct {
	e          *engine.Engine
	before     func(operation int) error // asked before each, from 1; nil for no questions
	operations int
	loaded     int
}

// do counts an operation, and runs it unless the probe refuses it.
func (p *probe) do(operation func() error) error {
	p.operations++
	if p.before != nil {
		if err := p.before(p.operations); err != nil {
			return err
		}
	}
	return operation()
}

func (p *probe) Device() engine.Device { return p.e.Device() }
func (p *probe) Serial() bool          { return false }
func (p *probe) Close() error          { return nil }

func (p *probe) Load(x dataset.Examples, t engine.Task) (loaded engine.Loaded, err error) {
	err = p.do(func() error {
		switch t.Use {
		case engine.UseCells:
			r, err := p.e.LoadCells(x, t.Labels, t.Classes, t.Format)
			loaded = &probedCells{probedScorer{p, r}, r}
			return err
		case engine.UseEvaluator:
			r, err := p.e.LoadEvaluator(x, t.Classes, t.Format)
			loaded = &probedEvaluator{probedScorer{p, r}, r}
			return err
		}
		r, err := p.e.Load(x, t.Classes)
		loaded = &probedScorer{p, r}
		return err
	})
	if err == nil {
		p.loaded++
	}
	return loaded, err
}

// LoadBins is of no learner yet that is told to stop by its probe.
func (p *probe) LoadBins(dataset.Binned, int, int) (engine.LoadedBins, error) {
	return nil, errors.ErrUnsupported
}

func (p *probe) Project(dst []float32, x dataset.Examples, projection engine.Projection) error {
	return p.do(func() error { return p.e.Project(dst, x, projection) })
}

// probedScorer is a data set on a probe.
type probedScorer struct {
	p *probe
	r engine.Loaded
}

func (s *probedScorer) Rescore(w engine.Weights, classes []int) error {
	return s.p.do(func() error { return s.r.Rescore(w, classes) })
}

func (s *probedScorer) Scores(dst []float32, from, to int) error {
	return s.p.do(func() error { return s.r.Scores(dst, from, to) })
}

func (s *probedScorer) Predict(dst []int32) error {
	return s.p.do(func() error { return s.r.Predict(dst) })
}

func (s *probedScorer) Close() error {
	s.p.loaded--
	return s.r.Close()
}

// probedCells are cells on a probe.
type probedCells struct {
	probedScorer
	c engine.LoadedCells
}

func (c *probedCells) Assign(alpha float32) (a engine.Assignment, err error) {
	err = c.p.do(func() error { a, err = c.c.Assign(alpha); return err })
	return a, err
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
	v engine.LoadedEvaluator
}

func (v *probedEvaluator) SetTargets(t engine.Targets) error {
	return v.p.do(func() error { return v.v.SetTargets(t) })
}

func (v *probedEvaluator) Evaluate(sums []int64, w engine.Weights) (e engine.Evaluation,
	err error) {
	err = v.p.do(func() error { e, err = v.v.Evaluate(sums, w); return err })
	return e, err
}

func (v *probedEvaluator) WeightedSums(sums []int64, a []float32) error {
	return v.p.do(func() error { return v.v.WeightedSums(sums, a) })
}
