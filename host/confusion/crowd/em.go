// Package crowd handles labels of several annotators: it reads them, estimates true classes and the
// confusion matrix of each annotator by EM, and takes votes.
package crowd

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Method is a model of annotators.
type Method string

// The methods.
const (
	Majority   Method = "majority"    // all annotators equally
	OneCoin    Method = "one-coin"    // one accuracy each
	DawidSkene Method = "dawid-skene" // a confusion matrix each, shrunk to one-coin's
)

// Methods are all of them, the simplest first.
var Methods = []Method{Majority, OneCoin, DawidSkene}

// Options of Fit. The zero value asks for the defaults.
type Options struct {
	Method Method // "" is DawidSkene
	Rounds int    // of EM, at most; 0 for 100
}

// Result is the estimate from the labels of several annotators, without clean labels.
type Result struct {
	Classes []string
	Method  Method
	// n×Q: P(true class | the example's labels); of Majority the shares of votes
	Posterior []float32
	// n: the most likely class; ties take the first, for Majority a random one
	Consensus []int32
	Items     []string // names of the examples; nil for none
	// Q: frequencies of true classes; uniform by assumption for OneCoin
	Prior      []float64
	Annotators []confusion.Annotator // with standard errors
	Rounds     int                   // of EM
	Settled    bool                  // converged
}

// Fit estimates true classes and the confusion matrix of each annotator by EM (Dawid and Skene,
// Maximum likelihood estimation of observer error-rates using the EM algorithm, 1979). The prior of
// a matrix is a few labels of each class by an annotator with the same accuracy in all classes. EM
// starts from vote shares; DawidSkene starts from the result of OneCoin. seed breaks ties of
// Majority. Examples of known class keep it, and so inform the accuracies.
//
// Posteriors are products in the order of the labels and counts are integers, so that the result
// has the same bits on every machine and number of processors. Fit reports progress through ctx and
// returns its error when cancelled.
func Fit(ctx context.Context, a *dataset.Annotations, seed uint64, o Options) (*Result, error) {
	o.Method = cmp.Or(o.Method, DawidSkene)
	o.Rounds = cmp.Or(o.Rounds, 100)
	q := len(a.Classes)
	switch {
	case !slices.Contains(Methods, o.Method):
		return nil, fmt.Errorf("crowd: found method %q, wanted majority, one-coin or dawid-skene",
			o.Method)
	case o.Rounds < 0:
		return nil, fmt.Errorf("crowd: found %d rounds, wanted a positive number", o.Rounds)
	case a.N() == 0:
		return nil, fmt.Errorf("crowd: found no example, wanted some with labels")
	}
	if err := confusion.CheckClasses(a.Classes); err != nil {
		return nil, err
	}
	if err := a.Check(a.N(), q); err != nil {
		return nil, err
	}
	m, err := newEM(a, o)
	if err != nil {
		return nil, err
	}
	c := &Result{Classes: slices.Clone(a.Classes), Method: o.Method, Items: a.Items}
	if o.Method == DawidSkene {
		m.o.Method = OneCoin
		if _, _, err = m.settle(ctx, o); err != nil {
			return nil, err
		}
		m.o.Method = DawidSkene
	}
	if o.Method != Majority {
		if c.Rounds, c.Settled, err = m.settle(ctx, o); err != nil {
			return nil, err
		}
	}
	m.count(true)
	if o.Method == OneCoin {
		m.oneCoin()
	}
	m.rates()
	c.Posterior, c.Prior = m.posterior, m.prior
	c.Annotators = m.annotators()
	if o.Method == Majority {
		c.Consensus, c.Settled = a.Votes(seed), true
		return c, nil
	}
	c.Consensus = make([]int32, a.N())
	for i := range c.Consensus {
		row := c.Posterior[i*q : (i+1)*q]
		c.Consensus[i] = int32(lists.Largest(row))
	}
	return c, nil
}

// smoothing is the number of pseudo-labels per entry of a matrix: a Dirichlet prior with parameter
// 1 + smoothing.
const smoothing = 0.01

// few is the number of pseudo-labels of each prior: of all annotators for one annotator's accuracy,
// and of that accuracy for each true class of a matrix. Most annotators give few labels of a class.
const few = 2

// Posteriors are counted as integers, in units that leave room for 2^33 labels.
const posteriorUnit = 1 << 30

// settledMass ends EM when a round moves less than this share of all labels to another class.
const settledMass = 1e-6

// Products of rates are rescaled after this many labels; they are then at least
// leastRate^(rescaled+1), a normal number.
const (
	leastRate = 0x1p-100
	rescaled  = 8
)

// mostTables bounds the bytes of the tables of all processors by using fewer of them.
const mostTables = 256 << 20

