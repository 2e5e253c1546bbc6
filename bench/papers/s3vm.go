package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// The semi-supervised support vector machine of the paper's Table 1 (Bennett and Demiriz,
// Semi-supervised support vector machines, 1998), one class against the rest, each with
//
//	λ/2·‖w‖² + mean over the labelled of ℓ(±f) + c·mean over the others of min(ℓ(f), ℓ(-f)).
//
// It is no learner of the catalog: what a learner is shown has a label each, and this is for
// examples without. Bennett and Demiriz solve the problem as a mixed-integer programme, which
// takes tens of examples; here it is solved as by Chapelle and Zien (Semi-supervised
// classification by low density separation, 2005): ℓ is the hinge with a round corner, min(ℓ(f),
// ℓ(-f)) a smooth hill, the mean of f over the examples without a label is held at what the labels
// make expected, and c grows from 0 to 1.
type s3vm struct {
	eval    *engine.Evaluator
	n, d, q int
	y       []int32 // -1 for no label
	lambda  float64

	labels, others float64   // numbers of examples with a label and without
	share          []float64 // Q: that of the labels of each class
	mean           []float64 // d: of the examples without a label; of all if none are
	bit            float64   // of the sums

	all    []int     // classes
	scores []float32 // n×Q
	slope  []float32 // n×Q: of the losses
	sums   []int64   // Q×d
}

const (
	s3vmSteps  = 80         // for each c
	s3vmStream = 0x7333766d // "s3vm"
)

var (
	s3vmShares  = []float64{0, 1. / 64, 1. / 16, 1. / 4, 1}     // c, one after the other
	s3vmLambdas = []float64{1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4} // candidates for λ
)

// newS3VM loads examples; some of y are -1.
func newS3VM(e *engine.Engine, x dataset.Examples, y []int32, q int) (*s3vm, error) {
	eval, err := e.LoadEvaluator(x, q, numerics.FixedPoint{})
	if err != nil {
		return nil, err
	}
	n, d, _ := eval.Shape()
	s := &s3vm{eval: eval, n: n, d: d, q: q, y: y, share: make([]float64, q), mean: make([]float64, d),
		scores: make([]float32, n*q), slope: make([]float32, n*q), sums: make([]int64, q*d)}
	for r := range q {
		s.all = append(s.all, r)
	}
	one := make([]float32, n)
	for i, t := range y {
		if t < 0 {
			one[i] = 1
			continue
		}
		s.labels++
		s.share[t]++
	}
	if s.labels == 0 {
		return nil, errors.Join(errors.New("s3vm: found no label, wanted some"), eval.Close())
	}
	for r := range s.share {
		s.share[r] /= s.labels
	}
	if s.others = float64(n) - s.labels; s.others == 0 {
		one, s.others = slices.Repeat([]float32{1}, n), s.labels
	}
	s.bit = math.Ldexp(1, -eval.FixedPoint().S)
	if err := eval.WeightedSums(s.sums[:d], one); err != nil {
		return nil, errors.Join(err, eval.Close())
	}
	for j := range s.mean {
		s.mean[j] = float64(s.sums[j]) * s.bit / s.others
	}
	return s, nil
}

// offset returns what is added to the scores of class r, so that the mean of f over the examples
// without a label is that of the labels: 2·share - 1.
func (s *s3vm) offset(w engine.Weights, r int) float64 {
	sum := float64(2*s.share[r]) - 1
	for j, v := range w.Row(r) {
		sum -= float64(float64(v) * s.mean[j])
	}
	return sum
}

// gradient writes that of all classes, Q×d, at w with the examples without a label counted c.
func (s *s3vm) gradient(g []float64, w engine.Weights, c float64) error {
	if err := s.eval.Rescore(w, s.all); err != nil {
		return err
	}
	if err := s.eval.Scores(s.scores, 0, s.n); err != nil {
		return err
	}
	c *= s.labels / s.others // the sums are divided by the number of labels
	offsets, total := make([]float64, s.q), make([]float64, s.q)
	for r := range offsets {
		offsets[r] = s.offset(w, r)
	}
	for i, t := range s.y {
		for r := range s.q {
			f, a := float64(s.scores[i*s.q+r])+offsets[r], 0.0
			switch {
			case t < 0 && math.Abs(f) < 1:
				a = -2 * f * (1 - float64(f*f)) * c
			case t == int32(r):
				a = -min(1, max(0, 1-f))
			case t >= 0:
				a = min(1, max(0, 1+f))
			}
			s.slope[i*s.q+r] = float32(a)
			total[r] += float64(float32(a))
		}
	}
	if err := s.eval.WeightedSums(s.sums, s.slope); err != nil {
		return err
	}
	for k := range g {
		sum := float64(float64(s.sums[k])*s.bit) - float64(total[k/s.d]*s.mean[k%s.d])
		g[k] = sum/s.labels + float64(s.lambda*float64(w.W[k]))
	}
	return nil
}

