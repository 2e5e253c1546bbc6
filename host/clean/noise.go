package clean

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// NoiseMethod is a way to estimate the confusion matrix of labels.
type NoiseMethod string

// The methods.
const (
	NoNoise         NoiseMethod = "identity"        // labels are right
	ConfidentJoint  NoiseMethod = "confident-joint" // estimate.ConfidentJoint
	JointLikelihood NoiseMethod = "em"              // softmax learns it together with a model
	Neighbours      NoiseMethod = "neighbours"      // estimate.ByNeighbours
	CleanCounts     NoiseMethod = "clean"           // estimate.FromLabels alone
	AutoNoise       NoiseMethod = "auto"            // a contest
)

// NoiseMethods are all of them.
var NoiseMethods = []NoiseMethod{AutoNoise, ConfidentJoint, JointLikelihood, Neighbours,
	CleanCounts, NoNoise}

// DefaultNoiseFolds is how many folds NoiseOptions have unless they say.
const DefaultNoiseFolds = 5

// surely is by how many standard errors an estimate has to be ahead of the identity.
const surely = 2

// looseFits multiplies the tolerance of the fits, unless one is given: it moves C by far less than
// its standard error.
const looseFits = 2

// NoiseOptions of EstimateNoise.
type NoiseOptions struct {
	// Options are for the trainings. Learner gives the probabilities of examples held out; nil
	// for softmax. JointLikelihood always takes softmax.
	host.Options
	Method NoiseMethod // "" for AutoNoise
	Folds  int         // 0 for DefaultNoiseFolds
	// Right is the true class of each example where it is known, else -1; nil if of none. The
	// counts of these examples are joined by what Method finds, which is their prior.
	Right []int32
}

// NoiseCandidate is an estimate in the contest of AutoNoise.
type NoiseCandidate struct {
	Method NoiseMethod `json:"method"`
	// Loss is the mean of -log P(noisy label) of examples held out, by models that were trained
	// with the matrix; or of examples with a known class, each by the estimate of all others.
	Loss float64 `json:"loss"`
	// Ahead is how much lower that is than the identity's, and Error its standard error; 0 of
	// the identity, and Error also where known classes decide.
	Ahead float64 `json:"ahead_of_identity"`
	Error float64 `json:"standard_error"`
}

// Lead writes how far c is ahead of the identity, with the standard error if that is known.
func (c NoiseCandidate) Lead() string {
	if c.Error == 0 {
		return fmt.Sprintf("%.5f", c.Ahead)
	}
	return fmt.Sprintf("%.5f ± %.5f", c.Ahead, c.Error)
}

// Noise is what EstimateNoise has found.
type Noise struct {
	*estimate.Estimate
	Chosen     NoiseMethod      // Method, or the one that won
	Candidates []NoiseCandidate // of AutoNoise
}

// EstimateNoise estimates the confusion matrix of data's labels from the data, and from the true
// classes of some examples if they are known.
//
// AutoNoise compares the identity, the confident joint and the joint likelihood.
// Where at least LeastRight classes are known, the one wins as whose posterior the counts of these
// are likeliest, each example predicted from all others. Else models are trained with each, which
// have not seen what they are judged on, and the identity wins unless another makes the labels held
// out more likely, by more than two standard errors of the difference of the same examples. An
// estimate that breaks its own assumption does not win then. If these models tell labels no better
// than chance, as linear ones of curved classes, the joint likelihood wins alone.
//
// The result has the same bits on every engine. A cancelled ctx ends it with ctx's error.
func EstimateNoise(ctx context.Context, data *dataset.Dataset, o NoiseOptions) (*Noise, error) {
	o.Method = cmp.Or(o.Method, AutoNoise)
	o.Folds = cmp.Or(o.Folds, DefaultNoiseFolds)
	if o.Learner == nil {
		o.Learner = softmax.Defaults()
	}
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
	if p, ok := o.Learner.(*softmax.Params); ok && p.Tolerance == softmax.Defaults().Tolerance {
		looser := *p
		looser.Tolerance *= looseFits
		o.Learner = &looser
	}
	e := &noiseEstimator{NoiseOptions: o, data: data}
	var err error
	if e.counts, err = CountClean(data, o.Right); err != nil {
		return nil, err
	}
	if o.Method == CleanCounts && e.counts == nil {
		return nil, errors.New("estimate noise: found no example whose true class is known, wanted " +
			"some for method clean")
	}
	if o.Method == AutoNoise {
		found, err := e.contest(ctx)
		if !errors.Is(err, model.ErrNoTemperature) {
			return found, err
		}
		if o.Method = JointLikelihood; o.Watch.Note != nil {
			o.Watch.Note("no contest: models that have not seen a label tell it no better than chance")
		}
	}
	found, err := e.by(ctx, o.Method)
	if err != nil {
		return nil, err
	}
	return &Noise{Estimate: found, Chosen: o.Method}, nil
}

// noiseEstimator is a call of EstimateNoise.
type noiseEstimator struct {
	NoiseOptions
	data *dataset.Dataset
	// Q×Q: examples whose class is known, by label and class; nil if there are none
	counts []float64
	held   *judge.HeldOut // by models trained without a matrix; nil before they are wanted
}

// CountClean counts the examples whose true class is known, nil if there are none.
func CountClean(data *dataset.Dataset, all []int32) (counts []float64, err error) {
	if all != nil && len(all) != len(data.Y) {
		return nil, fmt.Errorf("estimate noise: found %d true classes, wanted one (or -1) for each of "+
			"%d labels", len(all), len(data.Y))
	}
	var noisy, right []int32
	for i, t := range all {
		if t >= 0 {
			noisy, right = append(noisy, data.Y[i]), append(right, t)
		}
	}
	if right == nil {
		return nil, nil
	}
	return estimate.CountLabels(len(data.Classes), noisy, right)
}

