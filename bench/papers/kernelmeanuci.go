package main

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/bench/papers/svm"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
)

var kernelMeanUCI = &experiment{
	Name:  "kernel-mean-uci",
	Usage: "the mean classifier and others on two classes of small sets of UCI",
	Paper: "Symmetric noise on small sets of UCI (Section 7 of the kernel mean's paper)",
	About: `Two classes: the first half of a set's classes, by their names, against the others. Labels
are turned round at random. Two thirds of the examples train, 500 at most, the rest tests, 2000 at
most; each run draws anew. No way is told C. Linear are the mean, hinge and t-logistic loss (t = 2),
whose penalties are the best of five by 3 folds of the noisy labels, and softmax, which looks for
its own; they see standardized features with a bias, of length 1. The kernel mean finds its gamma in
noisy labels too.`,
	Axis: "noise rate",
	Sets: []string{"banana", "cancer", "glass", "iris", "letter", "vehicle", "wine"},
	run:  runKernelMeanUCI,
}

const smallTrain, smallTest = 500, 2000 // examples at most

// penalties are λ of λ/2·‖w‖² + mean loss, the largest first, which is taken of equally good ones.
var penalties = []float64{1e-1, 1e-2, 1e-3, 1e-4, 1e-5}

func runKernelMeanUCI(ctx context.Context, r *run) error {
	return r.eachSet(func(s set) error {
		d, err := s.readFile(ctx, r, s.train)
		if err != nil {
			return err
		}
		d = halves(d)
		return r.along(ctx, s.name, noiseRates, func(row Row, seed uint64) error {
			return r.twoClasses(ctx, d, row, seed)
		})
	})
}

// halves returns d with two classes, the first half of its own and the others.
func halves(d *dataset.Dataset) *dataset.Dataset {
	two := like(d, d.Examples, make([]int32, d.N))
	two.Classes = []string{"first", "others"}
	for i, k := range d.Y {
		two.Y[i] = int32(min(1, int(k)/(len(d.Classes)/2)))
	}
	return two
}

// twoClasses draws examples of d, turns labels of the training examples round at the rate row.X,
// and adds the test error of each way.
func (r *run) twoClasses(ctx context.Context, d *dataset.Dataset, row Row, seed uint64) error {
	n := min(smallTrain, 2*d.N/3)
	parts, err := dataset.SplitCounts(d, []int{n, min(smallTest, d.N-n)}, seed)
	if err != nil {
		return err
	}
	train, test := parts[0], parts[1]
	noise, err := confusion.Symmetric(train.Classes, row.X)
	if err != nil {
		return err
	}
	if train.Y, err = noise.Inject(train.Y, seed); err != nil {
		return err
	}
	flat, flatTest := *train, *test
	if err := host.Prepare(&flat, "standardize,bias,l2", false); err != nil {
		return err
	}
	if err := features.PrepareBy(&flatTest, flat.Prepared); err != nil {
		return err
	}
	curved := trial{train: train, test: test, seed: seed}
	t := trial{train: components(&flat, flat.Examples), test: components(&flatTest, flatTest.Examples),
		preparation: "none", seed: seed}
	byKernel := meanWays[0]
	byKernel.kernel = &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}, Search: true}
	for _, c := range []struct {
		name string
		fit  func() (float64, error)
	}{
		{meanWay.name, func() (float64, error) { return r.errorRate(ctx, meanWay, t) }},
		{byKernel.name, func() (float64, error) { return r.errorRate(ctx, byKernel, curved) }},
		{hinge, func() (float64, error) { return byPenalty(ctx, t, r.hinge) }},
		{heavier, func() (float64, error) { return byPenalty(ctx, t, r.heavier) }},
		{logistic.name, func() (float64, error) { return r.errorRate(ctx, logistic, t) }},
	} {
		v, err := c.fit()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		row.Learner = c.name
		r.add(row, v)
	}
	return nil
}

// penalized learns with a penalty, and returns the share of test examples that it gets wrong.
type penalized func(ctx context.Context, t trial, lambda float64) (float64, error)

// byPenalty learns with the penalty that errs least on the noisy labels of the parts of t.train
// held out.
func byPenalty(ctx context.Context, t trial, fit penalized) (float64, error) {
	fold := make([]int, t.train.N)
	for i := range fold {
		fold[i] = i % penaltyFolds
	}
	lambda, err := leastPenalty(t.train, fold, penalties,
		func(in, out *dataset.Dataset, lambda float64) (float64, error) {
			o := trial{train: in, test: out, preparation: t.preparation, seed: t.seed}
			share, err := fit(ctx, o, lambda)
			return float64(share * float64(out.N)), err
		})
	if err != nil {
		return 0, err
	}
	return fit(ctx, t, lambda)
}

const penaltyFolds = 3

// leastPenalty returns the λ of the least sum of the losses of all folds, each held out in turn.
func leastPenalty(d *dataset.Dataset, fold []int, lambdas []float64,
	loss func(in, out *dataset.Dataset, lambda float64) (float64, error)) (best float64, err error) {
	least := math.Inf(1)
	for _, lambda := range lambdas {
		sum := 0.0
		for f := range penaltyFolds {
			var in, out []int
			for i, k := range fold {
				if k == f {
					out = append(out, i)
				} else {
					in = append(in, i)
				}
			}
			v, err := loss(pick(d, in, d.Y), pick(d, out, d.Y), lambda)
			if err != nil {
				return 0, err
			}
			sum += v
		}
		if sum < least {
			best, least = lambda, sum
		}
	}
	return best, nil
}

// hinge is penalized for the hinge loss, the cost of whose learner is 1/(λ·n).
func (r *run) hinge(ctx context.Context, t trial, lambda float64) (float64, error) {
	return r.errorRate(ctx, way{name: hinge, blind: true, params: func() learners.Params {
		p := svm.Defaults()
		p.Loss, p.Cost = svm.Hinge, 1/(lambda*float64(t.train.N))
		return p
	}}, t)
}

// heavier is penalized for the t-logistic loss.
func (r *run) heavier(_ context.Context, t trial, lambda float64) (float64, error) {
	l := &tLogistic{n: t.train.N, d: t.train.D, lambda: lambda}
	row := make([]float32, l.d)
	for i, y := range t.train.Y {
		for _, v := range t.train.DenseRow(row, i) {
			l.x = append(l.x, float64(2*y-1)*float64(v))
		}
		l.counts = append(l.counts, 1)
	}
	w, predicted := l.minimum(make([]float64, l.d)), make([]int32, t.test.N)
	for i := range predicted {
		score := 0.0
		for j, v := range t.test.DenseRow(row, i) {
			score += float64(w[j] * float64(v))
		}
		if score > 0 {
			predicted[i] = 1
		}
	}
	return wrong(predicted, t.test.Y), nil
}
