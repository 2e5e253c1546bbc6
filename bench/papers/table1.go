package main

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

var table1 = &experiment{
	Name: "table1", Usage: "learners on labels of a rough classifier (table 1 of the UMA paper)",
	Paper: "Louche & Ralaivola (2015), Table 1",
	About: `A rough classifier, Algorithm 2 with C = I, of 10, 50 and 20 examples a class labels all
examples; 5 % of them, apart from these, tell C. Test error of the perceptron on its labels (f_y),
on the 5 % (f_conf) and on right labels (f_full), of a semi-supervised SVM that has the labels of
the 5 % alone, of UMA (all mistakes a step, --doubt 0) and of forward-corrected softmax. In the
place of RCV1 stand nine classes of Reuters-21578.`,
	Sets: []string{"digits", "letter", "reuters"}, run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error { return r.tableRows(ctx, s) })
	},
}

func (r *run) tableRows(ctx context.Context, s set) error {
	train, test, err := s.read(ctx, r)
	if err != nil {
		return err
	}
	columns := []string{rough, ofLabels, ofConf, ofFull, ofS3VM, umaWay.name, forward.name}
	return r.repeat(ctx, s.name, func(seed uint64) error {
		known := draw(train, s.perClass, seed)
		t, err := r.bootstrap(ctx, s, train, test, known, seed)
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

// bootstrap returns the examples with the labels of the rough classifier, and C (Section 4.2.1).
func (r *run) bootstrap(ctx context.Context, s set, train, test *dataset.Dataset, known labelled,
	seed uint64) (trial, error) {
	t := trial{train: pick(train, known.rough, train.Y), test: test, preparation: s.preparation(),
		seed: seed}
	m, err := r.fit(ctx, roughWay, t)
	if err != nil {
		return t, err
	}
	noisy := *train
	if noisy.Y, err = m.Predict(ctx, r.Engine, train.Examples); err != nil {
		return t, err
	}
	t.train = &noisy
	t.noise, err = r.estimate(s, t.train, train, known.conf)
	return t, err
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
