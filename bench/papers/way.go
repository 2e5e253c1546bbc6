package main

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

type way struct {
	name   string
	params func() learners.Params
	blind  bool             // is not told C
	kernel *fitting.Options // nil for a linear model
	rule   learners.Rule    // "" for the learner's default
	steps  int              // at most; 0 for the learner's default
	note   string
}

var (
	umaWay = way{name: "uma", params: umaBy(func(*uma.Params) {})}
	// It doubts no update vector: labels that a classifier gave are no random ones, as doubts presume.
	umaSure = way{name: umaWay.name, params: umaBy(func(p *uma.Params) { p.Doubt = 0 })}
	// The paper's Algorithm 2 to the letter, with α = 0.
	umaPair = way{name: "uma, a pair a step", rule: learners.Last, steps: 5000,
		params: umaBy(func(p *uma.Params) { p.Step, p.Doubt = uma.StepPair, 0 })}
	umaBlind = way{name: "uma, C = I", params: umaWay.params, blind: true}
	roughWay = way{name: "rough", params: umaPair.params, rule: umaPair.rule, steps: umaPair.steps,
		blind: true}
	// The perceptron of the papers averages nothing.
	perceptron = way{name: "perceptron", blind: true, params: func() learners.Params {
		p := online.New("perceptron")
		p.NoAverage = true
		return p
	}}
	forward = way{name: "softmax", params: func() learners.Params { return softmax.Defaults() }}
)

func umaBy(set func(*uma.Params)) func() learners.Params {
	return func() learners.Params {
		p := uma.Defaults()
		set(p)
		return p
	}
}

type trial struct {
	train, test *dataset.Dataset // the labels of train may be wrong
	noise       *confusion.Matrix
	preparation string
	seed        uint64
}

// learn trains in a way and judges by the test examples.
func (r *run) learn(ctx context.Context, w way, t trial) (metric.Report, error) {
	trained, err := r.fit(ctx, w, t)
	if err != nil {
		return metric.Report{}, err
	}
	return r.judge(ctx, trained, t)
}

// errorRate is learn for the test error alone.
func (r *run) errorRate(ctx context.Context, w way, t trial) (float64, error) {
	report, err := r.learn(ctx, w, t)
	return report.ErrorRate, err
}

// judge counts what a model predicts of the test examples.
func (r *run) judge(ctx context.Context, trained *host.Trained, t trial) (metric.Report, error) {
	predicted, err := trained.Predict(ctx, r.Engine, t.test.Examples)
	if err != nil {
		return metric.Report{}, err
	}
	return metric.Evaluate(t.test.Y, predicted, t.test.Classes)
}

// fit trains in a way, without C if the way is blind.
func (r *run) fit(ctx context.Context, w way, t trial) (*host.Trained, error) {
	if w.blind {
		t.noise = nil
	}
	trained, err := host.Train(ctx, t.train, t.noise, host.Options{
		Engine: r.Engine, Learner: w.params(), Preparation: t.preparation, Seed: t.seed,
		Kernel: w.kernel, Weights: w.rule, MaxSteps: w.steps})
	if err == nil {
		err = ctx.Err() // an interrupted run has a model too, but not the one that is measured here
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	return trained, nil
}

// agreeing counts the predictions that are right.
func agreeing(predicted, right []int32) (n int) {
	for i, k := range right {
		if predicted[i] == k {
			n++
		}
	}
	return n
}

// wrong returns the share of predictions that are not right.
func wrong(predicted, right []int32) float64 {
	return float64(len(right)-agreeing(predicted, right)) / float64(len(right))
}
