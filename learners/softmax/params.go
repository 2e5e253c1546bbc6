package softmax

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Correction is what is done about wrong labels.
type Correction string

const (
	Forward  Correction = "forward"  // C times the probabilities should be those of the noisy labels
	EM       Correction = "em"       // rounds of soft labels, from C and models that have not seen the example
	Backward Correction = "backward" // the losses of all classes, weighted by C⁻¹, are right on average
	None     Correction = "none"     // labels count as right
	Auto     Correction = "auto"     // the one of these that does best on examples held out
)

// Cleaning is what is made of labels that the correction takes for wrong, before a last fit to
// which the others count as right.
type Cleaning string

const (
	Keep     Cleaning = "none"     // nothing: there is no such fit
	Prune    Cleaning = "prune"    // as many of them are left out as are expected to be wrong
	Reweight Cleaning = "reweight" // each counts by how likely it is right
	Relabel  Cleaning = "relabel"  // the likeliest class is put in their place
)

// ClassWeights says how much examples count by their label.
type ClassWeights string

const (
	Equal    ClassWeights = "equal"    // all examples count alike
	Balanced ClassWeights = "balanced" // all labels count alike: an example of label k n/(Q·n_k)
)

// Search is the value of Params.L2 that looks for one.
const Search = "search"

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Correction   Correction   `json:"correction"`
	Clean        Cleaning     `json:"clean"`
	L2           string       `json:"l2"` // λ ≥ 0 of the penalty λ/2·‖W‖² on the mean loss, or Search
	ClassWeights ClassWeights `json:"class_weights"`
	Rounds       int          `json:"rounds"`     // of EM; ≥ 1
	Folds        int          `json:"folds"`      // of EM and cleaning; 2 to 100
	Iterations   int          `json:"iterations"` // of L-BFGS at most, for each λ that is tried and at the end; ≥ 1
	Tolerance    float64      `json:"tolerance"`  // ends them when the gradient is so much shorter than at W = 0; ≥ 0

	// LearnConfusion has C learned too; a C that is given is then where that begins. With
	// annotations their matrices are learned in any case.
	LearnConfusion bool `json:"learn_confusion"`
}

// Defaults returns the default parameters.
func Defaults() *Params {
	return &Params{
		Correction: Forward, Clean: Keep, L2: Search, ClassWeights: Equal, Rounds: 10, Folds: 5, Iterations: 200,
		Tolerance: 1e-4,
	}
}

var definition = &learners.Definition{
	Name:    "softmax",
	Summary: "logistic regression of all classes at once, whose probabilities C turns into those of the noisy labels",
	Paper: "Patrini et al., Making deep neural networks robust to label noise: a loss correction approach, CVPR 2017, " +
		"Theorems 1 and 2; L-BFGS: Liu & Nocedal, Mathematical Programming 45 (1989)",
	Step:     "an iteration of L-BFGS, over all examples; the first of many examples is a fit of a sample",
	MaxSteps: 100000,
	Weights:  []learners.Rule{learners.Last},
	New:      func() learners.Params { return Defaults() },

	Shared:      true,
	Loads:       learners.LoadsEvaluator,
	Annotations: true,
}

// Definition implements learners.Params.
func (*Params) Definition() *learners.Definition { return definition }

