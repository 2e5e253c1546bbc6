package bpm

import (
	"flag"
	"fmt"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Softness  float64 `json:"softness"`  // λ, in units of ‖x‖²; 1e-12 to 1e12
	Tolerance float64 `json:"tolerance"` // how far predictions may be off, in units of their doubt; > 0
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params { return &Params{Softness: 0.03, Tolerance: 0.01} }

var definition = &learners.Definition{
	Name: "bpm",
	Summary: "Bayes point machine: the centre of all weights that are right about the examples, as far as labels " +
		"are",
	Paper: "Herbrich, Graepel & Campbell, Bayes point machines, Journal of Machine Learning Research 1, 2001; " +
		"the centre: Minka, A family of algorithms for approximate Bayesian inference (thesis), 2001, chapter 4; " +
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

// Flags implements learners.Params.
func (p *Params) Flags(fs *flag.FlagSet) {
	fs.Float64Var(&p.Softness, "softness", p.Softness, "λ, the `NUMBER` that the kernel function has more of an example "+
		"and itself: the more, the easier an example is on the wrong side; above 0")
	fs.Float64Var(&p.Tolerance, "tolerance", p.Tolerance, "how far predictions of the examples may be from where they "+
		"belong, in `UNITS` of their doubt; above 0")
}

// Check implements learners.Params.
func (p *Params) Check() error {
	const least, most = 1e-12, 1e12
	switch {
	case !(p.Softness >= least && p.Softness <= most):
		return fmt.Errorf("bpm: softness is %v; it must be a number from %g to %g", p.Softness, least, most)
	case !(p.Tolerance > 0 && p.Tolerance <= most):
		return fmt.Errorf("bpm: tolerance is %v; it must be a number above 0, to %g", p.Tolerance, most)
	}
	return nil
}
