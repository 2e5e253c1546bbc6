package softmax

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Conjugate gradients end after ridgeIterations, or where a share ridgeGain of the first gain is
// left.
const (
	ridgeIterations = 12
	ridgeGain       = 1e-4
)

// MeasureAtZero measures the curvature at W = 0, from which Ridge begins, for a penalty.
func (s *Solver) MeasureAtZero(ctx context.Context, lambda float64) error {
	return s.measure(ctx, Goal{Targets: s.Labels.Targets, Lambda: lambda},
		make([]float32, s.Problem.Q*s.Problem.X.D))
}

// Ridge returns the weights of the ridge regression of the labels, as 0 and 1 for each class, Q×d,
// of all examples but a fold, -1 for none. It continues from weights w; nil for 0. Conjugate
// gradients of all classes together begin from the curvature of the fits.
func (s *Solver) Ridge(ctx context.Context, held []int, lambda float64, without int, w []float64,
) ([]float64, error) {
	q, d, n := s.Problem.Q, s.Problem.X.D, s.Problem.X.N
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
		s.scored, s.answer = nil, nil
		at := engine.Weights{Q: q, D: d, W: v32}
		if err := s.eval.Rescore(at, learners.AllClasses(q)); err != nil {
			return err
		}
		a, most := make([]float32, n*q), float32(0)
		if err := learners.EachScores(s.eval.Scorer, func(i int, scores []float32) error {
			if without >= 0 && held[i] == without {
				return nil
			}
			row := a[i*q : (i+1)*q]
			copy(row, scores)
			row[s.Problem.Y[i]] -= label
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
		if err := s.eval.WeightedSums(sums, a); err != nil {
			return err
		}
		s.Evaluations++
		unit := math.Ldexp(s.unit, exponent) / count
		for i, sum := range sums {
			dst[i] = float64(float64(sum)*unit) + float64(lambda*v[i])
		}
		return ctx.Err()
	}
	even := slices.Repeat([]float32{1 / float32(q)}, q)
	s.curve.penalise(float64(lambda*s.informs(s.Labels.Targets).of(0, even)), false)
	rest := make([]float64, q*d)
	if err := times(rest, w, 1); err != nil {
		return nil, err
	}
	scale(rest, -1)
	w = slices.Clone(w)
	z := slices.Clone(rest)
	s.curve.solve(z, 1)
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
		s.curve.solve(z, 1)
		next := dot(rest, z)
		for i := range p {
			p[i] = z[i] + float64(next/left*p[i])
		}
		left = next
	}
	return w, nil
}
