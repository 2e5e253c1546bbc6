package main

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

const sizesAbout = "As table1, with as many examples that tell C as the axis says; of 5 %% the " +
	"paper's text has\nnumbers, and its figures are not read off. %s"

var figure3 = &experiment{
	Name: "fig3", Usage: "UMA and a perceptron by the size of the labelled sample (figure 3)",
	Paper: "Louche & Ralaivola (2015), Figure 3", Axis: "examples with right labels",
	Sets:  []string{"reuters"},
	About: fmt.Sprintf(sizesAbout, "The rough classifier is shown 70 examples a class."),
	run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error {
			s.perClass = 70
			s.paper = map[string]*float64{umaWay.name: number(0.11), ofConf: s.paper[ofConf]}
			return r.sizeRows(ctx, s, []string{umaWay.name, ofConf}, sizes)
		})
	},
}

var figure4 = &experiment{
	Name: "fig4", Usage: "UMA and a semi-supervised SVM by the size of that sample (figure 4)",
	Paper: "Louche & Ralaivola (2015), Figure 4", Axis: "examples with right labels", Sets: setNames(),
	About: fmt.Sprintf(sizesAbout, "The paper made 15 runs. The SVM takes hours on letter."),
	run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error {
			return r.sizeRows(ctx, s, []string{umaWay.name, ofS3VM}, sizes)
		})
	},
}

// sizes are the shares of the examples that tell C.
var sizes = []float64{0.01, 0.02, 0.03, confShare, 0.08, 0.12, 0.2}

// sizeRows writes the rows of a set, a few for each size. A run has one rough classifier for all
// sizes.
func (r *run) sizeRows(ctx context.Context, s set, names []string, sizes []float64) error {
	train, test, err := s.read(ctx, r)
	if err != nil {
		return err
	}
	var t tally
	for k := range r.Runs {
		seed := r.Seed + uint64(k)
		noisy, err := r.roughly(ctx, s, train, draw(train, s.perClass, 0, seed).rough, seed)
		if err != nil {
			return fmt.Errorf("run %d: %w", k+1, err)
		}
		for at, share := range sizes {
			conf := draw(train, s.perClass, share, seed).conf
			for _, name := range names {
				v, err := r.bySample(ctx, s, name, train, test, noisy, conf, seed)
				if err != nil {
					return fmt.Errorf("run %d: %s: %w", k+1, name, err)
				}
				row := Row{Data: s.name, Learner: name, Level: at, X: float64(int(share * float64(train.N))),
					Measure: ErrorRate, Note: s.note}
				if share == confShare {
					row.Paper = s.paper[name]
				}
				t.add(row, v)
			}
		}
		r.Note("%s: run %d of %d", s.name, k+1, r.Runs)
	}
	return r.writeAll(t)
}

// bySample returns the test error of UMA, told the C that the examples conf tell; of f_conf; or of
// the semi-supervised SVM.
func (r *run) bySample(ctx context.Context, s set, name string, train, test, noisy *dataset.Dataset,
	conf []int, seed uint64) (float64, error) {
	t := trial{train: noisy, test: test, preparation: s.preparation(), seed: seed}
	w := umaSure
	switch name {
	case ofS3VM:
		return r.semiSupervised(ctx, train, test, conf, seed)
	case ofConf:
		w, t.train = perceptron, pick(train, conf, train.Y)
	default:
		var err error
		if t.noise, err = r.estimate(s, noisy, train, conf); err != nil {
			return 0, err
		}
	}
	report, err := r.learn(ctx, w, t)
	return report.ErrorRate, err
}