// em is the state of Fit. A table has an entry for each annotator, label k and true class t, at
// [(annotator·Q+k)·Q+t].
type em struct {
	a         *dataset.Annotations
	o         Options
	q         int
	workers   int
	matrices  []float64 // a table: P(label k | true class t), at least leastRate
	prior     []float64 // Q, likewise
	known     bool      // matrices and prior are
	sums      []int64   // a table: posteriors of the labels, in units
	squares   []int64   // likewise, of squares; only of the last count
	before    []int64   // sums of the round before
	classes   []int64   // Q: posteriors of the examples
	posterior []float32 // n×Q, only of the last count
}

func newEM(a *dataset.Annotations, o Options) (*em, error) {
	m := &em{a: a, o: o, q: len(a.Classes)}
	size := len(a.Names) * m.q * m.q
	need := memory.Sum(memory.Product(size, 8*6), memory.Product(a.N(), m.q, 4))
	if err := memory.Check(need, fmt.Sprintf("confusion matrices of %d annotators and %d classes",
		len(a.Names), m.q)); err != nil {
		return nil, err
	}
	m.workers = max(1, min(parallel.Workers(a.N(), 1<<10), mostTables/(8*size)))
	m.sums, m.before = make([]int64, size), make([]int64, size)
	m.matrices, m.prior = make([]float64, size), make([]float64, m.q)
	m.classes = make([]int64, m.q)
	return m, nil
}

// settle runs rounds until convergence.
func (m *em) settle(ctx context.Context, o Options) (rounds int, settled bool, err error) {
	_, task := progress.Begin(ctx, progress.Work{
		Name: "estimating annotators", Unit: "round"})
	defer task.End()
	for rounds < o.Rounds && !settled {
		if err := ctx.Err(); err != nil {
			return rounds, false, err
		}
		m.sums, m.before = m.before, m.sums
		m.count(false)
		if m.o.Method == OneCoin {
			m.oneCoin()
		}
		m.rates()
		rounds++
		task.Add(1)
		moved := int64(0)
		for k, v := range m.sums {
			moved += max(v-m.before[k], m.before[k]-v)
		}
		// The first count, by votes, has no predecessor.
		settled = rounds > 1 && float64(moved) <= settledMass*2*posteriorUnit*float64(len(m.a.By))
	}
	return rounds, settled, nil
}

// tables are what one worker counts.
type tables struct{ sums, squares, classes []int64 }

// count sums the posteriors of all examples by the rates, or by votes in the first round.
func (m *em) count(last bool) {
	const block = 1 << 10
	n := m.a.N()
	if last {
		m.posterior = make([]float32, n*m.q)
		m.squares = make([]int64, len(m.sums))
	}
	clear(m.sums)
	clear(m.classes)
	all := make([]tables, m.workers)
	parallel.Share(m.workers, (n+block-1)/block, func(worker, task int) {
		t := &all[worker]
		if t.sums == nil {
			*t = tables{m.sums, m.squares, m.classes}
			if worker > 0 {
				*t = tables{sums: make([]int64, len(m.sums)), classes: make([]int64, m.q)}
				if last {
					t.squares = make([]int64, len(m.sums))
				}
			}
		}
		m.examples(t, task*block, min((task+1)*block, n), last)
	})
	for _, t := range all[1:] {
		lists.Add(m.sums, t.sums)
		lists.Add(m.squares, t.squares)
		lists.Add(m.classes, t.classes)
	}
}

// examples counts some examples.
func (m *em) examples(t *tables, from, to int, last bool) {
	q := m.q
	p, units := make([]float64, q), make([]int64, q)
	for i := from; i < to; i++ {
		by, label := m.a.Of(i)
		if class, known := m.a.Known(i); known {
			clear(p)
			p[class] = 1
		} else if !m.known {
			shareVotes(p, label)
		} else {
			m.posteriorOf(p, by, label)
		}
		for c, v := range p {
			units[c] = int64(v*posteriorUnit + 0.5) // a product by a power of two is exact
			t.classes[c] += units[c]
		}
		for k, a := range by {
			lists.Add(t.sums[(int(a)*q+int(label[k]))*q:][:q], units)
		}
		if !last {
			continue
		}
		for c, v := range p {
			m.posterior[i*q+c] = float32(v)
			units[c] = int64(float64(v*v)*posteriorUnit + 0.5)
		}
		for k, a := range by {
			lists.Add(t.squares[(int(a)*q+int(label[k]))*q:][:q], units)
		}
	}
}

// shareVotes writes the share of the labels of each class.
func shareVotes(p []float64, label []int32) {
	clear(p)
	for _, k := range label {
		p[k]++
	}
	for c := range p {
		p[c] /= float64(len(label))
	}
}

