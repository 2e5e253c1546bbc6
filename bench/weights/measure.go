package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/metric"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// noise is one way to corrupt labels.
type noise struct {
	kind string
	rate float64
}

var noises = []noise{
	{"symmetric", 0}, {"symmetric", 0.2}, {"symmetric", 0.4}, {"symmetric", 0.6},
	{"pairwise", 0.2}, {"pairwise", 0.4}, {"pairwise", 0.45}, {"random", 0.6},
}

// String returns a heading.
func (o noise) String() string {
	if o.rate == 0 {
		return "no noise"
	}
	return fmt.Sprintf("%s %g %%", o.kind, 100*o.rate)
}

// matrix returns the confusion matrix; only random noise depends on the seed.
func (o noise) matrix(classes []string, seed uint64) (*confusion.Matrix, error) {
	switch o.kind {
	case "symmetric":
		return confusion.Symmetric(classes, o.rate)
	case "pairwise":
		return confusion.Pairwise(classes, o.rate)
	}
	return confusion.Random(classes, o.rate, seed)
}

// job is a measurement under way.
type job struct {
	ctx      context.Context
	engine   engine.Engine
	dir      string
	steps    int
	progress io.Writer
}

// set measures every noise on a set; errors are means over the seeds.
func (j job) set(s set, seeds int) (about, []cell, error) {
	if s.seeds > 0 {
		seeds = min(s.seeds, seeds)
	}
	steps, err := dataset.ParseSteps(cmp.Or(s.steps, dataset.DefaultSteps))
	if err != nil {
		return about{}, nil, err
	}
	all, err := s.train.read(j.dir, nil)
	if err != nil {
		return about{}, nil, err
	}
	train, test := all, (*dataset.Dataset)(nil)
	if s.test.path != "" {
		if test, err = s.test.read(j.dir, all); err != nil {
			return about{}, nil, err
		}
	}
	cells := make([]cell, len(noises))
	for seed := 1; seed <= seeds; seed++ {
		if s.test.path == "" {
			if train, test, err = s.split(all, uint64(seed)); err != nil {
				return about{}, nil, err
			}
		}
		fitted, err := dataset.Fit(steps, train.Examples)
		if err != nil {
			return about{}, nil, err
		}
		a, b := *train, *test // prepared
		if a.Examples, err = fitted.Apply(train.Examples); err != nil {
			return about{}, nil, err
		}
		if b.Examples, err = fitted.Apply(test.Examples); err != nil {
			return about{}, nil, err
		}
		for i, o := range noises {
			found, err := j.cell(&a, &b, o, uint64(seed))
			if err != nil {
				return about{}, nil, fmt.Errorf("%s, seed %d: %w", o, seed, err)
			}
			fmt.Fprintf(j.progress, "%s, %s, seed %d of %d: %.4f\n", s.name, o, seed, seeds, found)
			cells[i].set, cells[i].noise = s.name, o
			for c, e := range found {
				cells[i].errors[c] += e / float64(seeds)
			}
		}
	}
	divided := s.first == 0 && s.test.path == ""
	return about{s.name, train.N, test.N, train.D, len(train.Classes), steps.String(), seeds, divided}, cells, nil
}

// cell returns the error of each column on the true labels of test, or NaN if C
// cannot be inverted.
func (j job) cell(train, test *dataset.Dataset, o noise, seed uint64) (found [columns]float64, err error) {
	c, err := o.matrix(train.Classes, seed)
	if err != nil {
		return found, err
	}
	y, err := c.Inject(train.Y, seed)
	if err != nil {
		return found, err
	}
	if _, err := c.Invert(); err != nil {
		return [columns]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}, nil
	}
	if found, err = j.train(train, y, test, c); err != nil {
		return found, err
	}
	other, err := j.train(train, y, test, nil)
	found[unaware] = other[average]
	return found, err
}

// train trains on the noisy labels y and returns the error of each rule on test.
func (j job) train(train *dataset.Dataset, y []int32, test *dataset.Dataset,
	c *confusion.Matrix) (found [columns]float64, err error) {
	problem := &learners.Problem{X: train.Examples, Y: y, Q: len(train.Classes), Noise: c, Engine: j.engine}
	w := engine.NewWeights(problem.Q, problem.X.D)
	seen := &recorder{Params: &uma.Params{Select: uma.SelectError}, last: w, sum: make([]float64, len(w.W))}
	res, err := host.Run(j.ctx, seen, problem, host.RunOptions{MaxSteps: j.steps, Weights: learners.Best})
	// An interrupted run has a result too, but not the one that is measured here.
	if err = cmp.Or(err, j.ctx.Err()); err != nil {
		return found, err
	}
	for rule, w := range []engine.Weights{last: seen.last, average: seen.average(res.Steps), best: res.W} {
		predicted, err := engine.Predict(j.engine, w, test.Examples)
		if err != nil {
			return found, err
		}
		report, err := metric.Evaluate(test.Y, predicted, test.Classes)
		if err != nil {
			return found, err
		}
		found[rule] = report.ErrorRate
	}
	return found, nil
}

// recorder keeps what learners.Last and learners.Average would have returned, so that
// one run, with learners.Best, gives the weights of all three rules.
type recorder struct {
	learners.Params
	last engine.Weights
	sum  []float64 // of the weights after each step
}

// Start starts the learner, to look at its steps.
func (r *recorder) Start(ctx context.Context, p *learners.Problem) (learners.Learner, error) {
	l, err := r.Params.Start(ctx, p)
	return recorded{l, r}, err
}

type recorded struct {
	learners.Learner
	*recorder
}

// Step makes the learner's step.
func (r recorded) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	s, err := r.Learner.Step(ctx, w)
	if err == nil && !s.Done {
		copy(r.last.W, w.W)
		for i, v := range w.W {
			r.sum[i] += float64(v)
		}
	}
	return s, err
}

func (r *recorder) average(steps int) engine.Weights {
	w := engine.NewWeights(r.last.Q, r.last.D)
	for i, s := range r.sum {
		w.W[i] = float32(s / float64(max(steps, 1)))
	}
	return w
}
