package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

var table1 = &Definition{
	Name: "table1", Usage: "learners on labels of a rough classifier (table 1 of the UMA paper)",
	Paper: "Louche & Ralaivola (2015), Table 1",
	About: "A rough classifier, Algorithm 2 with C = I, of 10, 50 and 20 examples a class labels all examples;\n" +
		"5 % of them, apart from these, tell C. Test error of the perceptron on its labels (f_y), on the 5 %\n" +
		"(f_conf) and on right labels (f_full), of UMA and of forward-corrected softmax. In the place of RCV1 stand\n" +
		"nine classes of Reuters-21578. The paper's column of a semi-supervised SVM is left out: no learner here\n" +
		"is one.",
	Sets: setNames(), run: runTable1,
}

func runTable1(ctx context.Context, r *run) error {
	for _, s := range sets {
		for _, name := range r.Sets {
			if name == s.name {
				if err := r.tableRows(ctx, s); err != nil {
					return fmt.Errorf("set %s: %w", s.name, err)
				}
			}
		}
	}
	return nil
}

// tableRows writes the rows of a set.
func (r *run) tableRows(ctx context.Context, s set) error {
	train, test, err := s.read(ctx, r)
	if err != nil {
		return err
	}
	columns := []string{rough, ofLabels, ofConf, ofFull, umaWay.name, forward.name}
	runs := map[string][]float64{}
	for k := range r.Runs {
		found, err := r.bootstrapped(ctx, s, train, test, r.Seed+uint64(k))
		if err != nil {
			return fmt.Errorf("run %d: %w", k+1, err)
		}
		for name, v := range found {
			runs[name] = append(runs[name], v)
		}
		r.Note("%s: run %d of %d, f_y %.3f, uma %.3f", s.name, k+1, r.Runs, found[ofLabels], found[umaWay.name])
	}
	for k, name := range columns {
		row := Row{Data: s.name, Learner: name, Level: k, X: float64(k), Measure: ErrorRate, Paper: s.paper[name],
			Note: s.note}
		if err := r.write(row, runs[name]); err != nil {
			return err
		}
	}
	return nil
}

// bootstrapped makes the steps of Section 4.2.1 and returns the test error of each column.
func (r *run) bootstrapped(ctx context.Context, s set, train, test *dataset.Dataset, seed uint64,
) (map[string]float64, error) {
	known := draw(train, s.perClass, seed)
	t := trial{train: pick(train, known.rough, train.Y), test: test, preparation: s.preparation(), seed: seed}
	m, err := r.fit(ctx, roughWay, t)
	if err != nil {
		return nil, fmt.Errorf("rough classifier: %w", err)
	}
	noisy := *train
	if noisy.Y, err = m.Predict(ctx, r.Engine, train.Examples); err != nil {
		return nil, err
	}
	noise, err := r.estimate(s, &noisy, train, known.conf)
	if err != nil {
		return nil, err
	}
	found := map[string]float64{}
	for _, c := range []struct {
		name string
		way
		on *dataset.Dataset
	}{
		{rough, roughWay, t.train},
		{ofLabels, perceptron, &noisy},
		{ofConf, perceptron, pick(train, known.conf, train.Y)},
		{ofFull, perceptron, part(train, 0, train.N)},
		{umaWay.name, umaWay, &noisy},
		{forward.name, forward, &noisy},
	} {
		t.train, t.noise = c.on, noise
		report, err := r.learn(ctx, c.way, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		found[c.name] = report.ErrorRate
	}
	return found, nil
}

// estimate returns C as the counts of some examples with both labels tell it, which is the paper's
// way; where it has no inverse, the estimate that a prior fills up.
func (r *run) estimate(s set, noisy, right *dataset.Dataset, of []int) (*confusion.Matrix, error) {
	var y, t []int32
	for _, i := range of {
		y, t = append(y, noisy.Y[i]), append(t, right.Y[i])
	}
	counts, err := confusion.CountLabels(len(right.Classes), y, t)
	if err != nil {
		return nil, err
	}
	c := &confusion.Matrix{Classes: right.Classes, P: columnsToOne(slices.Clone(counts), len(right.Classes))}
	_, fault := c.Invert() // of a class without examples too
	if fault == nil {
		return c, nil
	}
	r.Note("%s: %v; a prior fills C up", s.name, fault)
	e, err := confusion.FromCounts(right.Classes, counts, nil)
	if err != nil {
		return nil, err
	}
	return &e.Matrix, nil
}
