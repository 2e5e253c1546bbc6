package svm

import (
	"flag"
	"fmt"
	"math"
	"slices"

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

// ClassWeights says how much examples count by their label.
type ClassWeights string

const (
	Equal    ClassWeights = "equal"    // all examples count alike
	Balanced ClassWeights = "balanced" // all labels count alike: an example of label k n/(Q·n_k)
)

// Solver is how the solution is found, which is the same for both.
type Solver string

const (
	Descent Solver = "descent" // in the dual, one example after another (Hsieh et al., Keerthi et al.)
	Planes  Solver = "planes"  // cutting planes with one slack for all examples (Joachims et al.), of the hinge loss
)

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Cost         float64      `json:"cost"` // C of the objective, 1e-100 to 1e100
	Loss         Loss         `json:"loss"`
	Multiclass   Multiclass   `json:"multiclass"`
	ClassWeights ClassWeights `json:"class_weights"`
	Solver       Solver       `json:"solver"`

	// Tolerance is how far the conditions of the solution may be from being met, in units of the margin, above 0; of
	// Planes by which share of it the objective may be above the least there is, below 1.
	Tolerance float64 `json:"tolerance"`
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params {
	return &Params{Cost: 1, Loss: Squared, Multiclass: OVR, ClassWeights: Equal, Solver: Descent,
		Tolerance: 0.01}
}

var definition = &learners.Definition{
	Name:    "svm",
	Summary: "linear support vector machine: keeps a margin between classes, for right labels",
	Paper: "Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML 2008, Algorithms 1 and 3; " +
		"all classes at once: Keerthi et al., A sequential dual method for large scale multi-class linear SVMs, KDD 2008; " +
		"--solver planes: Joachims, Finley & Yu, Cutting-plane training of structural SVMs, Machine Learning 77, 2009, " +
		"Algorithm 3",
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

// Flags implements learners.Params.
func (p *Params) Flags(fs *flag.FlagSet) {
	fs.Float64Var(&p.Cost, "cost", p.Cost, "`C` of what an example misses of its margin, against the size of the "+
		"weights; above 0")
	fs.StringVar((*string)(&p.Loss), "loss", string(p.Loss), "what `PART` of the margin costs that is missing: hinge "+
		"(itself) or squared")
	fs.StringVar((*string)(&p.Multiclass), "multiclass", string(p.Multiclass), "`HOW` more than two classes are told "+
		"apart: ovr (each class by itself against the rest) or all (all classes at once, with --loss hinge)")
	fs.StringVar((*string)(&p.ClassWeights), "class-weights", string(p.ClassWeights), "`WEIGHTS` of the examples: "+
		"equal, or balanced (all labels count alike)")
	fs.StringVar((*string)(&p.Solver), "solver", string(p.Solver), "`HOW` the solution is found: descent (one example "+
		"after another) or planes (cutting planes, with --loss hinge)")
	fs.Float64Var(&p.Tolerance, "tolerance", p.Tolerance, "how far the `CONDITIONS` of the solution, in units of the "+
		"margin, may be from being met; above 0; of --solver planes which share of the objective may be in excess")
}

// Check implements learners.Params.
func (p *Params) Check() error {
	switch {
	case !(p.Cost >= 1/mostCost && p.Cost <= mostCost):
		return fmt.Errorf("svm: cost is %v; it must be a number above 0, from %g to %g", p.Cost, 1/mostCost, mostCost)
	case !slices.Contains([]Loss{Hinge, Squared}, p.Loss):
		return fmt.Errorf("svm: loss %q is not known; use hinge or squared", p.Loss)
	case !slices.Contains([]Multiclass{OVR, All}, p.Multiclass):
		return fmt.Errorf("svm: multiclass %.60q is not known; use ovr or all", p.Multiclass)
	case p.Multiclass == All && p.Loss != Hinge:
		return fmt.Errorf("svm: found multiclass all with loss %s, wanted hinge, the only one that all classes at once "+
			"have; add --loss hinge", p.Loss)
	case !slices.Contains([]ClassWeights{Equal, Balanced}, p.ClassWeights):
		return fmt.Errorf("svm: class weights %q are not known; use equal or balanced", p.ClassWeights)
	case !slices.Contains([]Solver{Descent, Planes}, p.Solver):
		return fmt.Errorf("svm: solver %q is not known; use descent or planes", p.Solver)
	case p.Solver == Planes && p.Loss != Hinge:
		return fmt.Errorf("svm: found solver planes with loss %s, wanted hinge, the only one that it has; add --loss hinge",
			p.Loss)
	case !positive(p.Tolerance):
		return fmt.Errorf("svm: tolerance is %v; it must be a number above 0", p.Tolerance)
	case p.Solver == Planes && p.Tolerance >= 1:
		return fmt.Errorf("svm: tolerance is %v; of solver planes it is a share of the objective, below 1", p.Tolerance)
	}
	return nil
}

// mostCost keeps dual variables, and sums of them, far from the ends of float64.
const mostCost = 1e100

// positive says whether v is a finite number above 0.
func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
