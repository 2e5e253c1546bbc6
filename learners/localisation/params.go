package localisation

import (
	"math"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Oracle chooses the mistake that becomes the next cutting plane.
type Oracle string

const (
	Largest  Oracle = "largest"  // the one of the lowest margin
	Smallest Oracle = "smallest" // the one of the highest
	Random   Oracle = "random"   // any, all alike
)

// Params are the parameters of the learner.
type Params struct {
	Oracle  Oracle
	Updates int // of the perceptron at most for one more plane; ≥ 1
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params { return &Params{Oracle: Largest, Updates: 10000} }

var definition = &learners.Definition{
	Name: "localisation",
	Summary: "perceptron on cutting planes: finds weights that make no mistake, if there are any, " +
		"by a few examples, " +
		"for right labels",
	Paper: "Louche, From confusion noise to active learning (thesis), 2016, Algorithms 6 and 7, " +
		"Theorem 6.2; Louche & " +
		"Ralaivola, From cutting planes algorithms to compression schemes and active learning, IJCNN " +
		"2015",
	Step:     "a cutting plane, and updates of the perceptron until all planes so far hold",
	MaxSteps: 1000,
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
		learners.OneOf("oracle", &p.Oracle, "which mistake is the next cutting plane",
			learners.Case(Largest, "of the lowest margin"),
			learners.Case(Smallest, "of the highest margin"),
			learners.Case(Random, "any, all alike")),
		learners.Int("updates", &p.Updates, 1, math.MaxInt,
			"most updates of the perceptron for one more plane; training ends where these are too few"),
	}
}

// Check implements learners.Params.
func (p *Params) Check() error { return learners.CheckEach(p) }
