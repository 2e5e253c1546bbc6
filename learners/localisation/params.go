package localisation

import (
	"flag"
	"fmt"
	"slices"

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
	Oracle  Oracle `json:"oracle"`
	Updates int    `json:"updates"` // of the perceptron at most for one more plane; ≥ 1
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params { return &Params{Oracle: Largest, Updates: 10000} }

var definition = &learners.Definition{
	Name: "localisation",
	Summary: "perceptron on cutting planes: finds weights that make no mistake, if there are any, by a few examples, " +
		"for right labels",
	Paper: "Louche, From confusion noise to active learning (thesis), 2016, Algorithms 6 and 7, Theorem 6.2; Louche & " +
		"Ralaivola, From cutting planes algorithms to compression schemes and active learning, IJCNN 2015",
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

// Flags implements learners.Params.
func (p *Params) Flags(fs *flag.FlagSet) {
	fs.StringVar((*string)(&p.Oracle), "oracle", string(p.Oracle), "`WHICH` mistake is the next cutting plane: largest, "+
		"smallest or random")
	fs.IntVar(&p.Updates, "updates", p.Updates, "most `UPDATES` of the perceptron for one more plane, at least 1; "+
		"where they do not do, training ends")
}

// Check implements learners.Params.
func (p *Params) Check() error {
	switch {
	case !slices.Contains([]Oracle{Largest, Smallest, Random}, p.Oracle):
		return fmt.Errorf("localisation: oracle %q is not known; use largest, smallest or random", p.Oracle)
	case p.Updates < 1:
		return fmt.Errorf("localisation: found %d updates, wanted at least 1", p.Updates)
	}
	return nil
}
