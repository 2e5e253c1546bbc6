// Package softmax is multinomial logistic regression for labels that a known confusion matrix
// C has corrupted. Forward correction: C times the probabilities of the true classes are the
// probabilities of the noisy labels, and the weights maximise the likelihood of the labels
//
//	minimise  -1/n Σ_i log (C·softmax(W·x_i))[y_i]  +  λ/2·‖W‖²
//
// by L-BFGS on all examples. Scores, residuals and their weighted sums are one evaluation on the
// engine; directions and steps are the host's. With C = identity it is scikit-learn's
// LogisticRegression (without a penalty on the bias) and LIBLINEAR's -s 0.
//
// Beside the published losses, forward and backward (Patrini et al. 2017), it has cross-fitted EM.
// Given the same C, forward correction written with scipy's L-BFGS finds the same weights. This
// learner loses to methods that are not linear, unless a kernel maps the features, and, on a
// hundred examples, to classmean.
//
// A Solver fits once. Package host/fit searches over its fits for λ, C and soft labels.
package softmax

import (
	"fmt"
	"math"
	"strconv"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Penalty is the weight λ of the penalty λ/2·‖W‖² on the mean loss, or a search for it.
type Penalty struct {
	Lambda float64 // ≥ 0
	Search bool    // for the λ of the least corrected loss on a fifth of the examples, held out
}

// Search is the penalty that is searched for.
var Search = Penalty{Search: true}

// L2 returns the penalty of a given λ.
func L2(lambda float64) Penalty { return Penalty{Lambda: lambda} }

// MarshalText returns "search" or λ.
func (p Penalty) MarshalText() ([]byte, error) {
	switch {
	case !(p.Lambda >= 0) || math.IsInf(p.Lambda, 0):
		return fmt.Append(nil, p.Lambda), fmt.Errorf("penalty: got %v, want a number of at least 0",
			p.Lambda)
	case p.Search:
		return []byte("search"), nil
	}
	return strconv.AppendFloat(nil, p.Lambda, 'g', -1, 64), nil
}

// UnmarshalText reads what MarshalText writes.
func (p *Penalty) UnmarshalText(text []byte) (err error) {
	read := Penalty{Search: string(text) == "search"}
	if !read.Search {
		if read.Lambda, err = strconv.ParseFloat(string(text), 64); err != nil {
			return err
		}
	}
	if _, err = read.MarshalText(); err == nil {
		*p = read
	}
	return err
}

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Correction   string
	L2           Penalty
	ClassWeights learners.ClassWeights
	Rounds       int     // of EM; ≥ 1
	Folds        int     // of EM; 2 to 100, or less for the default
	Iterations   int     // of L-BFGS at most, for each λ that is tried and at the end; ≥ 1
	Tolerance    float64 // what they may leave of the loss, as a share of what chance decides; ≥ 0
}

// Defaults returns the default parameters.
func Defaults() *Params {
	return &Params{Correction: learners.Forward, L2: Search, ClassWeights: learners.Equal, Rounds: 10,
		Iterations: 200, Tolerance: 0.01}
}

var definition = learners.Definition{
	Name: "softmax",
	Summary: "logistic regression of all classes at once, whose probabilities C turns into those " +
		"of the noisy labels",
	Paper: "Patrini et al., Making deep neural networks robust to label noise: a loss correction " +
		"approach, CVPR 2017, Theorems 1 and 2; L-BFGS: Liu & Nocedal, Mathematical " +
		"Programming 45 (1989)",
	Step: "an iteration of L-BFGS, over all examples; the first of many examples is a fit of a " +
		"sample",
	MaxSteps: 100000,
	Weights:  []learners.Rule{learners.Last},
	New:      func() learners.Params { return Defaults() },

	Loads: learners.LoadsEvaluator,
}

func (p *Params) Definition() *learners.Definition {
	d := definition
	d.Parameters = p.parameters()
	return &d
}

// Unlabelled implements learners.Probabilistic.
func (p *Params) Unlabelled() bool { return p.Correction == learners.EM }

// Correcting returns what p does about wrong labels.
func (p *Params) Correcting() learners.Correcting {
	return learners.Correcting{Learner: definition.Name, Correction: p.Correction,
		ClassWeights: p.ClassWeights}
}

func (p *Params) parameters() []learners.Parameter {
	return []learners.Parameter{
		learners.OneOf("correction", &p.Correction, "what is done about wrong labels",
			learners.Forward, "C turns probabilities into probabilities of noisy labels",
			learners.EM, "rounds of soft labels, each from C and a model that has not seen the example",
			learners.Backward, "C⁻¹ weights the losses",
			learners.None, "labels count as right"),
		learners.Text("l2", &p.L2, "search or a number of at least 0",
			"penalty on the size of the weights",
			"search", "the penalty under which examples held out are predicted best, by C"),
		learners.Weighting(&p.ClassWeights),
		learners.Int("rounds", &p.Rounds, 1, math.MaxInt, "rounds of the correction em"),
		learners.Int("folds", &p.Folds, 0, 100,
			"models of the correction em, each without the examples that it judges; "+
				"below 2 for 3, or 5 of fewer than 4096 examples"),
		learners.Int("iterations", &p.Iterations, 1, math.MaxInt,
			"most iterations of L-BFGS for one penalty"),
		learners.Float("tolerance", &p.Tolerance, learners.Range{},
			"what iterations may leave of the loss, as a share of what the choice of the examples "+
				"decides of it; 1e-6 for the minimum"),
	}
}

func (p *Params) wrong(parameter, got, want string) error {
	return &learners.ParameterError{Learner: definition.Name, Parameter: parameter, Got: got,
		Want: want}
}

// CheckAnnotations returns an error if annotators' noise cannot be learned.
func (p *Params) CheckAnnotations() error {
	if p.Correction != learners.Forward && p.Correction != learners.EM {
		return p.wrong("correction", p.Correction+" with annotations",
			"forward or em, which use what is learned")
	}
	if p.ClassWeights != learners.Equal {
		return p.wrong("class_weights", string(p.ClassWeights)+" with annotations",
			"equal: wrong labels are learned from examples that count alike")
	}
	return nil
}
