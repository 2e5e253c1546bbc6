package clean

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// NoiseMethod is a way to estimate the confusion matrix of labels.
type NoiseMethod string

// The methods.
const (
	NoNoise        NoiseMethod = "identity"        // labels are right
	ConfidentJoint NoiseMethod = "confident-joint" // estimate.ConfidentJoint
	CleanCounts    NoiseMethod = "clean"           // estimate.FromCounts alone
	AutoNoise      NoiseMethod = "auto"            // a contest
)

// NoiseMethods are all of them.
var NoiseMethods = []NoiseMethod{AutoNoise, ConfidentJoint, CleanCounts, NoNoise}

// DefaultNoiseFolds is how many folds NoiseOptions have unless they say.
const DefaultNoiseFolds = 5

// looseFits multiplies the tolerance of the fits: it moves C by far less than its standard error.
const looseFits = 2

// NoiseOptions of EstimateNoise.
type NoiseOptions struct {
	host.Options             // of the trainings, whose learner is softmax
	Method       NoiseMethod // "" for AutoNoise
	Folds        int         // 0 for DefaultNoiseFolds
	// Right is the true class of each example where it is known, else -1; nil if of none. The
	// counts of these examples are joined by what Method finds, which is their prior.
	Right []int32
	// Probabilities are out-of-fold ones of the labels, n×Q, for ConfidentJoint, which then trains
	// nothing; nil for none.
	Probabilities []float32
}

// Noise is what EstimateNoise has found.
type Noise struct {
	*estimate.Estimate
	// Of AutoNoise, as of Result:
	Hypotheses []Hypothesis
	Evidence   string
	ToIdentify []int
}

// EstimateNoise estimates the confusion matrix of data's labels from the data, and from the true
// classes of some examples if they are known.
//
// AutoNoise is the mean of the hypotheses of Find. The other methods are single ones.
//
// The result has the same bits on every engine. A cancelled ctx ends it with ctx's error.
func EstimateNoise(ctx context.Context, data *dataset.Dataset, o NoiseOptions) (*Noise, error) {
	o.Method = cmp.Or(o.Method, AutoNoise)
	o.Folds = cmp.Or(o.Folds, DefaultNoiseFolds)
	p := softmax.Defaults()
	p.Tolerance *= looseFits
	o.Learner, o.MaxSteps, o.Weights = p, 0, ""
	switch {
	case !slices.Contains(NoiseMethods, o.Method):
		return nil, fmt.Errorf("estimate noise: found method %q, wanted one of %v", o.Method,
			NoiseMethods)
	case o.Annotations != nil:
		return nil, errors.New("estimate noise: found annotations, wanted one label of each example; " +
			"crowd.Fit finds the matrices of annotators")
	case len(data.Y) != data.N:
		return nil, fmt.Errorf("estimate noise: found %d labels, wanted one for each of %d examples",
			len(data.Y), data.N)
	}
	e := &noiseEstimator{NoiseOptions: o, data: data}
	var err error
	if e.counts, err = countRight(data, o.Right); err != nil {
		return nil, err
	}
	if o.Method == CleanCounts {
		if e.counts == nil {
			return nil, errors.New("estimate noise: found no example whose true class is known, wanted " +
				"some for method clean")
		}
		found, err := estimate.FromCounts(data.Classes, e.counts, nil)
		return &Noise{Estimate: found}, err
	}
	found := new(Noise)
	if o.Method == AutoNoise {
		return found, e.contest(ctx, found)
	}
	if found.Estimate, err = e.by(ctx, o.Method); err != nil {
		return nil, err
	}
	if o.Method != NoNoise {
		found.Estimate, err = join(data.Classes, e.counts, found.Estimate)
	}
	return found, err
}

// noiseEstimator is a call of EstimateNoise.
type noiseEstimator struct {
	NoiseOptions
	data *dataset.Dataset
	// Q×Q: examples whose class is known, by label and class; nil if there are none
	counts []float64
}

// countRight counts the examples whose true class is known, nil if there are none.
func countRight(data *dataset.Dataset, all []int32) (counts []float64, err error) {
	if all != nil && len(all) != len(data.Y) {
		return nil, fmt.Errorf("estimate noise: found %d true classes, wanted one (or -1) for each of "+
			"%d labels", len(all), len(data.Y))
	}
	known := lists.Where(len(all), func(i int) bool { return all[i] >= 0 && data.Y[i] >= 0 })
	if known == nil {
		return nil, nil
	}
	return estimate.CountLabels(len(data.Classes), lists.At(data.Y, known), lists.At(all, known))
}

// join makes an estimate the prior of the counts, if there are any.
func join(classes []string, counts []float64, found *estimate.Estimate,
) (*estimate.Estimate, error) {
	if counts == nil {
		return found, nil
	}
	joined, err := estimate.FromCounts(classes, counts, &found.Matrix)
	if err != nil {
		return nil, err
	}
	joined.Method = "counts, with " + found.Method + " as prior"
	joined.Assumes += "; where they are few, " + found.Assumes
	joined.Notes = append(joined.Notes, found.Notes...)
	for _, t := range found.Unidentified {
		n := 0.0
		for k := range joined.Q() {
			n += counts[k*joined.Q()+t]
		}
		if n < estimate.FewExamples {
			joined.Unidentified = append(joined.Unidentified, t)
		}
	}
	return joined, nil
}

// by estimates from noisy labels by one method.
func (e *noiseEstimator) by(ctx context.Context, method NoiseMethod) (*estimate.Estimate, error) {
	d := e.data
	if method == NoNoise {
		m, err := confusion.Symmetric(d.Classes, 0)
		if err != nil {
			return nil, err
		}
		m.Error = make([]float64, len(m.P))
		return &estimate.Estimate{Matrix: *m, Method: "identity", Assumes: "labels are right"}, nil
	}
	if e.Probabilities != nil {
		return estimate.ConfidentJoint(d.Classes, d.Y, e.Probabilities, false)
	}
	held, err := host.OutOfFold(ctx, d, nil, e.Options, e.Folds)
	if err != nil {
		return nil, err
	}
	p, err := held.Probabilities()
	if err != nil {
		return nil, err
	}
	return estimate.ConfidentJoint(d.Classes, d.Y, p, true)
}

// contest is AutoNoise: the noise that Find estimates.
func (e *noiseEstimator) contest(ctx context.Context, won *Noise) error {
	r, err := Find(ctx, e.data, Options{Options: e.Options, Right: e.Right,
		Probabilities: e.Probabilities})
	if err != nil {
		return err
	}
	won.Estimate, won.Hypotheses = r.Noise, r.Hypotheses
	won.Evidence, won.ToIdentify = r.Evidence(), r.ToIdentify
	return nil
}
