package outoffold

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// start is a model together with which C is learned.
type start struct {
	name    string
	penalty float64 // as softmax.NoiseOnly has it
	curved  bool    // of a kernel function's coordinates
}

// starts are such that each has been the best on some set: weak penalties let few classes of many
// examples grow sharp, strong ones keep few examples from being learned by heart, and curved
// classes are no noise.
var starts = []start{
	{"penalty 1e-5", 1e-5, false}, {"penalty 1e-4", 1e-4, false}, {"penalty 1e-3", 1e-3, false},
	{"rbf", 1e-5, true},
}

// What a curved start is for: dense examples of few features. curvedLandmarks keep it cheap.
const (
	curvedFeatures  = 1000
	curvedLandmarks = 300
)

// jointLikelihood learns C together with several models, and takes the C under which labels held
// out are likeliest. How far the others lie from it counts in the standard errors.
func (e *noiseEstimator) jointLikelihood(ctx context.Context) (*estimate.Estimate, error) {
	begin, err := e.known()
	if err != nil {
		return nil, err
	}
	var learned []*confusion.Learned
	for _, s := range starts {
		d := e.data
		if s.curved && (e.Kernel != nil || d.Prepared != nil || d.Sparse() || d.Stored().Shared() ||
			d.D > curvedFeatures) {
			continue
		}
		p := &softmax.NoiseOnly{Params: *softmax.Defaults(), Penalty: s.penalty}
		p.LearnConfusion = true
		o := e.Options
		o.Learner, o.MaxSteps, o.Weights, o.Trial = p, 0, "", true
		o.Watch = host.Watch{}
		if s.curved {
			o.Kernel = &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Median: true,
				Landmarks: min(curvedLandmarks, d.N), Coordinates: true}
		}
		trained, err := host.Train(ctx, d, begin, o)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("joint likelihood, %s: %w", s.name, err)
		}
		found := trained.Run.Noise
		learned = append(learned, found)
		if e.Watch.Note != nil {
			e.Watch.Note("joint likelihood, %s: loss %.5f ± %.5f", s.name, found.Loss, found.LossError)
		}
	}
	found, err := estimate.FromLearned(e.data.Classes, learned...)
	if err != nil {
		return nil, fmt.Errorf("joint likelihood: %w", err)
	}
	if e.data.D > e.data.N {
		found.IdentifyNone("there are more features than examples, and a model of these can take wrong " +
			"labels for classes")
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
