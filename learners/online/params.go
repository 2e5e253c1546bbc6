package online

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Params are the parameters of a learner of the family; New returns them. A parameter that the
// learner lacks is 0.
type Params struct {
	NoShuffle  bool   // passes take the examples in their order, else in a random one each
	NoAverage  bool   // W is what the last example left, else the mean of all that were left
	Correction string // CorrectSteps or Uncorrected: what C corrects

	ClassWeights learners.ClassWeights
	Multiclass   string // Max or OVR
	Step         string // StepMax, StepUniform, StepProportional or StepRandom

	// Margin of MIRA is by how much the score of an example's class has to lead, in units of ‖x‖²;
	// above 0. The paper's is 0, which would leave W = 0 as it is, and ties between classes.
	Margin float64

	// Aggressiveness is C > 0 of the papers. COPA's C applies to an example of a class of average
	// size: an example of class y has C·(n/(Q·T_y))², where T_y is the number of its examples. The
	// C of equation 17, divided by T_y² alone, is this one times (n/Q)².
	Aggressiveness float64

	algorithm *algorithm
}

// What C corrects.
const (
	Uncorrected  = "none"  // nothing: all labels are taken to be right
	CorrectSteps = "steps" // the steps, by C⁻¹
)

// How learners of two classes, such as the perceptron, become learners of more.
const (
	Max = "max" // the class of an example against the best of the others: these two move
	OVR = "ovr" // one-versus-rest: a classifier of two classes for each class
)

// How an ultraconservative algorithm divides the step of 1 among the error set of an example, which
// are the classes r ≠ y that score at least as much as y (Crammer & Singer 2003, Figures 1 and 2).
const (
	StepMax          = "max"          // all to the class of the highest score, the lowest on a tie
	StepUniform      = "uniform"      // alike
	StepProportional = "proportional" // in proportion to s_r - s_y, alike if all are 0
	StepRandom       = "random"       // all to a random one of them
)

// algorithm is one learner of the family.
type algorithm struct {
	name, summary, paper string
	defaults             Params // 0 for parameters that it lacks
	unbounded            bool   // a step may be of any size, if the loss is
	policy               func(p *Params) policy
}

const (
	paPaper = "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, Online passive-aggressive " +
		"algorithms, JMLR 7 (2006)"
	ultraPaper = "Crammer & Singer, Ultraconservative online algorithms for multiclass problems, " +
		"JMLR 3 (2003)"
)

// algorithms is the table of the family.
var algorithms = []*algorithm{
	{"perceptron",
		"the averaged perceptron: an example that is taken for another class is added to its own, and " +
			"taken off that one",
		"Rosenblatt, The perceptron, Psychological Review 65 (1958); averaged: Freund & Schapire, " +
			"Large margin classification using the perceptron algorithm, Machine Learning 37 (1999)",
		Params{ClassWeights: learners.Equal, Multiclass: Max}, false,
		func(p *Params) policy {
			if p.Multiclass == OVR {
				return perceptrons{}
			}
			return errorSet{StepMax}
		}},
	{"ultraconservative",
		"perceptrons of many classes: an example is taken off all classes, or some, that score as much " +
			"as its own", ultraPaper,
		Params{ClassWeights: learners.Equal, Step: StepUniform}, false,
		func(p *Params) policy { return errorSet{p.Step} }},
	{"mira",
		"an ultraconservative algorithm whose steps are those after which W would be shortest",
		ultraPaper + ", Section 4",
		Params{ClassWeights: learners.Equal, Margin: 0.1}, false,
		func(p *Params) policy { return &mira{margin: p.Margin} }},
	{"pa",
		"passive-aggressive: moves as little as it takes to have each example right by a margin of 1",
		paPaper + ", Figure 1",
		Params{Multiclass: Max}, true,
		func(p *Params) policy { return newPassive(p.Multiclass, slack{most: math.Inf(1)}) }},
	{"pa1",
		"passive-aggressive, where no example moves W by more than the aggressiveness (hinge loss)",
		paPaper + ", PA-I",
		Params{ClassWeights: learners.Equal, Multiclass: Max, Aggressiveness: 1}, false,
		func(p *Params) policy { return newPassive(p.Multiclass, slack{most: p.Aggressiveness}) }},
	{"pa2",
		"passive-aggressive, where the part of the margin that is missed costs its square",
		paPaper + ", PA-II",
		Params{ClassWeights: learners.Equal, Multiclass: Max, Aggressiveness: 1}, true,
		func(p *Params) policy { return newPassive(p.Multiclass, slack{p.Aggressiveness, true}) }},
	{"copa",
		"confusion-based passive-aggressive: aims at few errors in each class, however few examples it " +
			"has",
		"Ralaivola, Confusion-based online learning and a passive-aggressive scheme, NIPS 2012, " +
			"Algorithm 1",
		Params{Aggressiveness: 1}, true,
		func(p *Params) policy { return &copa{aggressiveness: p.Aggressiveness} }},
}

