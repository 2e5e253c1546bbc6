package online

import (
	"flag"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/learners"
)

// Options are the parameters that all learners of the family have.
type Options struct {
	NoShuffle  bool       `json:"no_shuffle"` // passes take the examples in their order, else in a random one each
	NoAverage  bool       `json:"no_average"` // W is what the last example left, else the mean of all that were left
	Correction Correction `json:"correction"` // what C corrects; "" is none
}

// standard are the defaults.
var standard = Options{Correction: Uncorrected}

func (o *Options) check(learner string, c ClassWeights) error {
	if err := o.Correction.check(learner); err != nil {
		return err
	}
	return c.check(learner)
}

// of returns what there is to know of the learner d with these options.
func (o *Options) of(d *learners.Definition) *learners.Definition {
	if o.Correction != CorrectSteps {
		return d
	}
	corrected := *d
	corrected.IgnoresNoise = false
	return &corrected
}

func (o *Options) flags(fs *flag.FlagSet) {
	fs.BoolVar(&o.NoShuffle, "no-shuffle", o.NoShuffle, "see the examples in their order, not in another random one in "+
		"each pass")
	fs.BoolVar(&o.NoAverage, "no-average", o.NoAverage, "keep the weights that the last example left, not the mean of "+
		"those that all left")
	fs.StringVar((*string)(&o.Correction), "correction", string(o.Correction), "`WHAT` a confusion matrix "+
		"corrects: steps, or none (all labels are taken to be right)")
}

// ClassWeights says how much examples count by their label.
type ClassWeights string

const (
	Equal    ClassWeights = "equal"    // all examples count alike
	Balanced ClassWeights = "balanced" // all labels count alike: an example of label k n/(Q·n_k)
)

func (c *ClassWeights) flags(fs *flag.FlagSet) {
	fs.StringVar((*string)(c), "class-weights", string(*c), "`WEIGHTS` of the examples: equal, or balanced (all labels "+
		"count alike)")
}

func (c ClassWeights) check(learner string) error {
	if !slices.Contains([]ClassWeights{Equal, Balanced}, c) {
		return fmt.Errorf("%s: class weights %q are not known; use equal or balanced", learner, c)
	}
	return nil
}

// of returns what an example of each class counts for, of n examples of which so many are of it. Of a class that
// is estimated to have less than one example, it is as if it had one.
func (c ClassWeights) of(n float64, counts []float64) []float64 {
	weights := slices.Repeat([]float64{1}, len(counts))
	for k, count := range counts {
		if c == Balanced && count != 0 {
			weights[k] = n / float64(float64(len(counts))*max(1, count))
		}
	}
	return weights
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

const (
	maxUsage = "max (the class of an example against the best of the others)"
	allUsage = "all (against all others at once)"
	ovrUsage = "ovr (each class by itself against the rest)"
)

func (m Multiclass) check(learner string, known ...Multiclass) error {
	if !slices.Contains(known, m) {
		return fmt.Errorf("%s: multiclass %.60q is not known; use %s", learner, m, orList(known))
	}
	return nil
}

// orList names choices.
func orList[T ~string](choices []T) string {
	text := string(choices[0])
	for i, c := range choices[1:] {
		if i == len(choices)-2 {
			text += " or " + string(c)
		} else {
			text += ", " + string(c)
		}
	}
	return text
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

// positive says whether v is a finite number above 0.
func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
