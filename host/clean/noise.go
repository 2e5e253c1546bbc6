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
	"github.com/uma-gpu/uma-gpu/host/fit"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
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
	CleanCounts     NoiseMethod = "clean"           // estimate.FromCounts alone
	AutoNoise       NoiseMethod = "auto"            // a contest
)

// NoiseMethods are all of them.
var NoiseMethods = []NoiseMethod{AutoNoise, ConfidentJoint, JointLikelihood, Neighbours,
	CleanCounts, NoNoise}

// DefaultNoiseFolds is how many folds NoiseOptions have unless they say.
const DefaultNoiseFolds = 5

// surely is by how many standard errors an estimate has to be ahead of the identity.
const surely = 2

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
		return &Noise{Estimate: found, Chosen: o.Method}, err
	}
	found := &Noise{Chosen: o.Method}
	if o.Method == AutoNoise {
		err = e.contest(ctx, found)
		if errors.Is(err, model.ErrNoTemperature) {
			*found = Noise{Chosen: JointLikelihood}
			e.say("no contest: models that have not seen a label tell it no better than chance")
		} else if err != nil {
			return nil, err
		}
	}
	if found.Estimate == nil {
		if found.Estimate, err = e.by(ctx, found.Chosen); err != nil {
			return nil, err
		}
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
	held   *judge.HeldOut // by models trained without a matrix; nil before they are wanted
}

func (e *noiseEstimator) say(format string, args ...any) {
	if e.Watch.Note != nil {
		e.Watch.Note(format, args...)
	}
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
	switch method {
	case NoNoise:
		m, err := confusion.Symmetric(d.Classes, 0)
		if err != nil {
			return nil, err
		}
		m.Error = make([]float64, len(m.P))
		return &estimate.Estimate{Matrix: *m, Method: "identity", Assumes: "labels are right"}, nil
	case JointLikelihood:
		return e.jointLikelihood(ctx)
	case Neighbours:
		near, err := neighbours.OfDataset(ctx, e.Engine, d, lists.UpTo[int](d.N),
			estimate.NearestForNeighbours)
		if err != nil {
			return nil, err
		}
		return estimate.ByNeighbours(d.Classes, d.Y, near.Index, near.K)
	}
	if e.Probabilities != nil {
		return estimate.ConfidentJoint(d.Classes, d.Y, e.Probabilities, false)
	}
	p, err := e.probabilities(ctx, nil)
	if err != nil {
		return nil, err
	}
	return estimate.ConfidentJoint(d.Classes, d.Y, p, true)
}

// probabilities returns out-of-fold probabilities of the true classes where C is noise, or of the
// noisy labels if it is nil.
func (e *noiseEstimator) probabilities(ctx context.Context, noise *confusion.Matrix,
) (_ []float32, err error) {
	held := e.held
	if noise != nil || held == nil {
		if held, err = host.OutOfFold(ctx, e.data, noise, e.Options, e.Folds); err != nil {
			return nil, err
		}
	}
	if noise == nil {
		e.held = held
	}
	return held.Probabilities()
}

// contest is AutoNoise.
func (e *noiseEstimator) contest(ctx context.Context, won *Noise) error {
	methods := []NoiseMethod{NoNoise, ConfidentJoint, JointLikelihood}
	byRight := lists.Sum(e.counts) >= LeastRight
	var base []float64 // the losses of the identity
	most := math.Inf(-1)
	ctx, task := progress.Begin(ctx, progress.Work{Name: "estimating C", Unit: "method",
		Total: int64(len(methods))})
	defer task.End()
	for k, method := range methods {
		task.Reach(int64(k))
		found, err := e.by(ctx, method)
		if err != nil {
			return err
		}
		c, better := NoiseCandidate{Method: method}, false
		if byRight {
			c.Loss = estimate.PriorLoss(e.counts, &found.Matrix)
			if k > 0 {
				c.Ahead = won.Candidates[0].Loss - c.Loss
			}
			better = c.Ahead > most
		} else {
			noise := &found.Matrix
			if method == NoNoise {
				noise = nil
			}
			p, err := e.probabilities(ctx, noise)
			if err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
			losses := judge.Losses(e.data.Y, p, noise, len(e.data.Classes))
			if k == 0 {
				base = losses
			}
			c.Loss = lists.Mean(losses)
			c.Ahead, c.Error = ahead(base, losses)
			better = k == 0 || !found.Broken && c.Ahead > surely*c.Error && c.Ahead > most
		}
		e.say("%s: loss %.5f, ahead of the identity by %s", method, c.Loss, c.Lead())
		if won.Candidates = append(won.Candidates, c); better {
			won.Chosen, won.Estimate, most = method, found, c.Ahead
		}
	}
	return nil
}

// penalties, in units of the mean squared length of an example, are such that each has been the
// best on some set: weak ones let few classes of many examples grow sharp, strong ones keep few
// examples from being learned by heart. curvedPenalty is for curved classes, which are no noise.
var penalties = []float64{1e-5, 1e-4, 1e-3}

const curvedPenalty = 1e-5

// A curved model takes dense examples of few features. curvedLandmarks keep it cheap.
const (
	curvedFeatures  = 1000
	curvedLandmarks = 300
)

// jointLikelihood learns C together with several models.
func (e *noiseEstimator) jointLikelihood(ctx context.Context) (*estimate.Estimate, error) {
	d := e.data
	// Learning begins with what the known classes say: from the identity it does not find its way
	// where few examples of many features have much noise.
	var begin *confusion.Matrix
	if e.counts != nil {
		known, err := estimate.FromCounts(d.Classes, e.counts, nil)
		if err != nil {
			return nil, err
		}
		if _, err := known.Invert(); err == nil { // else it begins without
			begin = &known.Matrix
		}
	}
	var learned []*confusion.Learned
	try := func(name string, penalty float64, k *fitting.Options) error {
		found, err := learnNoise(ctx, d, begin, e.Options, penalty, k)
		if err != nil {
			return fmt.Errorf("joint likelihood, %s: %w", name, err)
		}
		learned = append(learned, found)
		e.say("joint likelihood, %s: loss %.5f ± %.5f", name, found.Loss, found.LossError)
		return nil
	}
	for _, penalty := range penalties {
		if err := try(fmt.Sprintf("penalty %.0e", penalty), penalty, e.Kernel); err != nil {
			return nil, err
		}
	}
	if e.Kernel == nil && d.Prepared == nil && !d.Sparse() && d.D <= curvedFeatures {
		if err := try(kernel.RBF, curvedPenalty, &fitting.Options{Median: true, Coordinates: true,
			Function:  kernel.Function{Kind: kernel.RBF},
			Landmarks: min(curvedLandmarks, d.N)}); err != nil {
			return nil, err
		}
	}
	found, err := estimate.FromLearned(d.Classes, learned...)
	if err != nil {
		return nil, fmt.Errorf("joint likelihood: %w", err)
	}
	found.DoubtFeatures(d.N, d.D)
	return found, nil
}

// learnNoise returns the noise that is learned together with a model, from the matrix begin on, or
// from the identity if that is nil; 0 is the default penalty.
func learnNoise(ctx context.Context, data *dataset.Dataset, begin *confusion.Matrix, o host.Options,
	penalty float64, k *fitting.Options) (*confusion.Learned, error) {
	p := &fit.NoiseOnly{Params: *softmax.Defaults(), Penalty: penalty}
	p.LearnConfusion = true
	o.Learner, o.Kernel, o.Trial, o.Watch = p, k, true, host.Watch{}
	trained, err := host.Train(ctx, data, begin, o)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	return trained.Run.Noise, nil
}
