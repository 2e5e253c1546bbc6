package main

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

var table1 = &experiment{
	Name: "table1", Usage: "learners on labels of a rough classifier (table 1 of the UMA paper)",
	Paper: "Louche & Ralaivola (2015), Table 1",
	About: `A rough classifier, Algorithm 2 with C = I, of 10, 50 and 20 examples a class labels all
examples; 5 % of them, apart from these, tell C. Test error of the perceptron on its labels (f_y),
on the 5 % (f_conf) and on right labels (f_full), of a semi-supervised SVM that has the labels of
the 5 % alone, of UMA (all mistakes a step, --doubt 0) and of forward-corrected softmax. In the
place of RCV1 stand nine classes of Reuters-21578.`,
	Sets: setNames, run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error { return r.tableRows(ctx, s) })
	},
}

const sizesAbout = `As table1, with as many examples that tell C as the axis says; of 5 % the
paper's text has numbers, and its figures are not read off. `

var figure3 = &experiment{
	Name: "fig3", Usage: "UMA and a perceptron by the size of the labelled sample (figure 3)",
	Paper: "Louche & Ralaivola (2015), Figure 3", Axis: "examples with right labels",
	Sets:  []string{"reuters"},
	About: sizesAbout + "The rough classifier is shown 70 examples a class.",
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
	Paper: "Louche & Ralaivola (2015), Figure 4", Axis: "examples with right labels", Sets: setNames,
	About: sizesAbout + "The paper made 15 runs. The SVM takes hours on letter.",
	run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error {
			return r.sizeRows(ctx, s, []string{umaWay.name, ofS3VM}, sizes)
		})
	},
}

var figure5 = &experiment{
	Name: "fig5", Usage: "three choices of the pair to correct, step by step (figure 5)",
	Paper: "Louche & Ralaivola (2015), Figure 5", Axis: "steps", Sets: []string{"reuters"},
	About: `The paper's Algorithm 2 (one pair of classes a step, the last weights) learns from the
labels of table1. A pair is chosen by error, by confusion or at random. Rows are the test error and
the confusion rate after each step. The paper says that the curves are stable from about step 30 on,
and that each of the first two choices is the best by its own measure.`,
	run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error { return r.selectionRows(ctx, s, stepsShown) })
	},
}

// sizes are the shares of the examples that tell C, stepsShown the steps of figure 5.
var (
	sizes      = []float64{0.01, 0.02, 0.03, confShare, 0.08, 0.12, 0.2}
	stepsShown = []int{1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 70, 100, 200}
)

// tableRows measures the columns of table 1 on a set.
func (r *run) tableRows(ctx context.Context, s set) error {
	train, test, err := s.read(ctx, r)
	if err != nil {
		return err
	}
	columns := []string{rough, ofLabels, ofConf, ofFull, ofS3VM, umaWay.name, forward.name}
	return r.repeat(ctx, s.name, func(seed uint64) error {
		known := draw(train, s.perClass, confShare, seed)
		t, err := r.bootstrap(ctx, s, train, test, seed)
		if err != nil {
			return err
		}
		for at, name := range columns {
			v, err := r.column(ctx, name, t, train, known, seed)
			if err != nil {
				return err
			}
			r.add(Row{Data: s.name, Learner: name, Level: at, X: float64(at), Measure: ErrorRate,
				Paper: s.paper[name], Note: s.note}, v)
		}
		return nil
	})
}

// column returns the test error of a column of table 1: of what learns from t, whose labels are the
// rough classifier's, or from right labels of train.
func (r *run) column(ctx context.Context, name string, t trial, train *dataset.Dataset,
	known labelled, seed uint64) (float64, error) {
	w := perceptron
	switch name {
	case ofS3VM:
		return r.semiSupervised(ctx, train, t.test, known.conf, seed)
	case rough:
		w, t.train = roughWay, pick(train, known.rough, train.Y)
	case ofConf:
		t.train = pick(train, known.conf, train.Y)
	case ofFull:
		t.train = part(train, 0, train.N)
	case umaWay.name:
		w = umaSure
	case forward.name:
		w = forward
	}
	return r.errorRate(ctx, w, t)
}

