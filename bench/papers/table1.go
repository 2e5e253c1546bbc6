package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

var table1 = &experiment{
	Name: "table1", Usage: "learners on labels of a rough classifier (table 1 of the UMA paper)",
	Paper: "Louche & Ralaivola (2015), Table 1",
	About: "A rough classifier, Algorithm 2 with C = I, of 10, 50 and 20 examples a class labels " +
		"all examples;\n" +
		"5 % of them, apart from these, tell C. Test error of the perceptron on its labels (f_y), on " +
		"the 5 %\n" +
		"(f_conf) and on right labels (f_full), of a semi-supervised SVM that has the labels of the 5 " +
		"% alone, of\n" +
		"UMA (all mistakes a step, --doubt 0) and of forward-corrected softmax. In the place of RCV1 " +
		"stand nine\n" +
		"classes of Reuters-21578.",
	Sets: setNames(), run: func(ctx context.Context, r *run) error {
		return r.eachSet(func(s set) error { return r.tableRows(ctx, s) })
	},
}

// tableRows writes the rows of a set.
func (r *run) tableRows(ctx context.Context, s set) error {
	train, test, err := s.read(ctx, r)
	if err != nil {
		return err
	}
	columns := []string{rough, ofLabels, ofConf, ofFull, ofS3VM, umaWay.name, forward.name}
	var t tally
	for k := range r.Runs {
		found, err := r.bootstrapped(ctx, s, train, test, r.Seed+uint64(k))
		if err != nil {
			return fmt.Errorf("run %d: %w", k+1, err)
		}
		for at, name := range columns {
			t.add(Row{Data: s.name, Learner: name, Level: at, X: float64(at), Measure: ErrorRate,
				Paper: s.paper[name], Note: s.note}, found[name])
		}
		r.Note("%s: run %d of %d, f_y %.3f, uma %.3f", s.name, k+1, r.Runs, found[ofLabels],
			found[umaWay.name])
	}
	return r.writeAll(t)
}

// bootstrapped makes the steps of Section 4.2.1 and returns the test error of each column.
func (r *run) bootstrapped(ctx context.Context, s set, train, test *dataset.Dataset, seed uint64,
) (map[string]float64, error) {
	known := draw(train, s.perClass, confShare, seed)
	t, err := r.bootstrapTrial(ctx, s, train, test, seed)
	if err != nil {
		return nil, err
	}
	noisy := t.train
	found := map[string]float64{}
	if found[ofS3VM], err = r.semiSupervised(ctx, train, test, known.conf, seed); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name string
		way
		on *dataset.Dataset
	}{
		{rough, roughWay, pick(train, known.rough, train.Y)},
		{ofLabels, perceptron, noisy},
		{ofConf, perceptron, pick(train, known.conf, train.Y)},
		{ofFull, perceptron, part(train, 0, train.N)},
		{umaSure.name, umaSure, noisy},
		{forward.name, forward, noisy},
	} {
		t.train = c.on
		report, err := r.learn(ctx, c.way, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		found[c.name] = report.ErrorRate
	}
	return found, nil
}

// bootstrapTrial returns the examples with the labels of the rough classifier, and C.
func (r *run) bootstrapTrial(ctx context.Context, s set, train, test *dataset.Dataset,
	seed uint64) (trial, error) {
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
		return nil, fmt.Errorf("rough classifier: %w", err)
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