// Flags implements learners.Params.
func (p *Params) Flags(fs *flag.FlagSet) {
	fs.StringVar((*string)(&p.Correction), "correction", string(p.Correction), "what is `DONE` about wrong labels: "+
		"forward (C turns probabilities into those of noisy labels), em (rounds of soft labels, each from C and a model "+
		"that has not seen the example), backward (C⁻¹ weights the losses), none, or auto (what does best on examples "+
		"held out)")
	fs.StringVar((*string)(&p.Clean), "clean", string(p.Clean), "what is `MADE` of labels that look wrong, before a "+
		"last fit to the others: none, prune (left out), reweight (count by how likely they are right) or relabel")
	fs.StringVar(&p.L2, "l2", p.L2, "penalty `L` on the size of the weights, at least 0, or search: the one with the "+
		"least corrected loss on a fifth of the examples that is held out")
	fs.StringVar((*string)(&p.ClassWeights), "class-weights", string(p.ClassWeights), "`WEIGHTS` of the examples: "+
		"equal, or balanced (all labels count alike)")
	fs.IntVar(&p.Rounds, "rounds", p.Rounds, "`ROUNDS` of --correction em, at least 1")
	fs.IntVar(&p.Folds, "folds", p.Folds, "`FOLDS` of --correction em and --clean: that many models, none of which sees "+
		"the examples that it judges; 2 to 100")
	fs.IntVar(&p.Iterations, "iterations", p.Iterations, "most `ITERATIONS` of L-BFGS for one penalty, at least 1")
	fs.Float64Var(&p.Tolerance, "tolerance", p.Tolerance, "how much `SHORTER` the gradient has to become than it is "+
		"without weights, at least 0")
	fs.BoolVar(&p.LearnConfusion, "learn-confusion", p.LearnConfusion, "learn the confusion matrix too, from labels "+
		"that are right more often than not; one that is given counts as 20 examples of each class")
}

// Check implements learners.Params.
func (p *Params) Check() error {
	switch {
	case !slices.Contains([]Correction{Forward, EM, Backward, None, Auto}, p.Correction):
		return fmt.Errorf("softmax: correction %q is not known; use forward, em, backward, none or auto", p.Correction)
	case !slices.Contains([]Cleaning{Keep, Prune, Reweight, Relabel}, p.Clean):
		return fmt.Errorf("softmax: clean %q is not known; use none, prune, reweight or relabel", p.Clean)
	case p.Clean != Keep && p.Correction != Forward && p.Correction != EM:
		return fmt.Errorf("softmax: found clean %s with correction %s, wanted forward or em, which say what labels are "+
			"likely wrong", p.Clean, p.Correction)
	case !slices.Contains([]ClassWeights{Equal, Balanced}, p.ClassWeights):
		return fmt.Errorf("softmax: class weights %q are not known; use equal or balanced", p.ClassWeights)
	case p.Rounds < 1:
		return fmt.Errorf("softmax: found %d rounds, wanted at least 1", p.Rounds)
	case p.Folds < 2 || p.Folds > 100:
		return fmt.Errorf("softmax: found %d folds, wanted 2 to 100", p.Folds)
	case p.Iterations < 1:
		return fmt.Errorf("softmax: found %d iterations, wanted at least 1", p.Iterations)
	case !(p.Tolerance >= 0) || math.IsInf(p.Tolerance, 0):
		return fmt.Errorf("softmax: tolerance is %v; it must be a number of at least 0", p.Tolerance)
	}
	if p.LearnConfusion {
		if err := p.checkLearning("learn-confusion"); err != nil {
			return err
		}
	}
	_, err := p.penalty()
	return err
}

// checkLearning says why nothing can be learned of the noise, which what asks for.
func (p *Params) checkLearning(what string) error {
	if p.Correction != Forward && p.Correction != EM {
		return fmt.Errorf("softmax: found %s with correction %s, wanted forward or em, which use what is learned",
			what, p.Correction)
	}
	if p.ClassWeights != Equal {
		return fmt.Errorf("softmax: found %s with class weights %s, wanted equal: how labels are wrong is learned from "+
			"as many of each as there are", what, p.ClassWeights)
	}
	return nil
}

// penalty returns λ, or -1 if it is to be searched for.
func (p *Params) penalty() (float64, error) {
	if p.L2 == Search {
		return -1, nil
	}
	v, err := strconv.ParseFloat(p.L2, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("softmax: l2 is %q; it must be search or a number of at least 0", p.L2)
	}
	return v, nil
}
