package outoffold

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Positive is what positive and unlabelled examples tell of each other.
type Positive struct {
	Class    string
	Labelled float64 // P(labelled | positive), c
	Error    float64 // its standard error
	Share    float64 // of all examples that have the label
	Matrix   *confusion.Matrix
}

// ErrPositive marks data that are not positive and unlabelled examples.
var ErrPositive = errors.New("positive and unlabelled examples")

// leastPositive is how many labelled examples an estimate takes.
const leastPositive = 10

// PositiveUnlabelled returns the confusion matrix of labels that only some examples of a class
// have, any as likely as another: c of them. It is the mean probability of the label,
// over examples that have it, by models that have not seen them (Elkan & Noto, Learning classifiers
// from only positive and unlabeled data, KDD 2008, estimator e1). Where classes overlap it is too
// small, and the prior too large. o is for Scores; its learner gives way to softmax.
func PositiveUnlabelled(ctx context.Context, data *dataset.Dataset, class string, o host.Options,
) (*Positive, error) {
	at := slices.Index(data.Classes, class)
	if at < 0 || len(data.Classes) != 2 {
		return nil, fmt.Errorf("%w: found the classes %.80q, wanted %.40q and one other, for examples "+
			"without it", ErrPositive, data.Classes, class)
	}
	p := softmax.Defaults()
	p.Correction = softmax.None
	o.Learner, o.MaxSteps, o.Weights = p, 0, ""
	held, err := Scores(ctx, data, nil, o, DefaultNoiseFolds)
	if err != nil {
		return nil, err
	}
	probabilities, err := held.Probabilities()
	if err != nil {
		return nil, fmt.Errorf("%w: %w: features do not tell labelled examples from others", ErrPositive,
			err)
	}
	n, sum, squares := 0, 0.0, 0.0
	for i, y := range data.Y {
		if int(y) == at {
			v := float64(probabilities[2*i+at])
			n, sum, squares = n+1, sum+v, squares+float64(v*v)
		}
	}
	if n < leastPositive {
		return nil, fmt.Errorf("%w: found %d examples labelled %.40q, wanted at least %d", ErrPositive, n,
			class, leastPositive)
	}
	r := &Positive{Class: class, Labelled: sum / float64(n), Share: float64(n) / float64(data.N)}
	r.Error = math.Sqrt(max(0, squares/float64(n)-r.Labelled*r.Labelled) / float64(n))
	// The prior is at most 1.
	r.Labelled = max(r.Labelled, r.Share)
	if r.Labelled-r.Share <= 2*r.Error {
		return nil, fmt.Errorf("%w: found that labelled examples look like all others, wanted features "+
			"that tell %.40q from other classes, or other classes among the examples", ErrPositive, class)
	}
	r.Matrix = &confusion.Matrix{Classes: data.Classes, P: make([]float64, 4)}
	r.Matrix.P[at*2+at], r.Matrix.P[(1-at)*2+at] = r.Labelled, 1-r.Labelled
	r.Matrix.P[(1-at)*2+1-at] = 1
	return r, nil
}

// Prior returns the share of positive examples, and the ends of an interval that has it in 95 of
// 100 cases if the classes do not overlap.
func (p *Positive) Prior() (prior, from, to float64) {
	const deviations = 1.96
	of := func(c float64) float64 { return min(1, p.Share/max(c, p.Share)) }
	return of(p.Labelled), of(p.Labelled + deviations*p.Error), of(p.Labelled - deviations*p.Error)
}

// String returns the estimates for people.
func (p *Positive) String() string {
	prior, from, to := p.Prior()
	return fmt.Sprintf("%.1f %% of %s have the label, so that %.1f %% of the examples are %s (%.1f "+
		"to %.1f %%)", 100*p.Labelled, p.Class, 100*prior, p.Class, 100*from, 100*to)
}
