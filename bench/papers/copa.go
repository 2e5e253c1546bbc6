package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

var copa = &experiment{
	Name: "copa", Usage: "COPA and the perceptron on classes of 90, 5 and 5 % (Section 4 of the " +
		"COPA paper)",
	Paper: "Ralaivola (2012), Section 4",
	About: "Three Gaussians in the plane, 2500 examples to learn from in 5 passes and 2500 to test " +
		"on; the average\n" +
		"of all weights is what predicts. COPA's aggressiveness is the one of least norm on a sample " +
		"of its own.\n" +
		"The paper's numbers for COPA do not go together: where a class has nine tenths of the " +
		"examples, a\n" +
		"confusion matrix of norm 0.105 or less, rows summing to 1, leaves an accuracy of 0.859 or more.",
	run: runCopa,
}

const (
	copaExamples = 2500 // to learn from, and as many to test on
	copaPasses   = 5
)

// aggressivenesses are those to choose from.
var aggressivenesses = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 2}

func runCopa(ctx context.Context, r *run) error {
	best, least := way{}, math.Inf(1)
	for _, c := range aggressivenesses {
		w := way{name: "copa", blind: true, steps: copaPasses, params: func() learners.Params {
			p := online.New("copa")
			p.Aggressiveness = c
			return p
		}}
		_, norm, err := r.onGaussians(ctx, w, r.Seed)
		if err != nil {
			return err
		}
		r.Note("aggressiveness %v: norm %.3f on the sample to choose by", c, norm)
		if norm < least {
			best, least, best.note = w, norm, fmt.Sprintf("aggressiveness %v", c)
		}
	}
	averaged := way{name: "perceptron", blind: true, steps: copaPasses, note: "averaged",
		params: func() learners.Params { return online.New("perceptron") }}
	var t tally
	for k, c := range []struct {
		way
		accuracy, norm float64 // the paper's
	}{{best, 0.85, 0.10}, {averaged, 0.86, 0.18}} {
		for i := range r.Runs {
			accuracy, norm, err := r.onGaussians(ctx, c.way, r.Seed+1+uint64(i))
			if err != nil {
				return err
			}
			row := Row{Data: "gaussians", Learner: c.name, Level: k, X: float64(k), Note: c.note}
			row.Measure, row.Paper = Accuracy, &c.accuracy
			t.add(row, accuracy)
			row.Measure, row.Paper = OperatorNorm, &c.norm
			t.add(row, norm)
		}
	}
	return r.writeAll(t)
}

// onGaussians draws a sample and learns from half of it.
func (r *run) onGaussians(ctx context.Context, w way, seed uint64) (accuracy, norm float64,
	err error) {
	rng := rand.New(rand.NewPCG(seed, gaussianStream))
	train, test := gaussians(rng, copaExamples), gaussians(rng, copaExamples)
	report, err := r.learn(ctx, w, trial{train: train, test: test, preparation: "none", seed: seed})
	return 1 - report.ErrorRate, report.OperatorNorm, err
}
