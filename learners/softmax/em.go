package softmax

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/numerics"
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

// crossing is a round of fits, each without one fold, by which the examples of that fold are
// scored: a model that has seen an example knows its wrong label by heart. Of cross-fitted EM the
// E-step of a round is
//
//	t_i[k]  ∝  P(k | x_i) · P(label y_i | true class k)
//
// and the M-step fits the soft labels t. Where the noise is learned, a round ends with that.
type crossing struct {
	Round  int         // rounds that have ended
	Fold   int         // the fold that is left out of the fit under way
	W      [][]float32 // the weights of each fold's last fit, Q×d; nil before it
	Soft   []float32   // t of the last round, n×Q; empty in the first, which fits the labels through C
	Scores []float32   // of this round, n×Q, as far as its folds are done

	// In the first round, while a larger λ is tried: how often, and the W and Scores of the one
	// before it.
	Larger       int
	BeforeW      [][]float32
	BeforeScores []float32
}

// judgeFold takes the weights of the fit under way, scores the examples it has not seen, and goes
// on to the next fold or round. from is where that begins; nil if it is the first of its fold.
func (l *run) judgeFold(w []float32) (from []float32, more bool, err error) {
	c, q := &l.state.Crossing, l.problem.Q
	if c.Scores == nil {
		c.Scores = make([]float32, len(l.problem.Y)*q)
	}
	err = l.scored(w, c.Fold, func(i int, s []float32) { copy(c.Scores[i*q:], s) })
	if err != nil {
		return nil, false, err
	}
	c.W[c.Fold] = slices.Clone(w)
	more = true
	c.Fold++
	if err := l.judgeLarger(); err != nil {
		return nil, false, err
	}
	if c.Fold == len(c.W) {
		c.Fold = 0
		if more, err = l.endRound(); err != nil {
			return nil, false, err
		}
	}
	return c.W[c.Fold], more, nil
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

// mean returns the mean of the folds' weights, the result: about as good as weights fitted to
// the soft labels of all examples, or better.
func (c *crossing) mean() []float32 {
	w := make([]float32, len(c.W[0]))
	for i := range w {
		sum := 0.0
		for _, fold := range c.W {
			sum += float64(fold[i])
		}
		w[i] = float32(sum / float64(len(c.W)))
	}
	return w
}

// endRound makes of the scores what the next round needs, and says whether there is one.
func (l *run) endRound() (more bool, err error) {
	c := &l.state.Crossing
	still := false
	if l.noise != nil && (l.noise.crowd || l.state.Stage == learning) {
		if still, err = l.relearn(c.Scores); err != nil {
			return false, err
		}
	}
	if l.noise != nil && !l.noise.crowd && l.state.Stage == learning {
		l.nameClasses()
	}
	if l.tryLarger() {
		return true, nil
	}
	c.Round++
	if l.state.Stage == learning {
		c.Scores = nil
		return l.onward(!still && c.Round < learningRounds), nil
	}
	if err := l.probabilities(c.Scores, true); err != nil {
		return false, err
	}
	settled := c.Soft != nil && changed(c.Soft, c.Scores, l.problem.Q) <= settledShare
	c.Soft, c.Scores, l.state.Curved = c.Scores, nil, curved{}
	return l.onward(l.Correction == EM && c.Round < l.Rounds && !settled), nil
}

// tryLarger goes on in the first round from a λ to a larger one, and says whether the round is to
// be made again. Of components of a kernel function, since there are many, λ is often too small by
// ten times.
func (l *run) tryLarger() (again bool) {
	c := &l.state.Crossing
	if !l.L2.Search || l.noise != nil || l.classes != nil || c.Soft != nil ||
		c.Larger > 0 && c.BeforeScores == nil {
		return false
	}
	if !l.onward(c.Larger < largerLambdas) {
		c.BeforeW, c.BeforeScores = nil, nil
		return false
	}
	c.Larger++
	c.BeforeW, c.BeforeScores, c.Scores = slices.Clone(c.W), c.Scores, nil
	l.state.Search.Lambda *= largerLambda
	return true
}

// judgeLarger goes back from a larger λ that is tried, unless it is clearly better on the examples
// that no model of the round has seen, by what C⁻¹ has of them. After the first fold it may be so.
func (l *run) judgeLarger() error {
	c, q, wanted := &l.state.Crossing, l.problem.Q, float64(clearly)
	if c.BeforeScores == nil || c.Fold > 1 && c.Fold < len(c.W) {
		return nil
	}
	judged := which(l.held, func(f uint8) bool { return int(f) < c.Fold })
	if c.Fold == 1 {
		wanted = maybe
	}
	inverse, err := l.problem.Inverse()
	if err != nil {
		return err
	}
	right := func(scores []float32, i int) float64 {
		return inverse.V[largest(scores[i*q:(i+1)*q])*q+int(l.problem.Y[i])]
	}
	better, deviation := ahead(len(judged), func(k int) float64 {
		return right(c.Scores, judged[k]) - right(c.BeforeScores, judged[k])
	})
	if !(better > wanted*deviation) {
		l.state.Search.Lambda /= largerLambda
		c.W, c.Scores, c.BeforeW, c.BeforeScores = c.BeforeW, c.BeforeScores, nil, nil
		c.Fold = len(c.W)
	}
	return nil
}

// probabilities turns scores, n×Q, into the probabilities of the true classes, given the labels if
// labelled.
func (l *run) probabilities(s []float32, labelled bool) error {
	q, e := l.problem.Q, l.problem.Evidence
	var c []float64
	if l.classes != nil && labelled {
		c = confusionOf(&l.Params, l.problem)
	}
	var wrong atomic.Bool
	parallel.Ranges(len(l.problem.Y), 1<<6, func(from, to int) {
		for i := from; i < to; i++ {
			row := s[i*q : (i+1)*q]
			distribution := c != nil && e.Distribution(i, q)
			if labelled && !distribution {
				for k, v := range l.likelihood(i) {
					row[k] += v
				}
			}
			if m, _ := numerics.Softmax(row, row); m-m != 0 {
				wrong.Store(true)
			}
			if distribution {
				blend(row, l.classes[i*q:(i+1)*q], c)
			}
		}
	})
	if wrong.Load() {
		return errors.New("softmax: scores: got too large ones, want finite ones (scale the features)")
	}
	return nil
}
