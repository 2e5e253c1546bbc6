package svm

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Loss is what it costs to miss a part ξ of the margin, times C.
type Loss string

const (
	Hinge   Loss = "hinge"   // ξ
	Squared Loss = "squared" // ξ²
)

// Multiclass is how more than two classes are told apart.
type Multiclass string

const (
	OVR Multiclass = "ovr" // one-versus-rest: each class by itself against the others
	All Multiclass = "all" // all classes at once (Crammer and Singer)
)

// Solver is how the solution is found, which is the same for both.
type Solver string

const (
	Descent Solver = "descent" // in the dual, one example after another (Hsieh et al., Keerthi et al.)
	// cutting planes with one slack for all examples (Joachims et al.), of the hinge loss
	Planes Solver = "planes"
)

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Cost         float64 // C of the objective, 1e-100 to 1e100
	Loss         Loss
	Multiclass   Multiclass
	ClassWeights learners.ClassWeights
	Solver       Solver

	// Tolerance is how far the conditions of the solution may be from being met, in units of the
	// margin, above 0; of Planes by which share of it the objective may be above the least there is,
	// below 1.
	Tolerance float64
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params {
	return &Params{Cost: 1, Loss: Squared, Multiclass: OVR, ClassWeights: learners.Equal,
		Solver: Descent, Tolerance: 0.01}
}

var definition = &learners.Definition{
	Name:    "svm",
	Summary: "linear support vector machine: keeps a margin between classes, for right labels",
	Paper: "Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008, " +
		"Algorithms 1 and 3; all classes at once: Keerthi et al., A sequential dual method for large " +
		"scale multi-class linear SVMs, KDD 2008; cutting planes: Joachims, Finley & Yu, Cutting-plane " +
		"training of structural SVMs, Machine Learning 77, 2009, Algorithm 3",
	Step:     "passes that look at four times as many examples as there are, or a cutting plane",
	MaxSteps: 250,
	Weights:  []learners.Rule{learners.Last, learners.Best},
	New:      func() learners.Params { return Defaults() },

	Loads:        learners.LoadsScorer,
	Passes:       true,
	IgnoresNoise: true,
}

// Definition implements learners.Params.
func (*Params) Definition() *learners.Definition { return definition }

// Parameters implements learners.Params.
func (p *Params) Parameters() []learners.Parameter {
	return []learners.Parameter{
		learners.Float("cost", &p.Cost, learners.Between(1/mostCost, mostCost),
			"what an example costs that misses its margin by 1, against the size of the weights"),
		learners.OneOf("loss", &p.Loss, "cost of the part of the margin that is missing",
			learners.Case(Hinge, "the part itself"), learners.Case(Squared, "its square")),
		learners.OneOf("multiclass", &p.Multiclass, "how more than two classes are told apart",
			learners.Case(OVR, "each class by itself against the rest"),
			learners.Case(All, "all classes at once, with the hinge loss")),
		learners.Weighting(&p.ClassWeights),
		learners.OneOf("solver", &p.Solver, "how the solution is found",
			learners.Case(Descent, "one example after another"),
			learners.Case(Planes, "cutting planes, with the hinge loss")),
		learners.Float("tolerance", &p.Tolerance, learners.Above(0),
			"how far the conditions of the solution may be from being met, in units of the margin; with "+
				"planes, the share of the objective that may be in excess, below 1"),
	}
}

// Check implements learners.Params.
func (p *Params) Check() error {
	if err := learners.CheckEach(p); err != nil {
		return err
	}
	wrong := learners.ParameterError{Learner: definition.Name}
	switch {
	case p.Multiclass == All && p.Loss != Hinge:
		wrong.Parameter, wrong.Got, wrong.Want = "multiclass", "all with loss squared",
			"loss hinge with it"
	case p.Solver == Planes && p.Loss != Hinge:
		wrong.Parameter, wrong.Got, wrong.Want = "solver", "planes with loss squared",
			"loss hinge with it"
	case p.Solver == Planes && p.Tolerance >= 1:
		wrong.Parameter, wrong.Got = "tolerance", fmt.Sprint(p.Tolerance)
		wrong.Want = "a share of the objective, below 1, with solver planes"
	default:
		return nil
	}
	return &wrong
}

// mostCost keeps dual variables, and sums of them, far from the ends of float64.
const mostCost = 1e100