// Definitions returns the definitions of the family.
func Definitions() (all []*learners.Definition) {
	for _, a := range algorithms {
		all = append(all, a.params().Definition())
	}
	return all
}

func (a *algorithm) params() *Params {
	p := a.defaults
	p.Correction, p.algorithm = Uncorrected, a
	return &p
}

// New returns the default parameters of a learner: perceptron, ultraconservative, mira, pa, pa1,
// pa2 or copa. It panics if there is none of that name.
func New(name string) *Params {
	for _, a := range algorithms {
		if a.name == name {
			return a.params()
		}
	}
	panic(fmt.Sprintf("online: learner: got %q, want one of the family", name))
}

func (p *Params) Definition() *learners.Definition {
	a := p.algorithm
	return &learners.Definition{
		Name: a.name, Summary: a.summary, Paper: a.paper,
		Step:     "a pass over all examples, one after another",
		MaxSteps: 10,
		Weights:  []learners.Rule{learners.Last, learners.Best},
		New:      func() learners.Params { return a.params() },

		Parameters: p.parameters(),
		Check:      p.check,
		Start: learners.StartScored(a.name, func(s *learners.Scored) (learners.Learner, error) {
			return newRun(s, p)
		}),

		Loads:        learners.LoadsScorer,
		IgnoresNoise: p.Correction != CorrectSteps,
		Uncounted:    true,
	}
}

func (p *Params) parameters() []learners.Parameter {
	all := []learners.Parameter{
		learners.Bool("no_shuffle", &p.NoShuffle,
			"take the examples in their order, not in a random one in each pass"),
		learners.Bool("no_average", &p.NoAverage,
			"keep the weights that the last example left, not the mean of what all left"),
		learners.OneOf("correction", &p.Correction, "what a confusion matrix corrects",
			Uncorrected, "nothing: all labels are taken to be right",
			CorrectSteps, "the steps, by its inverse"),
	}
	for _, o := range p.own() {
		if o.has {
			all = append(all, o.Parameter)
		}
	}
	return all
}

// ownParameter is a parameter that not all learners of the family have.
type ownParameter struct {
	learners.Parameter
	has, set bool // whether the learner has it, and whether its field is set
}

func (p *Params) own() []ownParameter {
	d := &p.algorithm.defaults
	return []ownParameter{
		{learners.Weighting(&p.ClassWeights), d.ClassWeights != "", p.ClassWeights != ""},
		{learners.OneOf("multiclass", &p.Multiclass, "how more than two classes are told apart",
			Max, "the class of an example against the best of the others",
			OVR, "each class by itself against the rest"), d.Multiclass != "", p.Multiclass != ""},
		{learners.OneOf("step", &p.Step,
			"which of the classes that score as much as its own an example is taken off",
			StepMax, "the best", StepUniform, "all alike", StepProportional, "all, by their excess",
			StepRandom, "one, by chance"), d.Step != "", p.Step != ""},
		{learners.Float("margin", &p.Margin, learners.Range{Open: true},
			"lead that the score of an example's class must have, in units of its squared length"),
			d.Margin != 0, p.Margin != 0},
		{learners.Float("aggressiveness", &p.Aggressiveness, learners.Range{Open: true},
			"C: how much it is worth that an example is right, against weights that stay as they are"),
			d.Aggressiveness != 0, p.Aggressiveness != 0},
	}
}

// check returns an error if a field that is no parameter of the learner is not 0.
func (p *Params) check() error {
	for _, o := range p.own() {
		if o.set && !o.has {
			return &learners.ParameterError{Learner: p.algorithm.name, Parameter: o.Name,
				Got: fmt.Sprintf("%.60q", o), Want: "none: the learner has no such parameter"}
		}
	}
	return nil
}

// classWeights returns how much examples count by their label. COPA weighs labels alike.
func (p *Params) classWeights() learners.ClassWeights {
	if p.algorithm.name == "copa" {
		return learners.Balanced
	}
	return p.ClassWeights
}
