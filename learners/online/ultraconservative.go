package online

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Steps says how an ultraconservative algorithm divides the step of 1 among the error set of an
// example, which are the classes r ≠ y that score at least as much as y (Crammer & Singer 2003,
// Figures 1 and 2).
type Steps string

const (
	// all to the class of the highest score, the lowest on a tie
	StepMax          Steps = "max"
	StepUniform      Steps = "uniform"      // alike
	StepProportional Steps = "proportional" // in proportion to s_r - s_y, alike if all are 0
	StepRandom       Steps = "random"       // all to one of them, by chance
)

// Ultraconservative are the parameters of the ultraconservative additive algorithms.
type Ultraconservative struct {
	Options
	ClassWeights learners.ClassWeights
	Step         Steps
}

// NewUltraconservative returns the default parameters.
func NewUltraconservative() *Ultraconservative {
	return &Ultraconservative{Options: standard, ClassWeights: learners.Equal, Step: StepUniform}
}

var ultraconservative = define("ultraconservative",
	"perceptrons of many classes: an example is taken off all classes, or some, that score as much "+
		"as its own",
	"Crammer & Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3 (2003)",
	func() learners.Params { return NewUltraconservative() })

// Definition implements learners.Params.
func (p *Ultraconservative) Definition() *learners.Definition { return p.of(ultraconservative) }

// Parameters implements learners.Params.
func (p *Ultraconservative) Parameters() []learners.Parameter {
	return p.parameters(learners.Weighting(&p.ClassWeights), learners.OneOf("step", &p.Step,
		"which of the classes that score as much as its own an example is taken off",
		learners.Case(StepMax, "the best"), learners.Case(StepUniform, "all alike"),
		learners.Case(StepProportional, "all, by their excess"),
		learners.Case(StepRandom, "one, by chance")))
}

// Check implements learners.Params.
func (p *Ultraconservative) Check() error { return learners.CheckEach(p) }

// Start implements learners.Params.
func (p *Ultraconservative) Start(_ context.Context, problem *learners.Problem,
) (learners.Learner, error) {
	return start(problem, p)
}

// Stream implements learners.Streamer.
func (p *Ultraconservative) Stream(problem *learners.Problem, w engine.Weights,
) (learners.Stream, error) {
	return newStream(problem, w, p)
}

func (p *Ultraconservative) parts() (Options, learners.ClassWeights, policy) {
	return p.Options, p.ClassWeights, errorSet{step: p.Step}
}

// errorSet is an ultraconservative additive algorithm (Algorithm 1 of the paper of UMA): the
// class of the example gets 1, those of the error set share -1.
type errorSet struct{ step Steps }

func (p errorSet) steps(tau, s []float32, e *example) bool {
	own := s[e.y]
	size, best, excess := 0, -1, 0.0
	for r, score := range s {
		if r == e.y || score < own {
			continue
		}
		size++
		excess += float64(score) - float64(own)
		if best < 0 || score > s[best] {
			best = r
		}
	}
	if size == 0 {
		return false
	}
	tau[e.y] = float32(e.weight)
	switch p.step {
	case StepMax:
		tau[best] = -tau[e.y]
		return true
	case StepRandom:
		left := e.random.IntN(size)
		for r, score := range s {
			if r == e.y || score < own {
				continue
			}
			if left == 0 {
				tau[r] = -tau[e.y]
			}
			left--
		}
		return true
	}
	for r, score := range s {
		if r == e.y || score < own {
			continue
		}
		share := 1 / float64(size)
		if p.step == StepProportional && excess > 0 {
			share = (float64(score) - float64(own)) / excess
		}
		tau[r] = float32(-e.weight * share)
	}
	return true
}
