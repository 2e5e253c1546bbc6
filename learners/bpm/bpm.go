// Package bpm is the Bayes point machine. Its weights are the centre of the version space, the set
// of all weights that classify the examples correctly. The centre predicts about as the majority of
// these weights. There is one centre for each class, against the rest.
//
// The version space is soft: the softness λ allows for examples that no weights classify correctly,
// and C for wrong labels. Label y of example i has the likelihood
//
//	C[y][r]                                     if the true class is r
//	Σ_{t≠r} C[y][t]·π_t / Σ_{t≠r} π_t           if it is another one
//
// where π_t is the probability of class t given the other examples, from the previous pass.
// Expectation propagation finds the centres. W_r is the centre of class r in units of its mean
// doubt, so scores of classes compare as the shares of weights that vote for them.
//
// Passes run on the host; the engine counts predictions. All arithmetic is float64 in a fixed
// order, each product rounded before it is added, until W is rounded to float32.
package bpm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Softness  float64 // λ, in units of ‖x‖²; 1e-12 to 1e12
	Tolerance float64 // largest error of a prediction, in units of its doubt; > 0
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params { return &Params{Softness: 0.03, Tolerance: 0.01} }

func (p *Params) Definition() *learners.Definition {
	return &learners.Definition{
		Name: "bpm",
		Summary: "Bayes point machine: the centre of all weights that classify the examples correctly, " +
			"as far as labels are right",
		Paper: "Herbrich, Graepel & Campbell, Bayes point machines, Journal of Machine Learning " +
			"Research 1, 2001; the centre: Minka, A family of algorithms for approximate Bayesian " +
			"inference (thesis), 2001, chapter 4; " +
			"Louche, From confusion noise to active learning (thesis), 2016, chapter 5",
		Step:     "a pass of expectation propagation over all examples, for each class",
		MaxSteps: 100,
		Weights:  []learners.Rule{learners.Last},
		New:      func() learners.Params { return Defaults() },

		Loads: learners.LoadsScorer,

		Parameters: []learners.Parameter{
			learners.Float("softness", &p.Softness, learners.Range{Least: 1e-12, Most: 1e12},
				"λ, added to κ(x,x) of each example: the greater, the easier an example may lie on the wrong "+
					"side"),
			learners.Float("tolerance", &p.Tolerance, learners.Range{Open: true, Most: 1e12},
				"largest error of a prediction, in units of its doubt"),
		},
		Start: learners.StartScored("bpm", func(s *learners.Scored) (learners.Learner, error) {
			l := &learner{Params: *p, Scored: s, noise: noise(s.Problem)}
			return l, l.begin()
		}),
	}
}

type learner struct {
	Params
	*learners.Scored
	columns  []int     // of X that are not all 0; the centre is 0 in the others
	noise    []float64 // C, Q×Q; nil if all labels are right
	machines []*machine
}

// machine finds the centre of one class against the rest.
type machine struct {
	class    int
	centre   *propagation
	evidence []evidence
}

// begin creates the machines; of two classes only the second has one, and the first mirrors it.
func (l *learner) begin() error {
	x, q := l.Problem.X, l.Problem.Q
	classes := learners.AllClasses(q)
	if q == 2 {
		classes = classes[1:]
	}
	l.columns = used(x)
	d, machines := len(l.columns), len(classes)
	need := memory.Sum(memory.Product(x.N, d, 16), memory.Product(machines, d, d, 8),
		memory.Product(machines, x.N, 64))
	if err := memory.Check(need, "the examples and their covariances, d×d for each class, of a Bayes "+
		"point machine (too many features? fewer kernel components take less)"); err != nil {
		return err
	}
	prior, err := newPropagation(d, rows(x, l.columns), l.Softness)
	if err != nil {
		return fmt.Errorf("bpm: %w", err)
	}
	for _, r := range classes {
		l.machines = append(l.machines, &machine{class: r, centre: prior.clone(),
			evidence: make([]evidence, x.N)})
	}
	return nil
}

// used returns the columns that are not 0 in all examples, in increasing order; column 0 if there
// is none.
func used(x dataset.Examples) (columns []int) {
	is, row := make([]bool, x.D), make([]float32, x.D)
	for i := range x.N {
		for j, v := range x.DenseRow(row, i) {
			is[j] = is[j] || v != 0
		}
	}
	for j, yes := range is {
		if yes {
			columns = append(columns, j)
		}
	}
	if columns == nil {
		columns = []int{0}
	}
	return columns
}