// JoinClean returns the posterior of C where found is the prior and the counts of examples whose
// true class is known, right[i] of data's example i, -1 where it is not, are the evidence.
func JoinClean(
	data *dataset.Dataset, right []int32, found *estimate.Estimate,
) (*estimate.Estimate, error) {
	counts, err := CountClean(data, right)
	if err != nil || counts == nil {
		return found, err
	}
	return join(data.Classes, counts, found)
}

// by estimates by one method, joined by the counts of known classes.
func (e *noiseEstimator) by(ctx context.Context, method NoiseMethod) (*estimate.Estimate, error) {
	if method == CleanCounts {
		return estimate.FromCounts(e.data.Classes, e.counts, nil)
	}
	found, err := e.alone(ctx, method)
	if err != nil || e.counts == nil || method == NoNoise && e.Method == NoNoise {
		return found, err
	}
	return join(e.data.Classes, e.counts, found)
}

// join makes an estimate the prior of the counts.
func join(
	classes []string, counts []float64, found *estimate.Estimate,
) (*estimate.Estimate, error) {
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

// alone estimates from noisy labels.
func (e *noiseEstimator) alone(
	ctx context.Context, method NoiseMethod,
) (*estimate.Estimate, error) {
	classes := e.data.Classes
	switch method {
	case NoNoise:
		m, err := confusion.Symmetric(classes, 0)
		if err != nil {
			return nil, err
		}
		m.Error = make([]float64, len(m.P))
		return &estimate.Estimate{Matrix: *m, Method: "identity",
			Assumes: "labels are right"}, nil
	case JointLikelihood:
		return e.jointLikelihood(ctx)
	case Neighbours:
		return e.byNeighbours(ctx)
	}
	p, err := e.probabilities(ctx)
	if err != nil {
		return nil, err
	}
	return estimate.ConfidentJoint(classes, e.data.Y, p, true)
}

// byNeighbours estimates from the labels of the nearest neighbours.
func (e *noiseEstimator) byNeighbours(ctx context.Context) (*estimate.Estimate, error) {
	d := e.data
	all := lists.UpTo[int](d.N)
	near, err := neighbours.OfDataset(ctx, e.Engine, d, all, estimate.NearestForNeighbours)
	if err != nil {
		return nil, err
	}
	return estimate.ByNeighbours(d.Classes, d.Y, near.Index, near.K)
}

// probabilities returns out-of-fold probabilities of the noisy labels.
func (e *noiseEstimator) probabilities(ctx context.Context) ([]float32, error) {
	if e.held == nil {
		held, err := host.OutOfFold(ctx, e.data, nil, e.Options, e.Folds)
		if err != nil {
			return nil, err
		}
		e.held = held
	}
	return e.held.Probabilities()
}

// contest is AutoNoise.
func (e *noiseEstimator) contest(ctx context.Context) (*Noise, error) {
	methods := []NoiseMethod{NoNoise, ConfidentJoint, JointLikelihood}
	known := lists.Sum(e.counts)
	byClean := known >= LeastRight
	won := &Noise{}
	var chosen *estimate.Estimate
	var base []float64
	most := math.Inf(-1)
	ctx, task := progress.Begin(ctx, progress.Work{Name: "estimating C", Unit: "method",
		Total: int64(len(methods))})
	defer task.End()
	for k, method := range methods {
		task.Reach(int64(k))
		found, err := e.alone(ctx, method)
		if err != nil {
			return nil, err
		}
		c := NoiseCandidate{Method: method}
		better := false
		if byClean {
			c.Loss = estimate.PriorLoss(e.counts, &found.Matrix)
			if k > 0 {
				c.Ahead = won.Candidates[0].Loss - c.Loss
			}
			better = -c.Loss > most
			if better {
				most = -c.Loss
			}
		} else {
			losses, err := e.losses(ctx, method, found)
			if err != nil {
				return nil, err
			}
			if base == nil {
				base = losses
			}
			c.Loss = lists.Mean(losses)
			c.Ahead, c.Error = lists.MeanError(len(base), func(i int) float64 { return base[i] - losses[i] })
			better = method == NoNoise || !found.Broken && c.Ahead > surely*c.Error && c.Ahead > most
			if better {
				most = c.Ahead
			}
		}
		if e.Watch.Note != nil {
			e.Watch.Note("%s: loss %.5f, ahead of the identity by %s", method, c.Loss, c.Lead())
		}
		won.Candidates = append(won.Candidates, c)
		if better {
			won.Chosen, chosen = method, found
		}
	}
	won.Estimate = chosen
	if e.counts == nil {
		return won, nil
	}
	var err error
	won.Estimate, err = join(e.data.Classes, e.counts, chosen)
	return won, err
}

// losses returns -log P(noisy label) of each example, by a model that has not seen it and the
// matrix that it was trained with.
func (e *noiseEstimator) losses(
	ctx context.Context, method NoiseMethod, found *estimate.Estimate,
) ([]float64, error) {
	var held *judge.HeldOut
	noise := &found.Matrix
	if method == NoNoise {
		if _, err := e.probabilities(ctx); err != nil {
			return nil, err
		}
		held = e.held
	} else {
		var err error
		if held, err = host.OutOfFold(ctx, e.data, noise, e.Options, e.Folds); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
	}
	p, err := held.Probabilities()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return judge.Losses(e.data.Y, p, noise, held.Q), nil
}
