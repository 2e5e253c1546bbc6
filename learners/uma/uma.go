// Package uma is UMA, the unconfused ultraconservative multiclass algorithm:
// Algorithm 2 of Louche & Ralaivola, Machine Learning 99 (2015), with the
// perceptron step. It learns a linear classifier from labels corrupted by a
// known confusion matrix C.
//
// For each predicted class p the examples are summed by noisy label and the sums
// multiplied by C⁻¹. Row q of the product, z_pq, estimates the sum of those
// examples whose true class is q although p was predicted: a mistake to correct,
// although no label can be trusted. With C = identity UMA is the plain batch
// perceptron.
package uma

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// run is UMA in the middle of a run.
type run struct {
	Params
	cells   engine.Cells
	inverse *confusion.Inverse
	b       []float32 // float32(C⁻¹)
	pcg     *rand.PCG
	rng     *rand.Rand // on pcg

	n, d, q    int
	begun      bool              // W is not 0 any more, so α counts (clause 4)
	assignment engine.Assignment // of the last Count
	priors     []float64         // π̂, from the first assignment
	norms      []float32
	z          []float32 // update vectors of the pairs under trial

	candidates []candidate // not yet tried in this step
	tried      int         // in this step
}

// stream keeps this package's random numbers apart from those that other parts
// draw from the same seed.
const stream = 0x756d61 // "uma"

// Start implements learners.Params.
func (p *Params) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	cells, inverse, err := problem.LoadCells()
	if err != nil {
		return nil, err
	}
	return newRun(*p, cells, inverse, problem.Seed), nil
}

// newRun begins a run on cells, which it closes at its end.
func newRun(p Params, cells engine.Cells, inverse *confusion.Inverse, seed uint64) *run {
	n, d, q := cells.Shape()
	pcg := rand.NewPCG(seed, stream)
	return &run{
		Params: p, cells: cells, inverse: inverse, b: inverse.Float32(), pcg: pcg, rng: rand.New(pcg),
		n: n, d: d, q: q, norms: make([]float32, q*q),
	}
}

// Count implements learners.Learner: line 4 of Algorithm 2, for all p at once.
func (l *run) Count(_ context.Context, w engine.Weights, changed []int) (predicted []int64, err error) {
	l.begun = l.begun || slices.ContainsFunc(w.W, func(v float32) bool { return v != 0 })
	if l.begun { // else the scores are 0 as they were when loaded
		if err := l.cells.Rescore(w, changed); err != nil {
			return nil, err
		}
	}
	if l.assignment, err = l.cells.Assign(l.margin()); err != nil {
		return nil, err
	}
	if l.priors == nil {
		l.priors = l.inverse.Priors(labelCounts(l.assignment.Predicted, l.q), l.n)
	}
	return slices.Clone(l.assignment.Predicted), nil
}

// margin is α as it counts now: 0 while W = 0, or no first step would be possible.
func (l *run) margin() float32 {
	if !l.begun {
		return 0
	}
	return l.Alpha
}

// candidate is a pair that clause 7 allows.
type candidate struct {
	engine.Pair
	value float64 // what the rule wants largest
}

// Step implements learners.Learner: lines 5 to 12 of Algorithm 2. A step is short, so it
// is finished even if the context is cancelled.
func (l *run) Step(_ context.Context, w engine.Weights) (learners.Step, error) {
	if err := l.cells.Norms(l.norms, l.b); err != nil {
		return learners.Step{}, err
	}
	if err := l.collect(l.assignment.Regions); err != nil {
		return learners.Step{}, err
	}
	for {
		tried := l.next()
		if len(tried) == 0 {
			return learners.Step{Done: true}, nil
		}
		if err := l.cells.UpdateVectors(l.z, tried, l.b); err != nil {
			return learners.Step{}, err
		}
		for i, c := range tried {
			z, wp, wq := l.z[i*l.d:(i+1)*l.d], w.Row(c.P), w.Row(c.Q)
			// The error set decides whether z_pq, of class q, is a mistake of W.
			if !(numerics.Dot(z, wp)-numerics.Dot(z, wq) >= l.margin()) {
				continue
			}
			for j, v := range z {
				wp[j] = numerics.FMA(-1, v, wp[j])
				wq[j] = numerics.FMA(+1, v, wq[j])
			}
			l.begun = true
			return learners.Step{Changed: []int{c.P, c.Q}, Fields: []learners.Field{
				{Name: "pair", Value: c},
				{Name: "‖z‖", Value: math.Sqrt(float64(l.norms[c.P*l.q+c.Q]))},
				{Name: "moved", Value: l.assignment.Moved},
			}}, nil
		}
	}
}

// Close implements learners.Learner.
func (l *run) Close() error { return l.cells.Close() }

// collect fills l.candidates with the pairs that clause 7 allows, by p, then q.
func (l *run) collect(regions []int64) error {
	l.candidates, l.tried = l.candidates[:0], 0
	for p := range l.q {
		if slices.Max(regions[p*l.q:(p+1)*l.q]) == 0 {
			continue
		}
		for r := range l.q {
			norm2 := float64(l.norms[p*l.q+r])
			if math.IsNaN(norm2) || math.IsInf(norm2, 0) {
				return fmt.Errorf("uma: the norm of update vector (%d,%d) is %v: the features are too large for float32; "+
					"normalise them", p, r, norm2)
			}
			if p == r || !(norm2 > l.Tol*l.Tol) {
				continue
			}
			value := norm2
			if l.Select == SelectConfusion {
				value = norm2 / (l.priors[r] * l.priors[r])
			}
			l.candidates = append(l.candidates, candidate{engine.Pair{P: p, Q: r}, value})
		}
	}
	return nil
}

// next removes from l.candidates the pairs to try next, in the order of clause
// 7, and makes room for their update vectors in l.z. It is empty when there are
// none left. Mostly the first pair will do; where it does not, a device answers
// sixteen questions sooner than sixteen times one. A random choice is not made
// before it is needed.
func (l *run) next() []engine.Pair {
	n := 1
	if l.tried > 0 && l.Select != SelectRandom {
		n = 16
	}
	n = min(n, len(l.candidates))
	l.tried += n
	pairs := make([]engine.Pair, n)
	for i := range pairs {
		pairs[i] = l.take()
	}
	l.z = slices.Grow(l.z[:0], n*l.d)[:n*l.d]
	return pairs
}

// take removes the first candidate in the order of clause 7.
func (l *run) take() engine.Pair {
	next := 0
	if l.Select == SelectRandom {
		next = l.rng.IntN(len(l.candidates))
	} else {
		for i, c := range l.candidates {
			if c.value > l.candidates[next].value {
				next = i
			}
		}
	}
	c := l.candidates[next]
	l.candidates = slices.Delete(l.candidates, next, next+1)
	return c.Pair
}

// labelCounts sums the table of counts by prediction and noisy label over the
// predictions.
func labelCounts(predicted []int64, q int) []int64 {
	counts := make([]int64, q)
	for i, c := range predicted {
		counts[i%q] += c
	}
	return counts
}
