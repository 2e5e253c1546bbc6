package fit

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// Ridge regression of the labels, as 0 and 1 for each class, is a rival of the fits by likelihood
// where a kernel maps the features and C is known. C⁻¹ turns its weights into weights of the true
// classes. It is ahead where wrong labels are spread over many classes, and behind where one class
// takes most of them.
//
// Its penalties are mostRidge and each a share ridgeFactor of the one before it, in units of the
// mean squared length of an example. Scores times sharpness are near the logarithms of odds. C⁻¹
// enlarges the noise of
// the labels, so that C has a condition number of at most mostCondition. The first fold alone tells
// whether it is clearly behind.
const (
	mostRidge     = 4e-3
	ridgeFactor   = 0.25
	ridgeLength   = 7
	sharpness     = 4
	mostCondition = 3
)

// rivals says whether ridge regression is tried.
func rivals(r *training) bool {
	return r.problem.Mapped && r.problem.Noise != nil && r.noise == nil &&
		r.solver.Labels.Classes == nil &&
		r.Correction == learners.Forward && r.solver.Labels.Targets.Weight == nil &&
		r.problem.X.D <= softmax.MostFactored
}

// takeRidge returns the weights of ridge regression and their λ if they do as well as what a search
// has found, else nil. They are judged on the folds of the search, held.
func takeRidge(ctx context.Context, r *training, s *search, held []int,
) ([]float32, float64, error) {
	if !rivals(r) || r.short {
		return nil, 0, nil
	}
	inverse, err := r.problem.Inverse()
	if err != nil || inverse.Condition == 1 || inverse.Condition > mostCondition {
		return nil, 0, nil // without C⁻¹ there is no rival
	}
	if err := r.solver.MeasureAtZero(ctx, s.best()); err != nil {
		return nil, 0, err
	}
	lambda, least := mostRidge*meanSquared(r.problem.X, r.problem.Bias), math.Inf(1)
	missed, weight := 0.0, 0.0
	var w []float64
	for range ridgeLength {
		next, err := r.solver.Ridge(ctx, held, lambda, 0, w)
		if err != nil {
			return nil, 0, err
		}
		loss, m, u, err := judgeRidge(r, held, next, 0)
		if err != nil {
			return nil, 0, err
		}
		if !(loss < least) {
			break
		}
		least, w, missed, weight = loss, next, m, u
		lambda *= ridgeFactor
	}
	best := s.Tried[s.bestAt()]
	share := best.Missed / best.Weight
	behind := func(deviations float64) bool {
		return missed/weight > share+float64(deviations*math.Sqrt(share*(1-share)/weight))
	}
	if behind(clearlyWorse) {
		return nil, 0, nil
	}
	lambda /= ridgeFactor
	for fold := 1; fold < s.Fold; fold++ {
		v, err := r.solver.Ridge(ctx, held, lambda, fold, w)
		if err != nil {
			return nil, 0, err
		}
		_, m, u, err := judgeRidge(r, held, v, fold)
		if err != nil {
			return nil, 0, err
		}
		missed, weight = missed+m, weight+u
	}
	if behind(tolerated) {
		return nil, 0, nil
	}
	if w, err = r.solver.Ridge(ctx, held, lambda, -1, w); err != nil { // of all examples
		return nil, 0, err
	}
	taken, err := ridgeWeights(r, w)
	return taken, lambda, err
}

// judgeRidge returns what weights of ridge regression do on a fold: the sum of squared losses, how
// many labels are not the likeliest class, and how many examples there are.
func judgeRidge(r *training, held []int, w []float64, fold int,
) (loss, missed, count float64, err error) {
	scored, err := ridgeWeights(r, w)
	if err != nil {
		return 0, 0, 0, err
	}
	c, q := r.Correcting().Confusion(r.problem), r.problem.Q
	err = scoreFold(r, scored, held, fold, func(i int, s []float32) {
		y := int(r.problem.Y[i])
		for k := range q {
			v := 0.0
			for t, f := range s {
				v += float64(c[k*q+t] * float64(f))
			}
			if v /= sharpness; k == y {
				v--
			}
			loss += float64(v * v)
		}
		if s[y] != slices.Max(s) {
			missed++
		}
		count++
	})
	return loss, missed, count, err
}

// ridgeWeights turns weights of the labels into weights of the true classes.
func ridgeWeights(r *training, w []float64) ([]float32, error) {
	inverse, err := r.problem.Inverse()
	if err != nil {
		return nil, err
	}
	q, d := r.problem.Q, r.problem.X.D
	all := make([]float32, q*d)
	for t := range q {
		for j := range d {
			sum := 0.0
			for k := range q {
				sum += float64(inverse.V[t*q+k] * w[k*d+j])
			}
			all[t*d+j] = float32(sharpness * sum)
		}
	}
	if slices.ContainsFunc(all, func(v float32) bool { return v-v != 0 }) {
		return nil, errors.New("softmax: found weights too large for float32; normalise the features")
	}
	return all, nil
}