// fit goes on from w by accelerated gradients, each class with a restart where it goes uphill, for
// each c.
func (s *s3vm) fit(ctx context.Context, w engine.Weights, shares []float64) error {
	g, at := make([]float64, len(w.W)), make([]float64, len(w.W))
	ahead := engine.NewWeights(w.Q, w.D)
	for k, v := range w.W {
		at[k] = float64(v)
	}
	for _, c := range shares {
		copy(ahead.W, w.W)
		steepest := s.lambda + 1 + float64(2*c) // of examples of length 1
		root, low := math.Sqrt(steepest), math.Sqrt(s.lambda)
		for range s3vmSteps {
			if err := errors.Join(ctx.Err(), s.gradient(g, ahead, c)); err != nil {
				return err
			}
			for from := 0; from < len(at); from += s.d {
				to := from + s.d
				step(at[from:to], g[from:to], ahead.W[from:to], 1/steepest, (root-low)/(root+low))
			}
		}
		for k, v := range at {
			w.W[k] = float32(v)
		}
	}
	return nil
}

// step moves the weights of a class.
func step(at, g []float64, ahead []float32, size, momentum float64) {
	uphill := 0.0
	next := make([]float64, len(at))
	for k := range next {
		next[k] = float64(ahead[k]) - float64(size*g[k])
		uphill += float64(g[k] * (next[k] - at[k]))
	}
	if uphill > 0 {
		momentum = 0
	}
	for k, v := range next {
		ahead[k] = float32(v + float64(momentum*(v-at[k])))
		at[k] = v
	}
}

// predict returns, for each example, the labelled class of the largest score.
func (s *s3vm) predict(e *engine.Engine, w engine.Weights, x dataset.Examples) ([]int32, error) {
	scores, err := engine.Scores(e, w, x)
	if err != nil {
		return nil, err
	}
	offsets := make([]float64, s.q)
	for r := range offsets {
		offsets[r] = s.offset(w, r)
	}
	classes := make([]int32, x.N)
	for i := range classes {
		best := math.Inf(-1)
		for r := range s.q {
			if f := float64(scores[i*s.q+r]) + offsets[r]; s.share[r] > 0 && f > best {
				classes[i], best = int32(r), f
			}
		}
	}
	return classes, nil
}

// semiSupervised learns from the right labels of known and from the other examples of train
// without any, and returns the share of test that is predicted wrong. λ is chosen on the labelled
// ones alone, by how many labels of a third of them a machine of the other thirds predicts wrong.
func (r *run) semiSupervised(ctx context.Context, train, test *dataset.Dataset, known []int,
	seed uint64) (float64, error) {
	q := len(train.Classes)
	fold := make([]int, len(known))
	for k, i := range rand.New(rand.NewPCG(seed, s3vmStream)).Perm(len(known)) {
		fold[i] = k % penaltyFolds
	}
	lambda, err := leastPenalty(pick(train, known, train.Y), fold, s3vmLambdas,
		func(in, out *dataset.Dataset, lambda float64) (float64, error) {
			predicted, err := r.s3vmLearn(ctx, in.Examples, in.Y, q, lambda, s3vmShares[:1], out.Examples)
			if err != nil {
				return 0, err
			}
			return wrong(predicted, out.Y), nil
		})
	if err != nil {
		return 0, err
	}
	y := slices.Repeat([]int32{-1}, train.N)
	for _, i := range known {
		y[i] = train.Y[i]
	}
	predicted, err := r.s3vmLearn(ctx, train.Examples, y, q, lambda, s3vmShares, test.Examples)
	if err != nil {
		return 0, err
	}
	return wrong(predicted, test.Y), nil
}

// s3vmLearn learns with a λ and predicts.
func (r *run) s3vmLearn(ctx context.Context, x dataset.Examples, y []int32, q int, lambda float64,
	shares []float64, test dataset.Examples) (predicted []int32, err error) {
	s, err := newS3VM(r.Engine, x, y, q)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.eval.Close()) }()
	s.lambda = lambda
	w := engine.NewWeights(q, s.d)
	if err := s.fit(ctx, w, shares); err != nil {
		return nil, fmt.Errorf("s3vm: %w", err)
	}
	return s.predict(r.Engine, w, test)
}
