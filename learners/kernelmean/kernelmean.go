// Package kernelmean is the mean classifier: the score of a class is the mean of a kernel function
// between an example and the training examples of the class (van Rooyen et al., Sparse robust
// classification via the kernel mean). It fits no weights that noise could mislead: symmetric noise
// only scales the difference of the class means (Lemma 10).
//
// With a kernel function the learner has its own map, to the means of the noisy labels, and W turns
// these into the means of the true classes: score_q = Σ_k C⁻¹[q][k]·(n_k/n)·mean_k. Without one the
// kernel function is linear, and W has the same sums of the examples themselves. Learner classmean
// uses the distances to these means instead, which need an offset.
//
// By default all classes have the same weight. The classifier then minimises the balanced error,
// which is immune to noise that is symmetric within each class (Theorem 18), even without C.
// Otherwise classes are weighted by their frequency, as in the paper, and the largest class wins
// where the means hardly differ.
package kernelmean

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/learners"
)

const name = "kernelmean"

// Params are the parameters of the mean classifier.
type Params struct {
	Balanced bool // all classes have the same weight; else their frequency, estimated with C⁻¹

	// Options of the kernel map, see means.Options.
	Atoms       int     // 0 for all examples
	AtomChoice  string  // means.Uniform, Clusters or Herding
	AtomWeights string  // means.Optimal or Own
	AtomError   float64 // if above 0, the fewest atoms within this distance; Atoms must be 0
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params {
	return &Params{Balanced: true, AtomChoice: means.Uniform, AtomWeights: means.Optimal}
}

func (p *Params) Definition() *learners.Definition {
	return &learners.Definition{
		Name: name,
		Summary: "the most similar class: means of a kernel function over the examples of each class, " +
			"immune to symmetric noise",
		Paper: "van Rooyen et al., Sparse robust classification via the kernel mean, equation 1 and " +
			"Sections 3 to 5",
		Step:     "the means of all classes; there is no second one",
		MaxSteps: 2,
		Weights:  []learners.Rule{learners.Last},
		New:      func() learners.Params { return Defaults() },

		Parameters: []learners.Parameter{
			learners.Bool("balanced", &p.Balanced,
				"all classes weigh alike, as by default; false: as often as they are"),
			learners.Int("atoms", &p.Atoms, 0, math.MaxInt,
				"examples that stand for all, with a kernel function; 0 for every example, which is exact"),
			learners.OneOf("atom_choice", &p.AtomChoice, "how atoms are chosen",
				means.Uniform, "at random, all examples alike",
				means.Clusters, "the centres of clusters",
				means.Herding, "one after another, each the best beside those before"),
			learners.OneOf("atom_weights", &p.AtomWeights, "weights of atoms",
				means.Optimal, "those nearest to all examples",
				means.Own, "the weights of the choice"),
			learners.Float("atom_error", &p.AtomError, learners.Range{},
				"the fewest atoms that bring each mean this near to the mean of all examples, in feature "+
					"space; 0 leaves the number to atoms"),
		},
		Check:  p.check,
		Start:  p.start,
		FitMap: p.fitMap,
	}
}

func (p *Params) check() error {
	if p.AtomError > 0 && p.Atoms != 0 {
		return &learners.ParameterError{Learner: name, Parameter: "atom_error",
			Got: fmt.Sprintf("%v with %d atoms", p.AtomError, p.Atoms), Want: "one of both"}
	}
	return nil
}

// fitMap is Definition.FitMap: component k of an example is the mean of f between it and the
// examples of noisy label k, or the atoms that approximate them.
func (p *Params) fitMap(
	ctx context.Context, problem *learners.Problem, f kernel.Function, note func(string, ...any),
) (engine.Projection, error) {
	if err := errors.Join(learners.Check(p), problem.Check()); err != nil {
		return engine.Projection{}, err
	}
	o := means.Options{Function: f, Choice: p.AtomChoice, Weights: p.AtomWeights, Within: p.AtomError,
		Atoms: p.Atoms, Seed: problem.Seed}
	m, err := means.Fit(ctx, problem.Engine, problem.X, problem.Y, problem.Q, o)
	if err != nil {
		return engine.Projection{}, err
	}
	for _, line := range m.Notes() {
		note("%s", line)
	}
	return m.Projection, nil
}

func (p *Params) start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	if problem.OwnMap && problem.X.D != problem.Q {
		return nil, fmt.Errorf("kernelmean: %w: found examples mapped to %d numbers, wanted %d, the "+
			"mean of each class", engine.ErrShape, problem.X.D, problem.Q)
	}
	if !problem.OwnMap && (p.Atoms != 0 || p.AtomError > 0) {
		return nil, fmt.Errorf("kernelmean: got %d atoms and atom error %v without a kernel function, "+
			"want all atoms and 0 (without one each feature has a weight)", p.Atoms, p.AtomError)
	}
	own := *p // the caller may change its parameters while a run goes on
	p = &own
	return learners.BeginClassSums(problem, name, func(s *learners.ClassSums, w engine.Weights) error {
		if problem.OwnMap {
			copy(w.W, p.Unmix(s.Inverse, s.Labels).W)
			return nil
		}
		err := sums(s, w)
		p.balance(w, s.Priors())
		return err
	})
}

// balance turns sums over n into class means, if all classes have the same weight.
func (p *Params) balance(w engine.Weights, priors []float64) {
	for q := 0; p.Balanced && q < w.Q; q++ {
		scale := float32(1 / priors[q])
		for j := range w.Row(q) {
			w.Row(q)[j] *= scale
		}
	}
}

// sums sets row q to the sum of the examples of true class q, divided by n.
func sums(s *learners.ClassSums, w engine.Weights) error {
	all, err := s.ByLabel()
	if err != nil {
		return err
	}
	for q := range w.Q {
		s.Unmix(w.Row(q), all, q)
	}
	return nil
}

// Unmix returns the weights W[q][k] = C⁻¹[q][k]·(n_k/n) for examples mapped to the means of the
// noisy labels, whose counts are labels; inverse is C⁻¹.
func (p *Params) Unmix(inverse *confusion.Inverse, labels []int64) engine.Weights {
	n := int64(0)
	for _, count := range labels {
		n += count
	}
	w := engine.NewWeights(inverse.Q, inverse.Q)
	for q := range w.Q {
		for k, count := range labels {
			w.Row(q)[k] = float32(inverse.V[q*w.Q+k] * (float64(count) / float64(n)))
		}
	}
	p.balance(w, inverse.Priors(labels, int(n)))
	return w
}
