package softmax

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
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

// folds returns the number of folds of n examples.
func (p *Params) folds(n int) int {
	switch {
	case p.Folds > 1:
		return p.Folds
	case n < leastSampled:
		return moreFolds
	}
	return fewFolds
}

// crossFit fits weights without each fold in turn, each from the weights of its fold in before, or
// if that has none from the weights of the last fold, w at first. It returns them and the scores of
// each example by the weights that have not seen it: a model that has seen an example knows its
// wrong label by heart. more, if not nil, is told how many folds are done, and ends the round by
// returning false.
func crossFit(ctx context.Context, r *run, key string, g goal, w []float32, before [][]float32,
	more func(folds int, scores []float32) bool) (all [][]float32, scores []float32, err error) {
	q := r.problem.Q
	scores = make([]float32, len(r.problem.Y)*q)
	for fold := range before {
		key := fmt.Sprintf("%s/%d", key, fold)
		g.without, g.aim = fold, key
		if before[fold] != nil {
			w = before[fold]
		}
		w, err = remember(&r.memo, key, func() (floats, error) { return r.fit(ctx, key, g, w) })
		if err != nil {
			return nil, nil, err
		}
		all = append(all, w)
		err = r.scored(w, g.held, fold, func(i int, s []float32) { copy(scores[i*q:], s) })
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
	W     [][]float32 // the weights of each fold's last fit, Q×d; nil before the first
	Noise learnedNoise

	// Of EM: λ, and the probabilities of the true classes, n×Q, by models that have not seen the
	// example, and by its label.
	Lambda float64
	Soft   floats
}

// expectMaximise is cross-fitted EM. The E-step of a round is
//
//	t_i[k]  ∝  P(k | x_i) · P(label y_i | true class k)
//
// and the M-step fits the soft labels t. The first round fits the labels through C. The mean of the
// folds' weights is the result: about as good as weights fitted to the soft labels of all examples,
// or better.
func expectMaximise(ctx context.Context, r *run, lambda float64, w []float32) ([]float32, error) {
	r.stage, r.lambda = crossfitting, lambda
	g := goal{held: deal(r.problem, r.folds(len(r.problem.Y)), r.problem.Seed), most: roughly(r)}
	w, err := headStartFromZero(ctx, r, w, g.held)
	if err != nil {
		return nil, err
	}
	s, ok, err := recall[rounds](&r.memo, "em")
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		s = rounds{Lambda: lambda, W: make([][]float32, r.folds(len(r.problem.Y)))}
	case r.noise != nil && r.noise.crowd:
		r.noise.learn(s.Noise, &r.labels)
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
func emRound(ctx context.Context, r *run, g goal, s rounds, w []float32) (rounds, error) {
	g.targets, g.lambda, g.share = r.labels.targets, s.Lambda, r.Tolerance
	switch {
	case len(r.problem.Y) < leastSampled: // a penalty that is too small shows only at its end
		g.share /= rough
	case s.Soft == nil: // the rounds continue from there
		g.share *= rough
	}
	if s.Soft != nil {
		g.targets = engine.Targets{Values: s.Soft, Given: true, Weight: r.labels.targets.Weight}
	}
	all, scores, err := crossFit(ctx, r, fmt.Sprintf("em/%d", s.Made), g, w, s.W, nil)
	if err != nil {
		return s, err
	}
	if r.noise != nil && r.noise.crowd {
		if _, err := relearn(r, scores); err != nil {
			return s, err
		}
		s.Noise = r.noise.state
	}
	if s.Soft == nil && r.L2.Search && r.noise == nil && r.labels.classes == nil {
		if s.Lambda, all, scores, err = largerPenalty(ctx, r, g, all, scores); err != nil {
			return s, err
		}
	}
	if err := probabilities(r, scores, true); err != nil {
		return s, err
	}
	settled := s.Soft != nil && changed(s.Soft, scores, r.problem.Q) <= settledShare
	s.W, s.Soft, s.Made = all, scores, s.Made+1
	r.solver.state.Curved = curved{}
	s.Ended = !r.onward(s.Made < r.Rounds && !settled)
	return s, nil
}

// largerPenalty continues from the λ of a first round to larger ones, as long as each is clearly
// better on the examples that no model of the round has seen, by what C⁻¹ says of them. After the
// first fold a hint is enough. With components of a kernel function, since there are many, λ is
// often too small by ten times.
func largerPenalty(ctx context.Context, r *run, g goal, all [][]float32, scores []float32,
) (float64, [][]float32, []float32, error) {
	q := r.problem.Q
	inverse, err := r.problem.Inverse()
	if err != nil {
		return 0, nil, nil, err
	}
	right := func(scores []float32, i int) float64 {
		return inverse.V[largest(scores[i*q:(i+1)*q])*q+int(r.problem.Y[i])]
	}
	for tries := 0; r.onward(tries < largerLambdas); tries++ {
		g.lambda *= largerLambda
		next, scored, err := crossFit(ctx, r, fmt.Sprintf("em/0, %d larger", tries+1), g, nil, all,
			func(folds int, now []float32) bool {
				wanted := float64(clearly)
				switch {
				case folds == 1:
					wanted = maybe
				case folds < len(all):
					return true
				}
				judged := lists.Where(len(g.held), func(i int) bool { return g.held[i] < folds })
				better, deviation := lists.MeanError(len(judged), func(k int) float64 {
					return right(now, judged[k]) - right(scores, judged[k])
				})
				return better > wanted*deviation
			})
		if err != nil {
			return 0, nil, nil, err
		}
		if next == nil {
			g.lambda /= largerLambda
			break
		}
		all, scores = next, scored
	}
	r.lambda = g.lambda
	return g.lambda, all, scores, nil
}

// changed returns the share of examples whose likeliest class of q is another in b than in a.
func changed(a, b []float32, q int) float64 {
	n := 0
	for at := 0; at < len(a); at += q {
		if largest(a[at:at+q]) != largest(b[at:at+q]) {
			n++
		}
	}
	return float64(n) * float64(q) / float64(len(a))
}

func largest(v []float32) int { return slices.Index(v, slices.Max(v)) }

// mean returns the mean of several weights.
func mean(all [][]float32) []float32 {
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

// probabilities turns scores, n×Q, into the probabilities of the true classes, given the labels if
// labelled.
func probabilities(r *run, s []float32, labelled bool) error {
	q, e := r.problem.Q, r.problem.Evidence
	var c []float64
	if r.labels.classes != nil && labelled {
		c = confusionOf(&r.Params, r.problem)
	}
	var wrong atomic.Bool
	parallel.Ranges(len(r.problem.Y), 1<<6, func(from, to int) {
		for i := from; i < to; i++ {
			row := s[i*q : (i+1)*q]
			distribution := c != nil && e.Distribution(i, q)
			if labelled && !distribution {
				for k, v := range r.labels.likelihood(i, q) {
					row[k] += v
				}
			}
			if m, _ := numerics.Softmax(row, row); m-m != 0 {
				wrong.Store(true)
			}
			if distribution {
				blend(row, r.labels.classes[i*q:(i+1)*q], c)
			}
		}
	})
	if wrong.Load() {
		return errors.New("softmax: scores: got too large ones, want finite ones (scale the features)")
	}
	return nil
}
