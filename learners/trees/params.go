// Package trees are boosted trees and forests for labels that a known confusion matrix C has
// corrupted. Boosting minimises the loss of package softmax, -log Σ_t p_t·e_t, e the evidence of an
// example's label on its true class: a row of C for a label. Each round grows a tree per class on
// the gradients p - q and curvatures p(1-p) of that loss, q ∝ e·p (one tree for two classes). A
// forest learns the shares of the noisy labels, which C then unmixes.
//
// Examples are binned (binning.go); an engine sums histograms of bins in integers, and partitions
// examples; the host finds splits in float64. Trees are so the same on every engine.
//
// Boosting: Friedman, Annals of Statistics 29 (2001); Chen & Guestrin, KDD 2016. Forests: Breiman,
// Machine Learning 45 (2001).
package trees

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Modes.
const (
	Auto   = "auto" // whichever predicts examples better that it has not seen
	Boost  = ensemble.Boost
	Forest = ensemble.Forest
)

// Params are the parameters of the learner; 0 stands for a value that Fit chooses. Defaults returns
// the parameters to start from.
type Params struct {
	Mode         string
	Correction   string // learners.Forward or learners.None
	Rounds       int    // of boosting, or trees of a forest; 0 or more
	Leaves       int    // of a tree at most; 0, or 2 to MostLeaves
	Least        float64
	Rate         float64 // of boosting, 0 to 1
	Rows         float64 // share of the examples that a boosted tree sees, 0 to 1
	Columns      float64 // share of the columns that a boosted tree, or a forest's node, sees
	L2           float64 // penalty on leaves' values; at least 0
	ClassWeights learners.ClassWeights
}

// MostLeaves is how many leaves a tree has at most.
const MostLeaves = 1 << 15

// Defaults returns the default parameters.
func Defaults() *Params {
	return &Params{Mode: Auto, Correction: learners.Forward, L2: 1, ClassWeights: learners.Equal}
}

var definition = learners.Definition{
	Name: "trees",
	Summary: "boosted trees or a forest, of columns as they are; C turns their probabilities into " +
		"those of the noisy labels",
	Paper: "Friedman, Greedy function approximation: a gradient boosting machine, Annals of " +
		"Statistics 29 (2001); Breiman, Random forests, Machine Learning 45 (2001)",
	Step:     "a round of boosting, or a tree of a forest",
	MaxSteps: 100000,
	Weights:  []learners.Rule{learners.Last},

	Weightless: true,
	New:        func() learners.Params { return Defaults() },
}

// Definition implements learners.Params.
func (p *Params) Definition() *learners.Definition {
	d := definition
	share := learners.Range{Most: 1}
	d.Parameters = []learners.Parameter{
		learners.OneOf("mode", &p.Mode, "how trees are put together",
			Auto, "whichever predicts examples better that it has not seen",
			Boost, "each tree corrects the sum of the trees before it",
			Forest, "the mean of trees of random samples and columns"),
		learners.OneOf("correction", &p.Correction, "what is done about wrong labels",
			learners.Forward, "C turns probabilities into probabilities of noisy labels",
			learners.None, "labels count as right"),
		learners.Int("rounds", &p.Rounds, 0, math.MaxInt32,
			"rounds of boosting, or trees of a forest; 0 to have them chosen"),
		learners.Int("leaves", &p.Leaves, 0, MostLeaves,
			"most leaves of a tree; 0 to have them chosen"),
		learners.Float("least", &p.Least, learners.Range{},
			"least weight of a leaf: examples of a forest, p(1-p) of boosting; 0 to have it chosen"),
		learners.Float("rate", &p.Rate, share, "of boosting: how much of a tree counts; 0 to have it "+
			"chosen"),
		learners.Float("rows", &p.Rows, share,
			"share of the examples that a boosted tree sees; 0 to have it chosen"),
		learners.Float("columns", &p.Columns, share,
			"share of the columns that a boosted tree or a node of a forest sees; 0 to have it chosen"),
		learners.Float("l2", &p.L2, learners.Range{}, "penalty on the values of boosted leaves"),
		learners.Weighting(&p.ClassWeights),
	}
	d.Check = p.check
	return &d
}

func (p *Params) check() error {
	if p.Leaves == 1 {
		return &learners.ParameterError{Learner: definition.Name, Parameter: "leaves", Got: "1",
			Want: "0, or at least 2"}
	}
	return nil
}

// Unlabelled implements learners.Probabilistic: examples without labels teach trees nothing.
func (p *Params) Unlabelled() bool { return false }

// correcting returns what p does about wrong labels.
func (p *Params) correcting() learners.Correcting {
	return learners.Correcting{Learner: definition.Name, Correction: p.Correction,
		ClassWeights: p.ClassWeights}
}
