// Package bpm is the Bayes point machine. Its weights are the centre of the version space, the set
// of all weights that are right about the examples. The centre predicts about as the majority of
// these weights. Each class has its own centre, against the rest.
//
// Walls are soft (versionspace.Soft), by the softness λ for examples that no weights are right
// about, and by C for labels that are wrong: that example i has label y is evidence
//
//	of class r           C[y][r]
//	of the rest          Σ_{t≠r} C[y][t]·π_t / Σ_{t≠r} π_t
//
// where π_t is the probability of class t as the other examples have it, by the pass before.
// Expectation propagation finds the centres, W_r being that of class r in units of its mean doubt,
// so that scores of classes compare as the shares of weights do that vote for them.
//
// Passes are the host's; the engine counts predictions. All is float64, in a fixed order, each
// product rounded before it is added, until W is rounded to float32.
package bpm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/versionspace"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// run is the learner in the middle of a run.
type run struct {
	Params
	problem   *learners.Problem
	scorer    engine.Scorer
	predicted []int32
	columns   []int     // of X, in which there is anything: in the others the centre is 0
	noise     []float64 // C, Q×Q; nil if all labels are right
	machines  []*machine
	closed    bool
}

// machine finds the centre of one class against the rest.
type machine struct {
	class    int
	centre   *versionspace.Propagation
	evidence []versionspace.Evidence
}

// Start implements learners.Params.
func (p *Params) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	scorer, err := problem.Load()
	if err != nil {
		return nil, err
	}
	l := &run{Params: *p, problem: problem, scorer: scorer, noise: noise(problem)}
	if err := l.begin(); err != nil {
		return nil, errors.Join(err, scorer.Close())
	}
	return l, nil
}

// begin makes the machines: of two classes that of the second, which the first mirrors.
func (l *run) begin() error {
	x, q := l.problem.X, l.problem.Q
	classes := learners.AllClasses(q)
	if q == 2 {
		classes = classes[1:]
	}
	l.columns = used(x)
	d := len(l.columns)
	if err := memory.Check(memory.Sum(memory.Product(x.N, d, 16), memory.Product(len(classes), d, d,
		8),
		memory.Product(len(classes), x.N, 64)),
		"the examples and their covariances, d×d for each class, of a Bayes point "+
			"machine (too many features? fewer kernel components take less)"); err != nil {
		return err
	}
	l.predicted = make([]int32, x.N)
	space, err := versionspace.NewSoft(d, rows(x, l.columns), l.Softness)
	if err != nil {
		return fmt.Errorf("bpm: %w", err)
	}
	for _, r := range classes {
		l.machines = append(l.machines, &machine{
			class: r, centre: space.Propagate(), evidence: make([]versionspace.Evidence, x.N),
		})
	}
	return nil
}

// Count implements learners.Learner.
func (l *run) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64,
	err error) {
	return learners.CountScored(l.scorer, w, changed, l.predicted, l.problem.Y)
}

// Step implements learners.Learner: a pass of each machine that still moves; of all if what one
// finds is evidence for the others.
func (l *run) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if l.closed {
		return s, fmt.Errorf("bpm: %w", engine.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return s, err
	}
	var left []*machine
	for _, m := range l.machines {
		if m.centre.Moved() > l.Tolerance {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return learners.Step{Done: true}, nil
	}
	if l.mutual() {
		left = l.machines
	}
	l.witness(left)
	failed := make([]error, len(left))
	parallel.Tasks(len(left), func(k int) { failed[k] = left[k].centre.Pass(left[k].evidence) })
	if err := errors.Join(failed...); err != nil {
		return s, fmt.Errorf("bpm: %w", err)
	}
	most, unfinished := 0.0, 0
	for _, m := range left {
		most = max(most, m.centre.Moved())
		if m.centre.Moved() > l.Tolerance {
			unfinished++
		}
		s.Changed = append(s.Changed, l.write(m, w)...)
	}
	if slices.ContainsFunc(w.W, func(v float32) bool { return v-v != 0 }) {
		return s, errors.New("bpm: found weights too large for float32; normalise the features, or " +
			"take a greater softness")
	}
	if unfinished > 0 {
		s.Doubts = learners.EndInDoubt("allow more steps, or take a greater softness",
			"bpm: ended before the centre: "+
				"predictions still move by %.2g of their doubt, wanted %.2g", most, l.Tolerance)
	}
	s.Fields = []learners.Field{{Name: "moved", Value: most}, {Name: "unfinished", Value: unfinished}}
	return s, nil
}

// write writes the weights of a machine to rows of w, and returns which.
func (l *run) write(m *machine, w engine.Weights) (classes []int) {
	by := 1 / (math.Sqrt(l.Softness) * m.centre.Doubt())
	row := w.Row(m.class)
	clear(row)
	centre := m.centre.Centre()
	for k, j := range l.columns {
		row[j] = float32(centre[k] * by)
	}
	if len(l.machines) > 1 {
		return []int{m.class}
	}
	for j, v := range row {
		w.Row(0)[j] = 0 - v
	}
	return []int{0, 1}
}

// Close implements learners.Learner.
func (l *run) Close() error {
	l.closed = true
	return l.scorer.Close()
}
