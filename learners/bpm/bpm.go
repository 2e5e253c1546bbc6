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

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/versionspace"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// Params are the parameters of the learner. Defaults returns those to start from.
type Params struct {
	Softness  float64 // λ, in units of ‖x‖²; 1e-12 to 1e12
	Tolerance float64 // how far predictions may be off, in units of their doubt; > 0
}

// Defaults returns the parameters to use unless there is reason for others.
func Defaults() *Params { return &Params{Softness: 0.03, Tolerance: 0.01} }

func (p *Params) Definition() *learners.Definition {
	return &learners.Definition{
		Name: "bpm",
		Summary: "Bayes point machine: the centre of all weights that are right about the examples, as " +
			"far as labels are",
		Paper: "Herbrich, Graepel & Campbell, Bayes point machines, Journal of Machine Learning " +
			"Research 1, 2001; the centre: Minka, A family of algorithms for approximate Bayesian " +
			"inference (thesis), 2001, chapter 4; " +
			"Louche, From confusion noise to active learning (thesis), 2016, chapter 5",
		Step:     "a pass of expectation propagation over all examples, for each class",
		MaxSteps: 100,
		Weights:  []learners.Rule{learners.Last},
		New:      func() learners.Params { return Defaults() },

		Loads:  learners.LoadsScorer,
		Passes: true,

		Parameters: []learners.Parameter{
			learners.Float("softness", &p.Softness, learners.Range{Least: 1e-12, Most: 1e12},
				"λ, which is added to the kernel function of an example and itself: the more, the easier an "+
					"example may lie on the wrong side"),
			learners.Float("tolerance", &p.Tolerance, learners.Range{Open: true, Most: 1e12},
				"how far predictions of the examples may be from where they belong, in units of their doubt"),
		},
		Start: base.StartScored("bpm", func(s *base.Scored) (learners.Learner, error) {
			l := &learner{Params: *p, Scored: s, noise: noise(s.Problem)}
			return l, l.begin()
		}),
	}
}

type learner struct {
	Params
	*base.Scored
	columns  []int     // of X, in which there is anything: in the others the centre is 0
	noise    []float64 // C, Q×Q; nil if all labels are right
	machines []*machine
}

// machine finds the centre of one class against the rest.
type machine struct {
	class    int
	centre   *versionspace.Propagation
	evidence []versionspace.Evidence
}

// begin makes the machines: of two classes that of the second, which the first mirrors.
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

// used returns the columns in which an example is not 0, in increasing order; one if there is none.
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

// Step implements learners.Learner: a pass of each machine that still moves; of all if what one
// finds is evidence for the others.
func (l *learner) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if err := l.Ready(ctx); err != nil {
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
	if l.noise != nil && l.Problem.Q > 2 {
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
	if err := base.CheckFinite("bpm", w.W, ", or take a greater softness"); err != nil {
		return s, err
	}
	if unfinished > 0 {
		s.Doubts = base.EndInDoubt("allow more steps, or take a greater softness",
			"bpm: ended before the centre: predictions still move by %.2g of their doubt, wanted %.2g",
			most, l.Tolerance)
	}
	s.Fields = []learners.Field{{Name: "moved", Value: most}, {Name: "unfinished", Value: unfinished}}
	return s, nil
}

// write writes the weights of a machine to rows of w, and returns which.
func (l *learner) write(m *machine, w engine.Weights) (classes []int) {
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

func (l *learner) Save() ([]byte, error) {
	var all []any
	for _, m := range l.machines {
		all = append(all, m.centre.Places()...)
	}
	return base.Pack(all...)
}

// Restore implements learners.Learner. After an error the run is of no more use.
func (l *learner) Restore(saved []byte) error {
	s := base.Unpack(saved)
	for _, m := range l.machines {
		if s.Read(m.centre.Places()...) {
			s.Refuse(m.centre.Resume())
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

// least is the probability that a class keeps, however far an example is from it.
const least = 1e-6

// witness writes what labels say to the evidence of machines.
func (l *learner) witness(machines []*machine) {
	q, y := l.Problem.Q, l.Problem.Y
	c := l.noise
	if c == nil {
		for _, m := range machines {
			for i, k := range y {
				m.evidence[i] = versionspace.Evidence{Below: 1}
				if int(k) == m.class {
					m.evidence[i] = versionspace.Evidence{Above: 1}
				}
			}
		}
		return
	}
	if q == 2 {
		for i, k := range y {
			machines[0].evidence[i] = versionspace.Evidence{Above: c[k*2+1], Below: c[k*2]}
		}
		return
	}
	parallel.Ranges(len(y), 256, func(from, to int) {
		likely := make([]float64, q)
		for i := from; i < to; i++ {
			for _, m := range l.machines {
				likely[m.class] = max(versionspace.Share(m.centre.Without()[i]), least)
			}
			label := c[int(y[i])*q : (int(y[i])+1)*q]
			for _, m := range machines {
				said, all := 0.0, 0.0
				for t, p := range likely {
					if t != m.class {
						said += float64(label[t] * p)
						all += p
					}
				}
				m.evidence[i] = versionspace.Evidence{Above: label[m.class], Below: said / all}
			}
		}
	})
}
