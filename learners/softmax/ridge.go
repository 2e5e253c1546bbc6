package softmax

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Conjugate gradients end after ridgeIterations, or where a share ridgeGain of the first gain is
// left.
const (
	ridgeIterations = 12
	ridgeGain       = 1e-4
)

// RidgeGoal is what ridge regression minimises.
type RidgeGoal struct {
	Shares  []float32 // of each class in each example, n×Q
	Held    []int     // the fold of each example
	Without int       // the fold that is left out
	Lambda  float64
	Exactly bool // directions begin from the curvature for this λ, not for one that is near
}

// Ridge returns the weights, Q×d, of the ridge regression from examples to shares. It continues
// from weights w. Conjugate gradients of all classes together begin from the curvature at W = 0.
func (s *Solver) Ridge(ctx context.Context, g RidgeGoal, w []float32) ([]float32, error) {
	q, d, n := s.Problem.Q, s.Problem.X.D, s.Problem.X.N
	if s.curve == nil {
		zero := Goal{Targets: s.Labels.Targets, Lambda: g.Lambda}
		if err := s.measure(ctx, zero, make([]float32, q*d)); err != nil {
			return nil, err
		}
	}
	count := 0.0
	for _, fold := range g.Held {
		if fold != g.Without {
			count++
		}
	}
	// times writes the sums over examples of (score - share)·x_i to dst, for scores by v and the
	// shares if given, and adds λ·v.
	times := func(dst, v []float64, shares []float32) error {
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
			if g.Held[i] == g.Without {
				return nil
			}
			row := a[i*q : (i+1)*q]
			copy(row, scores)
			for k := range row {
				if shares != nil {
					row[k] -= shares[i*q+k]
				}
				most = max(most, row[k], -row[k])
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
			dst[i] = float64(float64(sum)*unit) + float64(g.Lambda*v[i])
		}
		return ctx.Err()
	}
	even := slices.Repeat([]float32{1 / float32(q)}, q)
	s.curve.penalise(float64(g.Lambda*s.informs(s.Labels.Targets).of(0, even)), g.Exactly)
	all, rest := lists.As[float64](w), make([]float64, q*d)
	if err := times(rest, all, g.Shares); err != nil {
		return nil, err
	}
	scale(rest, -1)
	z := slices.Clone(rest)
	s.curve.solve(z, 1)
	p, image := slices.Clone(z), make([]float64, q*d)
	left := dot(rest, z)
	first := left
	for range ridgeIterations {
		if !(left > ridgeGain*first) || !(left > 0) {
			break
		}
		if err := times(image, p, nil); err != nil {
			return nil, err
		}
		f := left / dot(p, image)
		for i := range all {
			all[i] += float64(f * p[i])
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
	return lists.As[float32](all), nil
}
