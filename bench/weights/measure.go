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
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// way is a way to learn: what a step corrects, what is doubted, which weights are kept.
type way struct {
	name    string
	step    uma.Policy
	doubt   float64
	weights learners.Rule
}

// ways are those that are compared. Without C, which is the last column, it is the default.
var ways = []way{
	{"pair, best", uma.StepPair, 0, learners.Best},
	{"pair", uma.StepPair, 0, learners.BestAverage},
	{"region", uma.StepRegion, 0, learners.BestAverage},
	{"all, average", uma.StepAll, 0, learners.Average},
	{"all", uma.StepAll, 0, learners.BestAverage},
	{"all, doubt 1", uma.StepAll, 1, learners.BestAverage},
	{"all, doubt 1.4", uma.StepAll, 1.4, learners.BestAverage},
}

// params returns the parameters of w.
func (w way) params() *uma.Params {
	p := uma.Defaults()
	p.Step, p.Doubt = w.step, w.doubt
	return p
}

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
	log      *log
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
	for i, o := range noises {
		cells[i] = cell{s.name, o, make([]float64, len(ways)+1)}
	}
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
			found, err := j.cell(s.name, &a, &b, o, uint64(seed))
			if err != nil {
				return about{}, nil, fmt.Errorf("%s, seed %d: %w", o, seed, err)
			}
			fmt.Fprintf(j.progress, "%s, %s, seed %d of %d: %.4f\n", s.name, o, seed, seeds, found)
			for c, e := range found {
				cells[i].errors[c] += e / float64(seeds)
			}
		}
	}
	divided := s.first == 0 && s.test.path == ""
	return about{s.name, train.N, test.N, train.D, len(train.Classes), steps.String(), seeds, divided}, cells, nil
}

// cell returns the error of each way on the true labels of test, and that of learning without
// C; or NaN if C cannot be inverted. What the log has is not measured again.
func (j job) cell(name string, train, test *dataset.Dataset, o noise, seed uint64) ([]float64, error) {
	key := fmt.Sprintf("%s, %s, seed %d, %d steps, %d examples", name, o, seed, j.steps, train.N)
	if found, ok := j.log.found[key]; ok && len(found) == len(ways)+1 {
		return found, nil
	}
	c, err := o.matrix(train.Classes, seed)
	if err != nil {
		return nil, err
	}
	y, err := c.Inject(train.Y, seed)
	if err != nil {
		return nil, err
	}
	found := make([]float64, len(ways)+1)
	for i := range found {
		found[i] = math.NaN()
	}
	if _, err := c.Invert(); err != nil {
		return found, nil
	}
	for i, w := range ways {
		if found[i], err = j.train(train, y, test, c, w.params(), w.weights); err != nil {
			return nil, err
		}
	}
	if found[len(ways)], err = j.train(train, y, test, nil, uma.Defaults(), learners.BestAverage); err != nil {
		return nil, err
	}
	return found, j.log.add(key, found)
}

// train trains on the noisy labels y and returns the error on test.
func (j job) train(train *dataset.Dataset, y []int32, test *dataset.Dataset, c *confusion.Matrix,
	params *uma.Params, rule learners.Rule) (float64, error) {
	problem := &learners.Problem{X: train.Examples, Y: y, Q: len(train.Classes), Noise: c, Engine: j.engine}
	res, err := host.Run(j.ctx, params, problem, host.RunOptions{MaxSteps: j.steps, Weights: rule})
	// An interrupted run has a result too, but not the one that is measured here.
	if err = cmp.Or(err, j.ctx.Err()); err != nil {
		return 0, err
	}
	predicted, err := engine.Predict(j.engine, res.W, test.Examples)
	if err != nil {
		return 0, err
	}
	report, err := metric.Evaluate(test.Y, predicted, test.Classes)
	return report.ErrorRate, err
}
