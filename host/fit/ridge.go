package fit

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Where a kernel maps the features and C is known, ridge regression is the M-step of EM, and takes
// the place of fits by likelihood: its many weights take a few iterations, and wrong labels do not
// make it sure of itself. A round regresses on the posteriors of the round before, at first on what
// a label alone says of its class. Scores are multiplied by the temperature under which labels held
// out are likeliest through C.
//
// The first round chooses among the penalties mostRidge and each a share ridgeFactor of the one
// before it, in units of the mean squared length of an example, by the first fold. Posteriors are
// less noisy than labels, so that the share softRidge of it suits the others. Labels held out
// cannot choose there, since they have shaped the posteriors of examples near them. For the same
// reason further rounds would harm classes that overlap. Scores times sharpness are near the
// logarithms of odds.
const (
	mostRidge   = 4e-3
	ridgeFactor = 0.25
	ridgeLength = 10
	softRidge   = 1.0 / 16
	ridgeRounds = 3
	sharpness   = 4
)

// ridges reports whether ridge regression takes the place of fits.
func ridges(r *training) bool {
	labels := &r.solver.Labels
	return r.problem.Mapped && r.problem.X.D <= softmax.MostFactored && r.L2.Search &&
		r.Correction == learners.Forward && r.noise == nil && labels.Classes == nil &&
		labels.Targets.Weight == nil && !isConvex(r)
}

// regressions are what the rounds of ridge regression have found so far.
type regressions struct {
	Made   int
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
	if !ok {
		s = regressions{Lambda: mostRidge * meanSquared(r.problem.X, r.problem.Bias),
			W:      make([]softmax.Floats, foldsOf(r)),
			Shares: make(softmax.Floats, len(r.problem.Y)*r.problem.Q)}
		for fold := range s.W {
			s.W[fold] = make(softmax.Floats, len(r.w))
		}
		if err := probabilities(r, s.Shares); err != nil {
			return nil, err
		}
	}
	held := deal(r, len(s.W))
	for s.Made == 0 || r.onward(s.Made < ridgeRounds) {
		if err := s.round(ctx, r, held); err != nil {
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
		if err := r.move(w, learners.Field{Name: "evaluations", Value: r.solver.Evaluations}); err != nil {
			return nil, err
		}
	}
	return r.w, nil
}

// round makes the next round. Its posteriors are by models that have not seen the example.
func (s *regressions) round(ctx context.Context, r *training, held []int) (err error) {
	q := r.problem.Q
	if s.Made == 0 {
		err = s.choose(ctx, r, held)
	} else if s.Made == 1 {
		s.Lambda *= softRidge
	}
	if err != nil {
		return err
	}
	scores, all := make(softmax.Floats, len(s.Shares)), learners.Trial{}
	for fold, w := range s.W {
		if s.Made == 0 {
			w = s.W[0]
		}
		if fold > 0 || s.Made > 0 {
			if s.W[fold], err = s.regress(ctx, r, held, fold, w); err != nil {
				return err
			}
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

// choose finds the penalty under which labels of the first fold are likeliest.
func (s *regressions) choose(ctx context.Context, r *training, held []int) error {
	least := math.Inf(1)
	for range ridgeLength {
		w, err := s.regress(ctx, r, held, 0, s.W[0])
		if err != nil {
			return err
		}
		var t learners.Trial
		if err := judgeFold(r, w, held, 0, &t, func(int, []float32) {}); err != nil {
			return err
		}
		loss, _ := t.Mean()
		if !(loss < least) {
			break
		}
		least, s.W[0] = loss, w
		s.Lambda *= ridgeFactor
	}
	s.Lambda /= ridgeFactor
	return nil
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
