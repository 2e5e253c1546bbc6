package online

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Options are the parameters that all learners of the family have.
type Options struct {
	NoShuffle  bool       // passes take the examples in their order, else in a random one each
	NoAverage  bool       // W is what the last example left, else the mean of all that were left
	Correction Correction // what C corrects
}

// standard are the defaults.
var standard = Options{Correction: Uncorrected}

// of returns what there is to know of the learner d with these options.
func (o *Options) of(d *learners.Definition) *learners.Definition {
	if o.Correction != CorrectSteps {
		return d
	}
	corrected := *d
	corrected.IgnoresNoise = false
	return &corrected
}

// parameters returns the declarations of the options, with others behind them.
func (o *Options) parameters(more ...learners.Parameter) []learners.Parameter {
	return append([]learners.Parameter{
		learners.Bool("no_shuffle", &o.NoShuffle,
			"take the examples in their order, not in a random one in each pass"),
		learners.Bool("no_average", &o.NoAverage,
			"keep the weights that the last example left, not the mean of those that all left"),
		learners.Text("correction", &o.Correction, "none or steps", "what a confusion matrix corrects",
			learners.Choice{Value: "none", About: "nothing: all labels are taken to be right"},
			learners.Choice{Value: "steps", About: "the steps, by its inverse"}),
	}, more...)
}

// Multiclass is how learners of two classes, such as the perceptron, become learners of more.
type Multiclass string

const (
	// Max compares the class of an example with the best of the others, and moves these two.
	Max Multiclass = "max"
	// All compares it with all others, and moves as many as have to be.
	All Multiclass = "all"
	// OVR, one-versus-rest, has a classifier of two classes for each class.
	OVR Multiclass = "ovr"
)

// divide returns the parameter of how classes are told apart, of two ways or three.
func divide(field *Multiclass, all bool) learners.Parameter {
	cases := []learners.Choice{
		learners.Case(Max, "the class of an example against the best of the others"),
		learners.Case(OVR, "each class by itself against the rest"),
	}
	if all {
		cases = slices.Insert(cases, 1, learners.Case(All, "against all others at once"))
	}
	return learners.OneOf("multiclass", field, "how more than two classes are told apart", cases...)
}

// aggressiveness returns the parameter of C.
func aggressiveness(field *float64) learners.Parameter {
	return learners.Float("aggressiveness", field, learners.Above(0),
		"C: how much it is worth that an example is right, against weights that stay as they are")
}

// define returns the definition of a learner of the family.
func define(name, summary, paper string, defaults func() learners.Params) *learners.Definition {
	return &learners.Definition{
		Name: name, Summary: summary, Paper: paper,
		Step:     "a pass over all examples, one after another",
		MaxSteps: 10,
		Weights:  []learners.Rule{learners.Last, learners.Best},
		New:      defaults,

		Loads:        learners.LoadsScorer,
		Passes:       true,
		IgnoresNoise: true,
		StepAll:      stepAll,
	}
}
