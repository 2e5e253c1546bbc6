package online

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Perceptron are the parameters of the perceptron.
type Perceptron struct {
	Options
	ClassWeights learners.ClassWeights
	Multiclass   Multiclass // Max or OVR
}

// NewPerceptron returns the default parameters.
func NewPerceptron() *Perceptron {
	return &Perceptron{Options: standard, ClassWeights: learners.Equal, Multiclass: Max}
}

var perceptron = define("perceptron",
	"the averaged perceptron: an example that is taken for another class is added to its own, and "+
		"taken off that one",
	"Rosenblatt, The perceptron, Psychological Review 65 (1958); averaged: Freund & Schapire, Large "+
		"margin classification using the perceptron algorithm, Machine Learning 37 (1999)",
	func() learners.Params { return NewPerceptron() })

// Definition implements learners.Params.
func (p *Perceptron) Definition() *learners.Definition { return p.of(perceptron) }

// Parameters implements learners.Params.
func (p *Perceptron) Parameters() []learners.Parameter {
	return p.parameters(learners.Weighting(&p.ClassWeights), divide(&p.Multiclass, false))
}

// Check implements learners.Params.
func (p *Perceptron) Check() error { return learners.CheckEach(p) }

// Start implements learners.Params.
func (p *Perceptron) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	return start(problem, p)
}

// Stream implements learners.Streamer.
func (p *Perceptron) Stream(problem *learners.Problem, w engine.Weights) (learners.Stream, error) {
	return newStream(problem, w, p)
}

func (p *Perceptron) parts() (Options, learners.ClassWeights, policy) {
	if p.Multiclass == OVR {
		return p.Options, p.ClassWeights, perceptrons{}
	}
	return p.Options, p.ClassWeights, errorSet{step: StepMax}
}

// perceptrons are one for each class, to whom the examples of the class are 1 and the others
// -1; none is content with a score of 0.
type perceptrons struct{}

func (perceptrons) steps(tau, s []float32, e *example) (any bool) {
	for r, score := range s {
		switch {
		case r == e.y && score <= 0:
			tau[r], any = float32(e.weight), true
		case r != e.y && score >= 0:
			tau[r], any = float32(-e.weight), true
		}
	}
	return any
}
