package fit

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Where a kernel maps the features to many and C is known, ridge regression is the M-step of EM.
// It takes the place of fits by likelihood: its weights take a few iterations, and wrong labels do
// not make it sure of itself. A round regresses on the posteriors of the round before, at first on
// what a label alone says of its class. Scores are multiplied by the temperature under which labels
// held out are likeliest through C.
//
// The penalty is mostRidge or a share of it by a power of ridgeFactor, in units of the mean squared
// length of an example; the first fold chooses it. Posteriors are less noisy than labels, so that
// the share softRidge of it suits later rounds. Labels have shaped the posteriors of examples near
// them, and cannot judge those; so a trial without the first fold tells how many rounds suit that.
// Classes that overlap have fewer. Scores times sharpness are near the logarithms of odds.
const (
	mostRidge   = 4e-3
	ridgeFactor = 0.25
	ridgeLength = 10
	softRidge   = 1.0 / 16
	mostRounds  = 3
	sharpness   = 4
)

// Features are many if they are more than fewFeatures, or than a share fewShare of the examples:
// likelihood suits few at least as well.
const (
	fewFeatures = 512
	fewShare    = 0.25
)

// ridges reports whether ridge regression takes the place of fits.
func ridges(r *training) bool {
	labels, d, n := &r.solver.Labels, r.problem.X.D, len(r.problem.Y)
	many := d > fewFeatures || float64(d) > fewShare*float64(n)
	return many && r.problem.Mapped && d <= softmax.MostFactored && n <= mostSearched && !r.part &&
		r.L2.Search && r.Correction == learners.Forward && r.noise == nil && labels.Classes == nil &&
		labels.Targets.Weight == nil && !isConvex(r)
}

// regressions are what the rounds of ridge regression have found so far.
type regressions struct {
	Made   int
	Rounds int // to make
	Lambda float64
	W      []softmax.Floats // the weights of each fold, Q×d
	Sharp  float32          // what their scores are multiplied by
	Shares softmax.Floats   // the posteriors of the classes by them, n×Q
}

// regressInRounds returns the mean weights of the last round's folds.
func regressInRounds(ctx context.Context, r *training) ([]float32, error) {
	const key = "ridge"
	r.stage = crossfitting
	s, ok, err := recall[regressions](&r.memo, key)
	if err != nil {
		return nil, err
	}
	held := deal(r, foldsOf(r))
	if !ok {
		s = regressions{Lambda: mostRidge * meanSquared(r.problem.X, r.problem.Bias),
			W:      make([]softmax.Floats, foldsOf(r)),
			Shares: make(softmax.Floats, len(r.problem.Y)*r.problem.Q)}
		for fold := range s.W {
			s.W[fold] = make(softmax.Floats, len(r.w))
		}
		if err := s.choose(ctx, r, held); err != nil {
			return nil, err
		}
	}
	for s.Made == 0 || r.onward(s.Made < s.Rounds) {
		if err := s.round(ctx, r, held, 0); err != nil {
			return nil, err
		}
		if err := r.memo.keep(key, s); err != nil {
			return nil, err
		}
		w := mean(s.W)
		for i := range w {
			w[i] *= s.Sharp
		}
		r.lambda = s.Lambda
		evaluations := learners.Field{Name: "evaluations", Value: r.solver.Evaluations}
		if err := r.move(w, evaluations); err != nil {
			return nil, err
		}
	}
	return r.w, nil
}

// choose finds the penalty under which labels of the first fold are likeliest, and the number of
// rounds for which they are.
func (s *regressions) choose(ctx context.Context, r *training, held []int) error {
	if err := probabilities(r, s.Shares); err != nil {
		return err
	}
	least := math.Inf(1)
	likelier := func(w []float32) (bool, error) {
		var t learners.Trial
		if err := judgeFold(r, w, held, 0, &t, func(int, []float32) {}); err != nil {
			return false, err
		}
		loss, _ := t.Mean()
		better := loss < least
		least = min(least, loss)
		return better, nil
	}
	for range ridgeLength {
		w, err := s.regress(ctx, r, held, 0, s.W[0])
		if err != nil {
			return err
		}
		if better, err := likelier(w); err != nil {
			return err
		} else if !better {
			break
		}
		s.W[0] = w
		s.Lambda *= ridgeFactor
	}
	s.Lambda /= ridgeFactor
	without := *s
	without.W, least = slices.Repeat(s.W[:1], len(s.W)), math.Inf(1)
	for without.Made < mostRounds {
		if err := without.round(ctx, r, held, 1); err != nil {
			return err
		}
		if better, err := likelier(mean(without.W[1:])); err != nil {
			return err
		} else if better {
			s.Rounds = without.Made
		}
	}
	s.W = slices.Repeat(s.W[:1], len(s.W))
	return nil
}

// round makes the next round, of the folds from the first one on. Its posteriors are by models that
// have not seen the example. Folds before the first one are in no model.
func (s *regressions) round(ctx context.Context, r *training, held []int, first int) (err error) {
	if s.Made == 1 {
		s.Lambda *= softRidge
	}
	q := r.problem.Q
	scores, all := make(softmax.Floats, len(s.Shares)), learners.Trial{}
	for fold := first; fold < len(s.W); fold++ {
		left := slices.Clone(held)
		for i, other := range held {
			if other < first {
				left[i] = fold
			}
		}
		if s.W[fold], err = s.regress(ctx, r, left, fold, s.W[fold]); err != nil {
			return err
		}
		err = judgeFold(r, s.W[fold], held, fold, &all, func(i int, of []float32) {
			copy(scores[i*q:], of)
		})
		if err != nil {
			return err
		}
	}
	t := all.Temperature()
	for i := range scores {
		scores[i] *= t
	}
	s.Made, s.Shares, s.Sharp = s.Made+1, scores, sharpness*t
	return probabilities(r, scores)
}

// regress returns the weights of a fold, going on from w.
func (s *regressions) regress(ctx context.Context, r *training, held []int, fold int, w []float32,
) (softmax.Floats, error) {
	return r.solver.Ridge(ctx, softmax.RidgeGoal{Shares: s.Shares, Held: held, Without: fold,
		Lambda: s.Lambda, Exactly: s.Made > 0}, w)
}

// judgeFold counts the examples of a fold, which weights w have not seen, and calls f with their
// scores.
func judgeFold(r *training, w []float32, held []int, fold int, t *learners.Trial,
	f func(i int, scores []float32)) error {
	powers := make([]float64, 4*r.problem.Q)
	return scoreFold(r, w, held, fold, func(i int, scores []float32) {
		for k := range scores {
			scores[k] *= sharpness
		}
		f(i, scores)
		t.Add(1, r.problem.Y[i], scores, r.solver.Labels.Likelihood(i, r.problem.Q), nil, false,
			powers)
	})
}
