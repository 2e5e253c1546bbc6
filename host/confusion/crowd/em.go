// Package crowd handles labels of several annotators: it reads them, estimates true classes and the
// confusion matrix of each annotator by EM, and takes votes.
package crowd

import (
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

// smoothing is the number of pseudo-labels per entry of a matrix: a Dirichlet prior with parameter
// 1 + smoothing.
const smoothing = 0.01

// few is the number of pseudo-labels of each prior: of all annotators for one annotator's accuracy,
// and of that accuracy for each true class of a matrix. Most annotators give few labels of a class.
const few = 2

// Posteriors are counted as integers, in units that leave room for 2^33 labels.
const posteriorUnit = 1 << 30

// EM ends when a round moves less than this share of all labels to another class or subtype.
const (
	settledMass     = 1e-6
	settledSubtypes = 1e-4
)

// Products of rates are rescaled after this many labels; they are then at least
// leastRate^(rescaled+1), a normal number.
const (
	leastRate = 0x1p-100
	rescaled  = 8
)

// mostTables bounds the bytes of the tables of all processors by using fewer of them.
const mostTables = 256 << 20

// em is the state of the fit of one model. The model has S states: a class, or with Subtypes each
// of the subtypes of a class, at class·S/Q and further. A table has an entry for each annotator,
// label k and state, at [(annotator·Q+k)·S+state].
type em struct {
	a         *dataset.Annotations
	method    Method
	q         int
	states    int
	workers   int
	start     []float32 // n×Q: posteriors of the first round; nil for the shares of the votes
	split     splitter  // of classes into subtypes in the first round
	matrices  []float64 // a table: P(label k | state), at least leastRate
	prior     []float64 // of states, likewise
	known     bool      // matrices and prior are
	sums      []int64   // a table: posteriors of the labels, in units
	squares   []int64   // likewise, of squares; only of the last count
	before    []int64   // sums of the round before
	classes   []int64   // posteriors of the examples, by state
	posterior []float32 // n×Q, only of the last count
	evidence  int64     // log of the likelihood of the last count, in units of evidenceUnit
	votes     []float64 // Q: examples by the shares of votes; the prior of the classes of Subtypes
	rounds    int
	settled   bool
	bound     float64 // of the log evidence of Subtypes
	mean      float64 // share of labels that are right
	strength  float64 // labels of accuracy mean beside an annotator's own
}

// evidenceUnit is the unit of logarithms of likelihoods, whose sum no order changes.
const evidenceUnit = 0x1p-20

// newEM returns the state of a model whose classes have the given number of subtypes each.
func newEM(a *dataset.Annotations, method Method, subtypes int) (*em, error) {
	q := len(a.Classes)
	m := &em{a: a, method: method, q: q, states: q * subtypes}
	size := len(a.Names) * q * m.states
	need := memory.Sum(memory.Product(size, 8*6), memory.Product(a.N(), q, 4))
	if err := memory.Check(need, fmt.Sprintf("confusion matrices of %d annotators and %d classes",
		len(a.Names), m.q)); err != nil {
		return nil, err
	}
	m.workers = max(1, min(parallel.Workers(a.N(), 1<<10), mostTables/(8*size)))
	m.sums, m.before = make([]int64, size), make([]int64, size)
	m.matrices, m.prior = make([]float64, size), make([]float64, m.states)
	m.classes = make([]int64, m.states)
	return m, nil
}

// settle runs rounds until convergence.
func (m *em) settle(ctx context.Context, most int) error {
	_, task := progress.Begin(ctx, progress.Work{
		Name: "estimating annotators", Unit: "round"})
	defer task.End()
	enough := settledMass
	if m.method == Subtypes {
		enough = settledSubtypes
	}
	for m.rounds < most && !m.settled {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.sums, m.before = m.before, m.sums
		m.count(false)
		m.rates()
		m.rounds++
		task.Add(1)
		moved := int64(0)
		for k, v := range m.sums {
			moved += max(v-m.before[k], m.before[k]-v)
		}
		// The first count, by votes, has no predecessor.
		m.settled = m.rounds > 1 &&
			float64(moved) <= enough*2*posteriorUnit*float64(len(m.a.By))
	}
	return nil
}

// tables are what one worker counts.
type tables struct {
	sums, squares, classes []int64
	evidence               int64
}

// count sums the posteriors of all examples by the rates, or by the start in the first round.
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
			*t = tables{sums: m.sums, squares: m.squares, classes: m.classes}
			if worker > 0 {
				*t = tables{sums: make([]int64, len(m.sums)), classes: make([]int64, m.states)}
				if last {
					t.squares = make([]int64, len(m.sums))
				}
			}
		}
		m.examples(t, task*block, min((task+1)*block, n), last)
	})
	m.evidence = all[0].evidence
	for _, t := range all[1:] {
		lists.Add(m.sums, t.sums)
		lists.Add(m.squares, t.squares)
		lists.Add(m.classes, t.classes)
		m.evidence += t.evidence
	}
}

