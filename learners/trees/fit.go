package trees

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Watch follows a fit.
type Watch struct {
	// From is where the fit continues; nil to begin.
	From *State
	// Most is how many rounds, or trees of a forest, the model has at most; 0 for no limit.
	Most int
	// Step, if not nil, is called after each round or tree of the model itself. The state is the
	// fit's and changes after the call. If it returns an error, the fit ends with it.
	Step func(s *State) error
	// Note, if not nil, receives remarks for the user, and what was tried.
	Note func(format string, args ...any)
}

// State is what a fit continues from to the same bits.
type State struct {
	Settled Params // all values chosen
	// Temperature of the scores, by examples held out: 1 if nothing was chosen, 0 if they say nothing
	// of the labels.
	Temperature float32
	Model       *ensemble.Model // with the trees that are done
	// Scores are Model's of the examples, N×Q, where boosting has ended without an error; else nil.
	Scores []float32
}

// data are the examples of a problem in bins, and what is known of their labels.
type data struct {
	problem *learners.Problem
	columns []ensemble.Column
	source  []int
	binned  dataset.Binned
	labels  learners.Labels
	c       []float64 // the confusion matrix, Q×Q
}

// load bins the examples of a problem. e says how a table became its features; nil for features
// that are all numbers.
func load(p *Params, problem *learners.Problem, e *dataset.Encoding) (*data, error) {
	if err := learners.Check(p); err != nil {
		return nil, err
	}
	if err := problem.Check(); err != nil {
		return nil, err
	}
	labels, err := learners.NewLabels(p.correcting(), problem)
	if err != nil {
		return nil, err
	}
	d := &data{problem: problem, labels: labels, c: p.correcting().Confusion(problem)}
	if d.columns, d.source = ensemble.ColumnsOf(e, problem.X.D); len(d.columns) == 0 {
		return nil, fmt.Errorf("trees: found no column of numbers or categories, wanted one; use a " +
			"linear learner for texts")
	}
	ensemble.FindBins(d.columns, problem.X)
	d.binned = ensemble.Bin(d.columns, problem.X)
	return d, nil
}

// Fit fits trees to a problem, whose examples are not prepared: values as they are, or encoded as e
// says. It chooses the values of parameters that are 0. With an error that ends the growing, it
// also returns what has grown.
func Fit(ctx context.Context, p *Params, problem *learners.Problem, e *dataset.Encoding, w Watch,
) (*State, error) {
	d, err := load(p, problem, e)
	if err != nil {
		return nil, err
	}
	state := w.From
	if state == nil {
		settled, temperature, err := settle(ctx, *p, d, w.Note)
		if err != nil {
			return nil, err
		}
		state = &State{Settled: settled, Temperature: temperature, Model: d.begin(&settled)}
	}
	var step func() error
	if w.Step != nil {
		step = func() error { return w.Step(state) }
	}
	settled := state.Settled
	if w.Most > 0 {
		settled.Rounds = min(settled.Rounds, w.Most)
	}
	state.Scores, err = d.fit(ctx, &settled, state.Model, nil, step)
	return state, err
}

// begin returns a model without trees.
func (d *data) begin(p *Params) *ensemble.Model {
	m := &ensemble.Model{Q: d.problem.Q, Mode: p.Mode, Columns: d.columns, Source: d.source,
		Gain: make([]float64, len(d.columns)), Base: make([]float32, d.problem.Q)}
	m.Unmix = m.Mode == Forest && p.Correction == learners.Forward && d.problem.Noise != nil
	if m.Mode == Boost {
		m.Base = base(priors(d.labels.Targets, d.binned.N, m.Q))
	} else {
		m.Base = d.sampler(nil).shares()
	}
	return m
}

// fit adds the trees that the model lacks, learned from the examples that are not held out. It
// calls step, if not nil, after each round, and ends with its error. It returns the scores of all
// examples by boosting, N×Q; nil of a forest.
func (d *data) fit(ctx context.Context, p *Params, m *ensemble.Model, held []bool,
	step func() error) ([]float32, error) {
	if m.Mode == Forest {
		return nil, forest(ctx, p, d, d.sampler(held), m, step)
	}
	b, err := newBoosting(p, d, m, held)
	if err != nil {
		return nil, err
	}
	defer b.bins.Close() // nothing is lost by a fault here
	for done := m.Steps(); done < p.Rounds; done++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.round(); err != nil {
			return nil, err
		}
		if step == nil {
			continue
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	scores := make([]float32, b.n*m.Q)
	return scores, b.bins.Scores(scores, 0, b.n)
}

// sampler returns what draws the samples of a forest.
func (d *data) sampler(held []bool) *sampler {
	return &sampler{seed: d.problem.Seed, n: d.binned.N, q: d.problem.Q, y: d.problem.Y,
		classes: d.labels.Classes, weight: d.labels.Targets.Weight, held: held}
}

// newGrower returns a grower of trees of a model, which adds its gains.
func newGrower(bins *engine.Bins, m *ensemble.Model) grower {
	g := grower{bins: bins, gains: m.Gain}
	for f := range m.Columns {
		g.counts = append(g.counts, m.Columns[f].Bins())
		g.category = append(g.category, m.Columns[f].Levels != nil)
	}
	return g
}