// posteriorOf writes the posterior of the true classes of an example: the normalised products of
// the rates of its labels. Products are rescaled by powers of two, so that the most likely class
// never underflows.
func (m *em) posteriorOf(p []float64, by, label []int32) {
	q := m.q
	copy(p, m.prior)
	for k, a := range by {
		row := m.matrices[(int(a)*q+int(label[k]))*q:][:len(p)]
		for c, v := range row {
			p[c] *= v
		}
		if k%rescaled == rescaled-1 {
			_, exponent := math.Frexp(slices.Max(p))
			for c := range p {
				p[c] = math.Ldexp(p[c], -exponent)
			}
		}
	}
	total := lists.Sum(p)
	for c := range p {
		p[c] /= total
	}
}

// coin returns the accuracy of annotator a and the rate of each wrong label, with further
// pseudo-labels of accuracy mean.
func (m *em) coin(a int, further, mean float64) (right, wrong float64) {
	total, hits := m.rightOf(a)
	right = (hits + float64(further*mean)) / max(total+further, leastRate)
	return right, (1 - right) / float64(m.q-1)
}

// rightOf returns the number of counted labels of annotator a, and of right ones.
func (m *em) rightOf(a int) (total, right float64) {
	sum, diagonal := int64(0), int64(0)
	for k, v := range m.sums[a*m.q*m.q : (a+1)*m.q*m.q] {
		sum += v
		if k/m.q == k%m.q {
			diagonal += v
		}
	}
	return float64(sum) / posteriorUnit, float64(diagonal) / posteriorUnit
}

// oneCoin replaces each annotator's sums by the sums under one accuracy for all classes and uniform
// wrong labels; column sums stay.
func (m *em) oneCoin() {
	q := m.q
	parallel.Ranges(len(m.a.Names), 16, func(from, to int) {
		for a := from; a < to; a++ {
			s := m.sums[a*q*q : (a+1)*q*q]
			right, wrong := m.coin(a, 0, 0)
			for t := range q {
				n := int64(0)
				for k := range q {
					n += s[k*q+t]
				}
				for k := range q {
					share := wrong
					if k == t {
						share = right
					}
					s[k*q+t] = int64(math.Round(float64(float64(n) * share)))
				}
			}
		}
	})
}

// rates is the M-step.
func (m *em) rates() {
	q, size := m.q, m.q*m.q
	total, hits := 0.0, 0.0
	for a := range m.a.Names {
		n, right := m.rightOf(a)
		total, hits = total+n, hits+right
	}
	parallel.Ranges(len(m.a.Names), 16, func(from, to int) {
		for a := from; a < to; a++ {
			p := m.matrices[a*size : (a+1)*size]
			right, wrong := 0.0, 0.0
			if m.o.Method == DawidSkene {
				right, wrong = m.coin(a, few, hits/max(total, leastRate))
			}
			for k, v := range m.sums[a*size : (a+1)*size] {
				coin := wrong
				if k/q == k%q {
					coin = right
				}
				p[k] = float64(v)/posteriorUnit + smoothing + float64(few*coin)
			}
			numerics.NormaliseColumns(p, q)
			for k, v := range p {
				p[k] = max(v, leastRate)
			}
		}
	})
	total = float64(m.a.N()) + float64(smoothing*float64(q))
	for c, v := range m.classes {
		m.prior[c] = max((float64(v)/posteriorUnit+smoothing)/total, leastRate)
	}
	if m.o.Method == OneCoin { // else a rare class is explained as noise (docs/confusion.md)
		for c := range m.prior {
			m.prior[c] = 1 / float64(m.q)
		}
	}
	m.known = true
}

// annotators returns the matrices and their standard errors, in which examples count by the
// certainty of their true class.
func (m *em) annotators() []confusion.Annotator {
	q, size, counts := m.q, m.q*m.q, m.a.Counts()
	list := make([]confusion.Annotator, len(counts))
	for a, name := range m.a.Names {
		p := slices.Clone(m.matrices[a*size : (a+1)*size])
		errs := make([]float64, size)
		for t := range q {
			n := 0.0
			for k := range q {
				n += float64(m.sums[a*size+k*q+t]) / posteriorUnit
			}
			for k := range q {
				at := k*q + t
				sum, square := float64(m.sums[a*size+at])/posteriorUnit,
					float64(m.squares[a*size+at])/posteriorUnit
				blur := (sum + smoothing) / (square + smoothing)
				w := (float64(n*p[at]) + 1) / (n + 2)
				errs[at] = min(1, math.Sqrt(float64(w*(1-w))*blur/(n+1)))
			}
		}
		list[a] = confusion.Annotator{Name: name, Labels: counts[a], P: p, Error: errs}
	}
	return list
}