// examples counts some examples.
func (m *em) examples(t *tables, from, to int, last bool) {
	q, s := m.q, m.states
	p, units := make([]float64, s), make([]int64, s)
	for i := from; i < to; i++ {
		by, label := m.a.Of(i)
		if m.known {
			likely := m.posteriorOf(p, by, label)
			t.evidence += int64(math.Round(likely / evidenceUnit))
		} else {
			m.startOf(p, i, label)
		}
		if class, known := m.a.Known(i); known {
			only(p, int(class)*s/q, (int(class)+1)*s/q)
		}
		for c, v := range p {
			units[c] = int64(v*posteriorUnit + 0.5) // a product by a power of two is exact
			t.classes[c] += units[c]
		}
		for k, a := range by {
			lists.Add(t.sums[(int(a)*q+int(label[k]))*s:][:s], units)
		}
		if !last {
			continue
		}
		for c, v := range p {
			m.posterior[i*q+c*q/s] += float32(v)
			units[c] = int64(float64(v*v)*posteriorUnit + 0.5)
		}
		for k, a := range by {
			lists.Add(t.squares[(int(a)*q+int(label[k]))*s:][:s], units)
		}
	}
}

// startOf writes the posterior of the states of an example in the first round.
func (m *em) startOf(p []float64, i int, label []int32) {
	q, each := m.q, m.states/m.q
	for c := range q {
		v := 0.0
		if m.start != nil {
			v = float64(m.start[i*q+c])
		} else {
			v = shareOf(label, int32(c), q)
		}
		for k, part := range m.split.of(i, c, each) {
			p[c*each+k] = float64(v * part)
		}
	}
}

// shareOf returns the share of the labels of one of q classes.
func shareOf(label []int32, class int32, q int) float64 {
	if len(label) == 0 {
		return 1 / float64(q)
	}
	n := lists.Count(label, func(k int32) bool { return k == class })
	return float64(n) / float64(len(label))
}

// only leaves the states of one class.
func only(p []float64, from, to int) {
	clear(p[:from])
	clear(p[to:])
	total := lists.Sum(p)
	for c := from; c < to; c++ {
		if total > 0 {
			p[c] /= total
		} else {
			p[c] = 1 / float64(to-from)
		}
	}
}

// posteriorOf writes the posterior of the states of an example: the normalised products of the
// rates of its labels. It returns the logarithm of their sum. Products are rescaled by powers of
// two, so that the most likely state never underflows.
func (m *em) posteriorOf(p []float64, by, label []int32) float64 {
	copy(p, m.prior)
	power := 0
	for k, a := range by {
		row := m.matrices[(int(a)*m.q+int(label[k]))*m.states:][:len(p)]
		for c, v := range row {
			p[c] *= v
		}
		if k%rescaled == rescaled-1 {
			_, exponent := math.Frexp(slices.Max(p))
			for c := range p {
				p[c] = math.Ldexp(p[c], -exponent)
			}
			power += exponent
		}
	}
	total := lists.Sum(p)
	for c := range p {
		p[c] /= total
	}
	if m.method != Subtypes {
		return 0 // nobody asks
	}
	return math.Log(total) + float64(float64(power)*math.Ln2)
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

// spread returns how many labels the mean accuracy counts as, beside an annotator's own: the power
// of two under which the counts of right labels are likeliest (of beta-binomial distributions).
func (m *em) spread() float64 {
	best, most := 0.0, math.Inf(-1)
	mean := min(max(m.mean, 1e-3), 1-1e-3)
	for strength := 1.0; strength <= 64; strength *= 2 {
		own, other := strength*mean, strength*(1-mean)
		before := logGamma(own) + logGamma(other) - logGamma(strength)
		sum := 0.0
		for a := range m.a.Names {
			total, hits := m.rightOf(a)
			sum += logGamma(own+hits) + logGamma(other+total-hits) - logGamma(strength+total) - before
		}
		if sum > most {
			best, most = strength, sum
		}
	}
	return best
}

// alike replaces the sums of an annotator by the sums under wrong labels that are all as frequent,
// and with OneCoin one accuracy for all classes; column sums stay.
func (m *em) alike(a int) {
	q := m.q
	s := m.sums[a*q*q : (a+1)*q*q]
	right, wrong := m.coin(a, m.strength, m.mean)
	for t := range q {
		n := int64(0)
		for k := range q {
			n += s[k*q+t]
		}
		if m.method == TwoCoin {
			right = float64(s[t*q+t]) / max(float64(n), 1)
			wrong = (1 - right) / float64(q-1)
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

// rates is the M-step.
func (m *em) rates() {
	m.known = true
	if m.method == Subtypes {
		m.expectedRates()
		return
	}
	q, size := m.q, m.q*m.q
	total, hits := 0.0, 0.0
	for a := range m.a.Names {
		n, right := m.rightOf(a)
		total, hits = total+n, hits+right
	}
	m.mean = hits / max(total, leastRate)
	m.strength = m.spread()
	parallel.Ranges(len(m.a.Names), 16, func(from, to int) {
		for a := from; a < to; a++ {
			p := m.matrices[a*size : (a+1)*size]
			right, wrong := 0.0, 0.0
			if m.method != Majority {
				right, wrong = m.coin(a, m.strength, m.mean)
			}
			if m.method == OneCoin || m.method == TwoCoin {
				m.alike(a)
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
	if m.method == OneCoin { // else a rare class is explained as noise (docs/confusion.md)
		for c := range m.prior {
			m.prior[c] = 1 / float64(m.q)
		}
	}
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
