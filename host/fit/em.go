package fit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// softLambda is n·λ of EM, in units of the mean squared length of an example, unless a λ is
// given or a larger one is clearly better. From 0.03 to 0.3 were about as good on four sets that
// people labelled; no loss on examples held out finds it.
const softLambda = 0.1

// A larger λ is largerLambda times the one before it, and better if it is so by clearly
// standard errors: what C⁻¹ says of noise that depends on the example prefers larger ones.
const (
	largerLambda  = 3
	largerLambdas = 4
	clearly       = 3
	maybe         = 1 // on one fold, before the others are fitted
)

// settledShare ends EM when a round changes the likeliest class of at most this share of examples.
const settledShare = 0.005

// Many examples fill fewer folds as well as few do more.
const (
	fewFolds  = 3
	moreFolds = 5
)

// foldsOf returns the number of folds of EM and of learning the noise.
func foldsOf(r *training) int {
	switch {
	case r.Folds > 1:
		return r.Folds
	case len(r.problem.Y) < leastSampled:
		return moreFolds
	}
	return fewFolds
}

// crossFit fits weights without each fold in turn, each from the weights of its fold in before, or
// if that has none from the weights of the last fold, w at first. It returns them and the scores of
// each example by the weights that have not seen it: a model that has seen an example knows its
// wrong label by heart. more, if not nil, is told how many folds are done, and ends the round by
// returning false.
func crossFit(ctx context.Context, r *training, key string, g softmax.Goal, w []float32,
	before []softmax.Floats,
	more func(folds int, scores []float32) bool) (all []softmax.Floats, scores []float32, err error) {
	q := r.problem.Q
	scores = make([]float32, len(r.problem.Y)*q)
	for fold := range before {
		key := fmt.Sprintf("%s/%d", key, fold)
		g.Without, g.Aim = fold, key
		if before[fold] != nil {
			w = before[fold]
		}
		w, err = remember(&r.memo, key, func() (softmax.Floats, error) { return r.fit(ctx, key, g, w) })
		if err != nil {
			return nil, nil, err
		}
		all = append(all, w)
		err = scoreFold(r, w, g.Held, fold, func(i int, s []float32) { copy(scores[i*q:], s) })
		if err != nil {
			return nil, nil, err
		}
		if more != nil && !more(fold+1, scores) {
			return nil, nil, nil
		}
	}
	return all, scores, nil
}

// rounds is what rounds of cross-fitting have found so far.
type rounds struct {
	Made  int
	Ended bool
	W     []softmax.Floats // the weights of each fold's last fit, Q×d; nil before the first
	Noise learnedNoise

	// Of EM: λ, and the probabilities of the true classes, n×Q, by models that have not seen the
	// example, and by its label.
	Lambda float64
	Soft   softmax.Floats
}

// expectMaximise is cross-fitted EM. The E-step of a round is
//
//	t_i[k]  ∝  P(k | x_i) · P(label y_i | true class k)
//
// and the M-step fits the soft labels t. The first round fits the labels through C. The mean of the
// folds' weights is the result: about as good as weights fitted to the soft labels of all examples,
// or better.
func expectMaximise(ctx context.Context, r *training, lambda float64, w []float32,
) ([]float32, error) {
	r.stage, r.lambda = crossfitting, lambda
	g := softmax.Goal{Held: deal(r, foldsOf(r)), Most: roughly(r)}
	w, err := headStartFromZero(ctx, r, w, g.Held)
	if err != nil {
		return nil, err
	}
	s, ok, err := recall[rounds](&r.memo, "em")
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		s = rounds{Lambda: lambda, W: make([]softmax.Floats, foldsOf(r))}
	case r.noise != nil:
		r.noise.learn(s.Noise, &r.solver.Labels)
	}
	r.lambda = s.Lambda
	for !s.Ended {
		if s, err = emRound(ctx, r, g, s, w); err != nil {
			return nil, err
		}
		if err := r.memo.keep("em", s); err != nil {
			return nil, err
		}
	}
	return mean(s.W), nil
}

// emRound makes the next round of EM.
func emRound(ctx context.Context, r *training, g softmax.Goal, s rounds, w []float32,
) (rounds, error) {
	g.Targets, g.Lambda, g.Share = r.solver.Labels.Targets, s.Lambda, r.Tolerance
	switch {
	case len(r.problem.Y) < leastSampled: // a penalty that is too small shows only at its end
		g.Share /= rough
	case s.Soft == nil: // the rounds continue from there
		g.Share *= rough
	}
	if s.Soft != nil {
		g.Targets = engine.Targets{Values: s.Soft, Given: true, Weight: r.solver.Labels.Targets.Weight}
	}
	all, scores, err := crossFit(ctx, r, fmt.Sprintf("em/%d", s.Made), g, w, s.W, nil)
	if err != nil {
		return s, err
	}
	if r.noise != nil {
		if _, err := relearn(r, scores); err != nil {
			return s, err
		}
		s.Noise = r.noise.state
	}
	if s.Soft == nil && r.L2.Search && r.noise == nil && r.solver.Labels.Classes == nil {
		if s.Lambda, all, scores, err = largerPenalty(ctx, r, g, all, scores); err != nil {
			return s, err
		}
	}
	if err := probabilities(r, scores); err != nil {
		return s, err
	}
	settled := s.Soft != nil && changed(s.Soft, scores, r.problem.Q) <= settledShare
	s.W, s.Soft, s.Made = all, scores, s.Made+1
	r.solver.State.Curved = softmax.Curved{}
	s.Ended = !r.onward(s.Made < r.Rounds && !settled)
	return s, nil
}

