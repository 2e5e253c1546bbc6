package main

import "context"

// What Section 4.1 says of the curves, in words alone.
var (
	paperUMA        = map[int]*float64{1: number(0.5), toyLevels: number(2.25)}
	paperPerceptron = map[int]*float64{1: number(1.7), toyLevels: number(2.75)}
	paperFactor     = map[int]*float64{0: number(2.6), 10: number(1.8), toyLevels: number(2.15)}
)

const toyAbout = "A toy of 10 classes, 1000 points of the unit circle (margin 0.025), tested on " +
	"10000: ‖Ĉ‖_F of\n" +
	"the predictions. Columns of M sum to 1 here (the paper draws rows, and inverts what has " +
	"columns). Of\n" +
	"each curve the paper's text tells the ends. UMA is the learner as it is by default, and the " +
	"paper's\n" +
	"Algorithm 2 to the letter: one pair of classes a step, 5000 steps, the last weights."

var figure1a = &experiment{
	Name: "fig1a", Usage: "UMA and perceptrons at 20 levels of noise (figure 1a of the UMA paper)",
	Paper: "Louche & Ralaivola (2015), Figure 1a", About: toyAbout, Axis: "‖C − diag(C)‖_F",
	run: runFigure1a,
}

var figure1b = &experiment{
	Name: "fig1b", Usage: "UMA told a C that is not quite that of the noise (figure 1b of the UMA " +
		"paper)",
	Paper: "Louche & Ralaivola (2015), Figure 1b", About: toyAbout, Axis: "approximation factor",
	run: runFigure1b,
}

// toys draws the problem of each run.
func (r *run) toys() ([]*toy, error) {
	all := make([]*toy, r.Runs)
	for k := range all {
		t, err := newToy(r.Seed + uint64(k))
		if err != nil {
			return nil, err
		}
		all[k] = t
	}
	return all, nil
}

// runFigure1a has labels of C_i learned with C_i, and without.
func runFigure1a(ctx context.Context, r *run) error {
	all, err := r.toys()
	if err != nil {
		return err
	}
	for i := 1; i <= toyLevels; i++ {
		x := make([]float64, r.Runs)
		for k, t := range all {
			x[k] = offDiagonal(t.level(i))
		}
		at, _ := meanAndError(x)
		for _, c := range []struct {
			way
			paper *float64
		}{{umaWay, paperUMA[i]}, {umaPair, paperUMA[i]}, {umaBlind, paperPerceptron[i]}, {perceptron,
			nil}} {
			row := Row{Data: "toy", Learner: c.name, Level: i, X: at, Measure: Frobenius, Paper: c.paper}
			if err := r.toyRow(ctx, row, c.way, all, i, i); err != nil {
				return err
			}
		}
		r.Note("%s: level %d of %d", r.name, i, toyLevels)
	}
	return nil
}

// runFigure1b has labels of M learned with C_0 to C_20: ρ = 1 to -1.
func runFigure1b(ctx context.Context, r *run) error {
	all, err := r.toys()
	if err != nil {
		return err
	}
	for i := 0; i <= toyLevels; i++ {
		x := float64(10-i) / 10
		for _, w := range []way{umaWay, umaPair} {
			row := Row{Data: "toy", Learner: w.name, Level: i, X: x, Measure: Frobenius,
				Paper: paperFactor[i]}
			if err := r.toyRow(ctx, row, w, all, 10, i); err != nil {
				return err
			}
		}
		r.Note("%s: approximation factor %v", r.name, x)
	}
	return nil
}

// toyRow learns from labels of one level with the C of another, once a run.
func (r *run) toyRow(ctx context.Context, row Row, w way, all []*toy, labels, told int) error {
	runs := make([]float64, len(all))
	for k, t := range all {
		seed := r.Seed + uint64(k)
		noisy, err := t.noisy(labels, seed)
		if err != nil {
			return err
		}
		report, err := r.learn(ctx, w, trial{noisy, t.test, t.level(told), "none", seed})
		if err != nil {
			return err
		}
		runs[k] = norm(report)
	}
	return r.write(row, runs)
}
