package clean

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/fit"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Start is a model together with which C is learned.
type Start struct {
	Penalty float64          // as fit.NoiseOnly has it
	Kernel  *fitting.Options // nil for a linear model
}

func (s Start) String() string {
	if s.Kernel != nil {
		return string(s.Kernel.Function.Kind)
	}
	return fmt.Sprintf("penalty %.0e", s.Penalty)
}

// penalties are such that each has been the best on some set: weak ones let few classes of many
// examples grow sharp, strong ones keep few examples from being learned by heart. curvedPenalty is
// for curved classes, which are no noise.
var penalties = []float64{1e-5, 1e-4, 1e-3}

const curvedPenalty = 1e-5

// What a curved start is for: dense examples of few features. curvedLandmarks keep it cheap.
const (
	curvedFeatures  = 1000
	curvedLandmarks = 300
)

// jointLikelihood learns C together with several models.
func (e *noiseEstimator) jointLikelihood(ctx context.Context) (*estimate.Estimate, error) {
	begin, err := e.known()
	if err != nil {
		return nil, err
	}
	d := e.data
	var starts []Start
	for _, penalty := range penalties {
		starts = append(starts, Start{Penalty: penalty, Kernel: e.Kernel})
	}
	if e.Kernel == nil && d.Prepared == nil && !d.Sparse() &&
		d.D <= curvedFeatures {
		starts = append(starts, Start{curvedPenalty, &fitting.Options{
			Function: kernel.Function{Kind: kernel.RBF}, Median: true,
			Landmarks: min(curvedLandmarks, d.N), Coordinates: true}})
	}
	found, err := LearnNoise(ctx, d, begin, e.Options, starts)
	if err == nil {
		found.DoubtFeatures(d.N, d.D)
	}
	return found, err
}

// LearnNoise returns the confusion matrix that is learned together with models, as
// estimate.FromLearned takes the one under which labels held out are likeliest. Learning begins
// with a matrix, or with the identity if begin is nil. Of o the learner and its steps do not count.
func LearnNoise(ctx context.Context, data *dataset.Dataset, begin *confusion.Matrix, o host.Options,
	starts []Start) (*estimate.Estimate, error) {
	note := o.Watch.Note
	o.MaxSteps, o.Weights, o.Trial, o.Watch = 0, "", true, host.Watch{}
	var learned []*confusion.Learned
	for _, s := range starts {
		p := &fit.NoiseOnly{Params: *softmax.Defaults(), Penalty: s.Penalty}
		p.LearnConfusion = true
		o.Learner, o.Kernel = p, s.Kernel
		trained, err := host.Train(ctx, data, begin, o)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("joint likelihood, %s: %w", s, err)
		}
		found := trained.Run.Noise
		learned = append(learned, found)
		if note != nil {
			note("joint likelihood, %s: loss %.5f ± %.5f", s, found.Loss, found.LossError)
		}
	}
	found, err := estimate.FromLearned(data.Classes, learned...)
	if err != nil {
		return nil, fmt.Errorf("joint likelihood: %w", err)
	}
	return found, nil
}

// known returns what the known classes say, nil if it cannot be inverted. Learning begins there:
// from the identity it does not find its way where few examples of many features have much noise.
func (e *noiseEstimator) known() (*confusion.Matrix, error) {
	if e.counts == nil {
		return nil, nil
	}
	known, err := estimate.FromCounts(e.data.Classes, e.counts, nil)
	if err != nil {
		return nil, err
	}
	if _, err := known.Invert(); err != nil {
		return nil, nil //nolint:nilerr // then it begins without
	}
	return &known.Matrix, nil
}