// sizeRows measures columns on a set, for each size of the sample that tells C. A run has one rough
// classifier for all sizes.
func (r *run) sizeRows(ctx context.Context, s set, names []string, sizes []float64) error {
	train, test, err := s.read(ctx, r)
	if err != nil {
		return err
	}
	return r.repeat(ctx, s.name, func(seed uint64) error {
		noisy, err := r.roughly(ctx, s, train, draw(train, s.perClass, 0, seed).rough, seed)
		if err != nil {
			return err
		}
		t := trial{train: noisy, test: test, preparation: s.preparation(), seed: seed}
		for at, share := range sizes {
			known := draw(train, s.perClass, share, seed)
			for _, name := range names {
				if name == umaWay.name {
					if t.noise, err = r.estimate(s, noisy, train, known.conf); err != nil {
						return err
					}
				}
				v, err := r.column(ctx, name, t, train, known, seed)
				if err != nil {
					return err
				}
				row := Row{Data: s.name, Learner: name, Level: at, X: float64(int(share * float64(train.N))),
					Measure: ErrorRate, Note: s.note}
				if share == confShare {
					row.Paper = s.paper[name]
				}
				r.add(row, v)
			}
		}
		return nil
	})
}

// selectionRows measures the choices of a pair on a set, after each number of steps.
func (r *run) selectionRows(ctx context.Context, s set, after []int) error {
	train, test, err := s.read(ctx, r)
	if err != nil {
		return err
	}
	return r.repeat(ctx, s.name, func(seed uint64) error {
		t, err := r.bootstrap(ctx, s, train, test, seed)
		if err != nil {
			return err
		}
		for at, steps := range after {
			for _, choice := range []string{uma.SelectError, uma.SelectConfusion, uma.SelectRandom} {
				report, err := r.learn(ctx, pairWay(choice, steps, choice), t)
				if err != nil {
					return err
				}
				row := Row{Data: s.name, Learner: choice, Level: at, X: float64(steps),
					Measure: ErrorRate, Note: s.note}
				r.add(row, report.ErrorRate)
				row.Measure = ConfusionRate
				r.add(row, report.ConfusionRate)
			}
		}
		return nil
	})
}

// bootstrap returns the examples with the labels of the rough classifier, and C (Section 4.2.1).
func (r *run) bootstrap(ctx context.Context, s set, train, test *dataset.Dataset, seed uint64,
) (trial, error) {
	known := draw(train, s.perClass, confShare, seed)
	t := trial{test: test, preparation: s.preparation(), seed: seed}
	var err error
	if t.train, err = r.roughly(ctx, s, train, known.rough, seed); err != nil {
		return t, err
	}
	t.noise, err = r.estimate(s, t.train, train, known.conf)
	return t, err
}

// roughly returns the examples with the labels of a classifier that was shown some of them with
// right ones.
func (r *run) roughly(ctx context.Context, s set, train *dataset.Dataset, shown []int, seed uint64,
) (*dataset.Dataset, error) {
	m, err := r.fit(ctx, roughWay, trial{train: pick(train, shown, train.Y),
		preparation: s.preparation(), seed: seed})
	if err != nil {
		return nil, err
	}
	noisy := *train
	noisy.Y, err = m.Predict(ctx, r.Engine, train.Examples)
	return &noisy, err
}

// estimate returns C as the counts of some examples with both labels tell it, which is the paper's
// way; where it has no inverse, the estimate that a prior fills up.
func (r *run) estimate(s set, noisy, right *dataset.Dataset, of []int) (*confusion.Matrix, error) {
	var y, t []int32
	for _, i := range of {
		y, t = append(y, noisy.Y[i]), append(t, right.Y[i])
	}
	counts, err := estimate.CountLabels(len(right.Classes), y, t)
	if err != nil {
		return nil, err
	}
	c := &confusion.Matrix{Classes: right.Classes, P: columnsToOne(slices.Clone(counts),
		len(right.Classes))}
	_, fault := c.Invert() // of a class without examples too
	if fault == nil {
		return c, nil
	}
	r.Note("%s: %v; a prior fills C up", s.name, fault)
	e, err := estimate.FromCounts(right.Classes, counts, nil)
	if err != nil {
		return nil, err
	}
	return &e.Matrix, nil
}