// rows returns the columns of all examples, one example after the other.
func rows(x dataset.Examples, columns []int) []float64 {
	all, row := make([]float64, 0, x.N*len(columns)), make([]float32, x.D)
	for i := range x.N {
		values := x.DenseRow(row, i)
		for _, j := range columns {
			all = append(all, float64(values[j])+0) // never -0
		}
	}
	return all
}

// Step implements learners.Learner: a pass of each machine that still moves, or of all machines if
// the evidence of one depends on the others.
func (l *learner) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if err := l.Ready(ctx); err != nil {
		return s, err
	}
	var left []*machine
	for _, m := range l.machines {
		if m.centre.moved > l.Tolerance {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return learners.Step{Done: true}, nil
	}
	if l.noise != nil && l.Problem.Q > 2 {
		left = l.machines
	}
	l.setEvidence(left)
	failed := make([]error, len(left))
	parallel.Tasks(len(left), func(k int) { failed[k] = left[k].centre.pass(left[k].evidence) })
	if err := errors.Join(failed...); err != nil {
		return s, fmt.Errorf("bpm: %w", err)
	}
	most, unfinished := 0.0, 0
	for _, m := range left {
		most = max(most, m.centre.moved)
		if m.centre.moved > l.Tolerance {
			unfinished++
		}
		s.Changed = append(s.Changed, l.write(m, w)...)
	}
	if err := learners.CheckFinite("bpm", w.W, ", or take a greater softness"); err != nil {
		return s, err
	}
	if unfinished > 0 {
		s.Doubts = learners.EndInDoubt("allow more steps, or take a greater softness",
			"bpm: ended before the centre: predictions still move by %.2g of their doubt, wanted %.2g",
			most, l.Tolerance)
	}
	s.Fields = []learners.Field{{Name: "moved", Value: most}, {Name: "unfinished", Value: unfinished}}
	return s, nil
}

// write writes the weights of a machine to rows of w, and returns which.
func (l *learner) write(m *machine, w engine.Weights) (classes []int) {
	by := 1 / (math.Sqrt(l.Softness) * m.centre.doubt())
	row := w.Row(m.class)
	clear(row)
	centre := m.centre.mean
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

func (l *learner) Save() ([]byte, error) {
	var all []any
	for _, m := range l.machines {
		all = append(all, m.centre.state()...)
	}
	return learners.Pack(all...)
}

// Restore implements learners.Learner. After an error the learner must not be used.
func (l *learner) Restore(saved []byte) error {
	s := learners.Unpack(saved)
	for _, m := range l.machines {
		if s.Read(m.centre.state()...) {
			s.Refuse(m.centre.resume())
		}
	}
	return s.End("bpm")
}

// noise returns C, or nil if it says that all labels are right.
func noise(p *learners.Problem) []float64 {
	if p.Noise == nil {
		return nil
	}
	for r := range p.Q {
		if p.Noise.P[r*p.Q+r] != 1 {
			return p.Noise.P
		}
	}
	return nil
}

// leastProbability of a class, however far an example is from it.
const leastProbability = 1e-6

// setEvidence sets the evidence of machines from the labels.
func (l *learner) setEvidence(machines []*machine) {
	q, y := l.Problem.Q, l.Problem.Y
	c := l.noise
	if c == nil {
		for _, m := range machines {
			for i, k := range y {
				m.evidence[i] = evidence{below: 1}
				if int(k) == m.class {
					m.evidence[i] = evidence{above: 1}
				}
			}
		}
		return
	}
	if q == 2 {
		for i, k := range y {
			machines[0].evidence[i] = evidence{above: c[k*2+1], below: c[k*2]}
		}
		return
	}
	parallel.Ranges(len(y), 256, func(from, to int) {
		likely := make([]float64, q)
		for i := from; i < to; i++ {
			for _, m := range l.machines {
				likely[m.class] = max(share(m.centre.cavity[i]), leastProbability)
			}
			label := c[int(y[i])*q : (int(y[i])+1)*q]
			for _, m := range machines {
				sum, total := 0.0, 0.0
				for t, p := range likely {
					if t != m.class {
						sum += float64(label[t] * p)
						total += p
					}
				}
				m.evidence[i] = evidence{above: label[m.class], below: sum / total}
			}
		}
	})
}
