package main

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

var figure5 = &experiment{
	Name: "fig5", Usage: "three choices of the pair to correct, step by step (figure 5)",
	Paper: "Louche & Ralaivola (2015), Figure 5", Axis: "steps", Sets: []string{"reuters"},
	About: "The paper's Algorithm 2 (one pair of classes a step, the last weights) learns from the " +
		"labels\n" +
		"of table1. A pair is chosen by error, by confusion or at random. Rows are the test error and\n" +
		"the confusion rate after each step. The paper says that the curves are stable from about\n" +
		"step 30 on, and that each of the first two choices is the best by its own measure.",
	run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error { return r.selectionRows(ctx, s, stepsShown) })
	},
}

// selections are the curves.
var selections = []string{uma.SelectError, uma.SelectConfusion, uma.SelectRandom}

// stepsShown are the places on the axis.
var stepsShown = []int{1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 70, 100, 200}

// selecting is Algorithm 2 with a choice, ended after some steps.
func selecting(s string, steps int) way {
	return way{name: s, rule: learners.Last, steps: steps, params: func() learners.Params {
		p := uma.Defaults()
		p.Step, p.Doubt, p.Select = uma.StepPair, 0, s
		return p
	}}
}

// selectionRows writes the rows of a set, after each number of steps.
func (r *run) selectionRows(ctx context.Context, s set, after []int) error {
	train, test, err := s.read(ctx, r)
	if err != nil {
		return err
	}
	trials := make([]trial, r.Runs)
	for k := range trials {
		if trials[k], err = r.bootstrapTrial(ctx, s, train, test, r.Seed+uint64(k)); err != nil {
			return fmt.Errorf("run %d: %w", k+1, err)
		}
	}
	var found tally
	for at, steps := range after {
		for _, choice := range selections {
			for k, t := range trials {
				report, err := r.learn(ctx, selecting(choice, steps), t)
				if err != nil {
					return fmt.Errorf("run %d: %w", k+1, err)
				}
				row := Row{Data: s.name, Learner: choice, Level: at, X: float64(steps),
					Measure: ErrorRate, Note: s.note}
				found.add(row, report.ErrorRate)
				row.Measure = ConfusionRate
				found.add(row, report.ConfusionRate)
			}
		}
		r.Note("%s: %d steps", s.name, steps)
	}
	return r.writeAll(found)
}
