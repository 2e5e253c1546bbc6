// Package kernelmean is the mean classifier: the score of a class is the mean of a kernel function
// between an example and the training examples of the class (van Rooyen et al., Sparse robust
// classification via the kernel mean). No weight is fitted, so there is nothing that noise could
// mislead: symmetric noise only shortens what tells classes apart (Lemma 10).
//
// With a kernel function the learner has a map of its own, to the means of the noisy labels, of which
// W makes those of the true classes: score_q = Σ_k C⁻¹[q][k]·(n_k/n)·mean_k. Without one the kernel
// function is linear, and W has the same sums of the examples themselves. That is class means in
// feature space; what tells it from learner classmean is that this measures distances to the means,
// which need an offset, and the mean classifier similarities, which need none.
//
// Weighed by how often classes are, which is the mean classifier of the paper, or with all classes
// alike, which minds the balanced error: that is immune to noise that is symmetric in each class by
// itself (Theorem 18), even without C.
package kernelmean

import (
	"context"
	"flag"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelmean"
	"github.com/uma-gpu/uma-gpu/host/mercer"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
)

// The priors: what weight the mean of a class has.
const (
	Estimated = "estimated" // how often the class is, by C⁻¹ of the labels' counts
	Balanced  = "balanced"  // the same for all classes
)

// Params are the parameters of the mean classifier.
type Params struct {
	Prior string `json:"prior"` // Estimated or Balanced
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params { return &Params{Prior: Estimated} }

var definition = &learners.Definition{
	Name: "kernelmean",
	Summary: "the most similar class: means of a kernel function over the examples of each class, immune to " +
		"symmetric noise",
	Paper:    "van Rooyen et al., Sparse robust classification via the kernel mean, equation 1 and Sections 3 to 5",
	Step:     "the means of all classes; there is no second one",
	MaxSteps: 2,
	Weights:  []learners.Rule{learners.Last},
	New:      func() learners.Params { return Defaults() },
}

// Definition implements learners.Params.
func (*Params) Definition() *learners.Definition { return definition }

// Flags implements learners.Params.
func (p *Params) Flags(fs *flag.FlagSet) {
	fs.StringVar(&p.Prior, "prior", p.Prior, "weight `OF` a class: estimated, as often as it is, or balanced, all alike")
}

// Check implements learners.Params.
func (p *Params) Check() error {
	if p.Prior != Estimated && p.Prior != Balanced {
		return fmt.Errorf("prior is %q, wanted %s or %s", p.Prior, Estimated, Balanced)
	}
	return nil
}

// FitMap implements learners.Mapper: number k of an example is the mean of f between it and the
// examples of noisy label k.
func (p *Params) FitMap(
	_ context.Context, problem *learners.Problem, f mercer.Function, _ func(string, ...any),
) (engine.Projection, error) {
	if err := problem.Check(); err != nil {
		return engine.Projection{}, err
	}
	return kernelmean.Exact(problem.X, problem.Y, problem.Q, f)
}

// Start implements learners.Params.
func (p *Params) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if problem.OwnMap && problem.X.D != problem.Q {
		return nil, fmt.Errorf("kernelmean: %w: found examples mapped to %d numbers, wanted %d, the mean of each class",
			engine.ErrShape, problem.X.D, problem.Q)
	}
	weights := sums
	if problem.OwnMap {
		weights = mapped
	}
	balanced := p.Prior == Balanced
	return classmean.Begin(problem, definition.Name, func(s *classmean.Sums, w engine.Weights) error {
		if err := weights(s, w); err != nil || !balanced {
			return err
		}
		for q, prior := range s.Priors() {
			scale := float32(1 / prior)
			for j := range w.Row(q) {
				w.Row(q)[j] *= scale
			}
		}
		return nil
	})
}

// sums makes row q the sum over n of the examples of true class q.
func sums(s *classmean.Sums, w engine.Weights) error {
	all, err := s.ByLabel()
	if err != nil {
		return err
	}
	for q := range w.Q {
		s.Unmix(w.Row(q), all, q)
	}
	return nil
}

// mapped makes rows that do with the means of noisy labels what sums does with examples: W[q][k] is
// C⁻¹[q][k]·(n_k/n).
func mapped(s *classmean.Sums, w engine.Weights) error {
	n := int64(0)
	for _, count := range s.Labels {
		n += count
	}
	for q := range w.Q {
		for k, count := range s.Labels {
			w.Row(q)[k] = float32(s.Inverse.V[q*w.Q+k] * (float64(count) / float64(n)))
		}
	}
	return nil
}
