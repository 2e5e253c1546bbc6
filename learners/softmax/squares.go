package softmax

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// Ridge regression of the labels, as 0 and 1 for each class, is a rival of the fits by likelihood
// where a kernel maps the features and C is known. C⁻¹ turns its weights into weights of the true
// classes. It is ahead where wrong labels are spread over many classes, and behind where one class
// takes most of them.
//
// Its penalties are mostRidge and each a share ridgeFactor of the one before it, in units of the
// mean squared length of an example. Conjugate gradients end where a share ridgeGain of the first
// gain is left. Scores times sharpness are near the logarithms of odds. C⁻¹ enlarges the noise of
// the labels, so that C has a condition number of at most mostCondition. The first fold alone tells
// whether it is clearly behind.
const (
	mostRidge       = 4e-3
	ridgeFactor     = 0.25
	ridgeLength     = 7
	ridgeIterations = 12
	ridgeGain       = 1e-4
	sharpness       = 4
	mostCondition   = 3
)

// rivals says whether ridge regression is tried.
func rivals(r *run) bool {
	return r.problem.Mapped && r.problem.Noise != nil && r.noise == nil && r.labels.classes == nil &&
		r.Correction == Forward && r.labels.targets.Weight == nil &&
		r.problem.X.D <= mostFactored
}

// takeRidge returns the weights of ridge regression and their λ if they do as well as what a search
// has found, else nil. They are judged on the folds of the search, held.
func takeRidge(ctx context.Context, r *run, s *search, held []int) ([]float32, float64, error) {
	if !rivals(r) || r.short {
		return nil, 0, nil
	}
	inverse, err := r.problem.Inverse()
	if err != nil || inverse.Condition == 1 || inverse.Condition > mostCondition {
		return nil, 0, nil // without C⁻¹ there is no rival
	}
	informs := r.labels.informs(r.labels.targets, r.problem.Q)
	if err := r.solver.measure(goal{lambda: s.best(), informs: informs},
		make([]float32, r.problem.Q*r.problem.X.D)); err != nil {
		return nil, 0, err
	}
	lambda, least := mostRidge*meanSquared(r.problem.X, r.problem.Bias), math.Inf(1)
	missed, weight := 0.0, 0.0
	var w []float64
	for range ridgeLength {
		next, err := ridge(ctx, r, held, lambda, 0, w)
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
		v, err := ridge(ctx, r, held, lambda, fold, w)
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
	if w, err = ridge(ctx, r, held, lambda, -1, w); err != nil { // of all examples
		return nil, 0, err
	}
	taken, err := ridgeWeights(r, w)
	return taken, lambda, err
}

// judgeRidge returns what weights of ridge regression do on a fold: the sum of squared losses, how
// many labels are not the likeliest class, and how many examples there are.
func judgeRidge(r *run, held []int, w []float64, fold int,
) (loss, missed, count float64, err error) {
	scored, err := ridgeWeights(r, w)
	if err != nil {
		return 0, 0, 0, err
	}
	c, q := confusionOf(&r.Params, r.problem), r.problem.Q
	err = r.scored(scored, held, fold, func(i int, s []float32) {
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
func ridgeWeights(r *run, w []float64) ([]float32, error) {
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
	return all, base.CheckFinite("softmax", all, "")
}

// ridge returns the weights of ridge regression, Q×d, of all examples but a fold, -1 for none. It
// continues from weights w; nil for 0. Conjugate gradients of all classes together begin from the
// curvature of the fits.
func ridge(ctx context.Context, r *run, held []int, lambda float64, without int, w []float64,
) ([]float64, error) {
	q, d, n := r.problem.Q, r.problem.X.D, r.problem.X.N
	count := 0.0
	for i := range n {
		if without < 0 || held[i] != without {
			count++
		}
	}
	if w == nil {
		w = make([]float64, q*d)
	}
	// times writes the sums over examples of (s - label·y_i)·x_i to dst, and adds λ/2·‖v‖², for
	// scores s by v.
	times := func(dst, v []float64, label float32) error {
		v32 := make([]float32, len(v))
		for i, f := range v {
			v32[i] = float32(f)
		}
		r.loss.scored, r.loss.answer = nil, nil
		at := engine.Weights{Q: q, D: d, W: v32}
		if err := r.loss.eval.Rescore(at, learners.AllClasses(q)); err != nil {
			return err
		}
		a, most := make([]float32, n*q), float32(0)
		if err := base.EachScores(r.loss.eval.Scorer, func(i int, s []float32) error {
			if without >= 0 && held[i] == without {
				return nil
			}
			row := a[i*q : (i+1)*q]
			copy(row, s)
			row[r.problem.Y[i]] -= label
			for _, f := range row {
				most = max(most, f, -f)
			}
			return nil
		}); err != nil {
			return err
		}
		_, exponent := math.Frexp(float64(most))
		down := float32(math.Ldexp(1, -exponent))
		for i := range a {
			a[i] *= down
		}
		sums := make([]int64, q*d)
		if err := r.loss.eval.WeightedSums(sums, a); err != nil {
			return err
		}
		r.loss.evaluations++
		unit := math.Ldexp(r.loss.unit, exponent) / count
		for i, s := range sums {
			dst[i] = float64(float64(s)*unit) + float64(lambda*v[i])
		}
		return ctx.Err()
	}
	even := slices.Repeat([]float32{1 / float32(q)}, q)
	r.solver.curve.penalise(float64(lambda*r.labels.informs(r.labels.targets, q).of(0, even)), false)
	rest := make([]float64, q*d)
	if err := times(rest, w, 1); err != nil {
		return nil, err
	}
	scale(rest, -1)
	w = slices.Clone(w)
	z := slices.Clone(rest)
	r.solver.curve.solve(z, 1)
	p, image := slices.Clone(z), make([]float64, q*d)
	left := dot(rest, z)
	first := left
	for range ridgeIterations {
		if !(left > ridgeGain*first) || !(left > 0) {
			break
		}
		if err := times(image, p, 0); err != nil {
			return nil, err
		}
		f := left / dot(p, image)
		for i := range w {
			w[i] += float64(f * p[i])
			rest[i] -= float64(f * image[i])
		}
		copy(z, rest)
		r.solver.curve.solve(z, 1)
		next := dot(rest, z)
		for i := range p {
			p[i] = z[i] + float64(next/left*p[i])
		}
		left = next
	}
	return w, nil
}
