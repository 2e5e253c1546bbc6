package bpm

import (
	"github.com/uma-gpu/uma-gpu/learners"
)

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Softness  float64 // λ, in units of ‖x‖²; 1e-12 to 1e12
	Tolerance float64 // how far predictions may be off, in units of their doubt; > 0
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params { return &Params{Softness: 0.03, Tolerance: 0.01} }

var definition = &learners.Definition{
	Name: "bpm",
	Summary: "Bayes point machine: the centre of all weights that are right about the examples, as " +
		"far as labels " +
		"are",
	Paper: "Herbrich, Graepel & Campbell, Bayes point machines, Journal of Machine Learning " +
		"Research 1, 2001; " +
		"the centre: Minka, A family of algorithms for approximate Bayesian inference (thesis), 2001, " +
		"chapter 4; " +
		"Louche, From confusion noise to active learning (thesis), 2016, chapter 5",
	Step:     "a pass of expectation propagation over all examples, for each class",
	MaxSteps: 100,
	Weights:  []learners.Rule{learners.Last},
	New:      func() learners.Params { return Defaults() },

	Loads:  learners.LoadsScorer,
	Passes: true,
}

// Definition implements learners.Params.
func (*Params) Definition() *learners.Definition { return definition }

// Parameters implements learners.Params.
func (p *Params) Parameters() []learners.Parameter {
	return []learners.Parameter{
		learners.Float("softness", &p.Softness, learners.Between(1e-12, 1e12),
			"λ, which is added to the kernel function of an example and itself: the more, the easier an "+
				"example may lie on the wrong side"),
		learners.Float("tolerance", &p.Tolerance, learners.Range{Open: true, Most: 1e12},
			"how far predictions of the examples may be from where they belong, in units of their doubt"),
	}
}

// Check implements learners.Params.
func (p *Params) Check() error { return learners.CheckEach(p) }