// largerPenalty continues from the λ of a first round to larger ones, as long as each is clearly
// better on the examples that no model of the round has seen, by what C⁻¹ says of them. After the
// first fold a hint is enough. With components of a kernel function, since there are many, λ is
// often too small by ten times.
func largerPenalty(ctx context.Context, r *training, g softmax.Goal, all []softmax.Floats,
	scores []float32,
) (float64, []softmax.Floats, []float32, error) {
	q := r.problem.Q
	inverse, err := r.problem.Inverse()
	if err != nil {
		return 0, nil, nil, err
	}
	right := func(scores []float32, i int) float64 {
		return inverse.V[lists.Largest(scores[i*q:(i+1)*q])*q+int(r.problem.Y[i])]
	}
	for tries := 0; r.onward(tries < largerLambdas); tries++ {
		g.Lambda *= largerLambda
		next, scored, err := crossFit(ctx, r, fmt.Sprintf("em/0, %d larger", tries+1), g, nil, all,
			func(folds int, now []float32) bool {
				wanted := float64(clearly)
				switch {
				case folds == 1:
					wanted = maybe
				case folds < len(all):
					return true
				}
				judged := lists.Where(len(g.Held), func(i int) bool { return g.Held[i] < folds })
				better, deviation := lists.MeanError(len(judged), func(k int) float64 {
					return right(now, judged[k]) - right(scores, judged[k])
				})
				return better > wanted*deviation
			})
		if err != nil {
			return 0, nil, nil, err
		}
		if next == nil {
			g.Lambda /= largerLambda
			break
		}
		all, scores = next, scored
	}
	r.lambda = g.Lambda
	return g.Lambda, all, scores, nil
}

// changed returns the share of examples whose likeliest class of q is another in b than in a.
func changed(a, b []float32, q int) float64 {
	n := 0
	for at := 0; at < len(a); at += q {
		if lists.Largest(a[at:at+q]) != lists.Largest(b[at:at+q]) {
			n++
		}
	}
	return float64(n) * float64(q) / float64(len(a))
}

// mean returns the mean of several weights.
func mean(all []softmax.Floats) []float32 {
	w := make([]float32, len(all[0]))
	for i := range w {
		sum := 0.0
		for _, fold := range all {
			sum += float64(fold[i])
		}
		w[i] = float32(sum / float64(len(all)))
	}
	return w
}

// probabilities turns scores, n×Q, into the probabilities of the true classes, given the labels.
func probabilities(r *training, s []float32) error {
	q, e := r.problem.Q, r.problem.Evidence
	var c []float64
	if r.solver.Labels.Classes != nil {
		c = r.Correcting().Confusion(r.problem)
	}
	var wrong atomic.Bool
	parallel.Ranges(len(r.problem.Y), 1<<6, func(from, to int) {
		for i := from; i < to; i++ {
			row := s[i*q : (i+1)*q]
			distribution := c != nil && e.Distribution(i, q)
			if !distribution {
				for k, v := range r.solver.Labels.Likelihood(i, q) {
					row[k] += v
				}
			}
			if m, _ := numerics.Softmax(row, row); m-m != 0 {
				wrong.Store(true)
			}
			if distribution {
				blend(row, r.solver.Labels.Classes[i*q:(i+1)*q], c)
			}
		}
	})
	if wrong.Load() {
		return errors.New("softmax: scores: got too large ones, want finite ones (scale the features)")
	}
	return nil
}

// blend turns the probabilities p of an example into the posterior of its class: the mean over
// labels k, weighted by f_k, of the posteriors given k.
func blend(p, f []float32, c []float64) {
	q := len(p)
	sums := make([]float64, q)
	for k, share := range f {
		label := 0.0
		for t, v := range p {
			label += float64(c[k*q+t] * float64(v))
		}
		if share == 0 || label == 0 {
			continue
		}
		for t, v := range p {
			sums[t] += float64(float64(share)*float64(c[k*q+t]*float64(v))) / label
		}
	}
	total := 0.0
	for _, v := range sums {
		total += v
	}
	for t, v := range sums {
		if total > 0 {
			p[t] = float32(v / total)
		}
	}
}
