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
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Select is the rule by which the pair (p,q) of a step is chosen (section 3.5
// of the paper, clause 7 of the contract).
type Select string

const (
	SelectError     Select = "error"     // largest ‖z_pq‖: the most errors
	SelectConfusion Select = "confusion" // largest ‖z_pq‖/π̂_q: the most errors for the size of the class
	SelectRandom    Select = "random"    // any pair with ‖z_pq‖ > Tol
)

// Config holds the parameters. The zero value of each is usable, Inverse apart.
type Config struct {
	Inverse *confusion.Inverse // of the label noise C; required
	Select  Select             // "" is SelectError
	Alpha   float32            // margin α ≥ 0 of the regions and of the error set
	Tol     float64            // pairs with ‖z_pq‖ ≤ Tol are left alone; ≥ 0
	Seed    uint64             // of SelectRandom
}

// stream keeps this package's random numbers apart from those that other parts
// draw from the same seed.
const stream = 0x756d61 // "uma"

// Learner is UMA in the middle of a run. It serves one run.
type Learner struct {
	Config
	inv    []float32 // B = float32(C⁻¹)
	rng    *rand.Rand
	priors []float64 // π̂, from the first assignment
	norms  []float32
	z      []float32 // update vectors of the pairs under trial

	candidates []candidate // not yet tried in this step
	tried      int         // in this step
}

// New judges the parameters and returns a learner.
func New(c Config) (*Learner, error) {
	if c.Select == "" {
		c.Select = SelectError
	}
	switch {
	case c.Inverse == nil:
		return nil, fmt.Errorf("uma: no confusion matrix; give the identity if the labels are right")
	case !slices.Contains([]Select{SelectError, SelectConfusion, SelectRandom}, c.Select):
		return nil, fmt.Errorf("uma: selection %q is not known; use error, confusion or random", c.Select)
	case !(c.Alpha >= 0) || math.IsInf(float64(c.Alpha), 0):
		return nil, fmt.Errorf("uma: margin alpha is %v; it must be a number of at least 0", c.Alpha)
	case !(c.Tol >= 0) || math.IsInf(c.Tol, 0):
		return nil, fmt.Errorf("uma: tolerance is %v; it must be a number of at least 0", c.Tol)
	}
	return &Learner{
		Config: c,
		inv:    c.Inverse.Float32(),
		rng:    rand.New(rand.NewPCG(c.Seed, stream)),
	}, nil
}

// Margin implements learners.Learner.
func (l *Learner) Margin() float32 { return l.Alpha }

// candidate is a pair that clause 7 allows.
type candidate struct {
	engine.Pair
	value float64 // what the rule wants largest
}

// Step implements learners.Learner: lines 3 to 12 of Algorithm 2.
func (l *Learner) Step(s learners.State) (learners.Update, error) {
	n, d, q := s.Examples.Shape()
	if q != l.Inverse.Q {
		return learners.Update{}, fmt.Errorf("uma: the examples have %d classes, the confusion matrix %d", q, l.Inverse.Q)
	}
	if l.priors == nil {
		l.priors = l.Inverse.Priors(labelCounts(s.Assignment.Predicted, q), n)
		l.norms = make([]float32, q*q)
	}
	if err := s.Examples.Norms(l.norms, l.inv); err != nil {
		return learners.Update{}, err
	}
	if err := l.collect(s.Assignment.Regions, q); err != nil {
		return learners.Update{}, err
	}
	alpha := l.Alpha
	if s.Steps == 0 {
		alpha = 0 // W = 0
	}
	for {
		tried := l.next(d)
		if len(tried) == 0 {
			return learners.Update{Converged: true}, nil
		}
		if err := s.Examples.UpdateVectors(l.z, tried, l.inv); err != nil {
			return learners.Update{}, err
		}
		for i, c := range tried {
			z, wp, wq := l.z[i*d:(i+1)*d], s.W.Row(c.P), s.W.Row(c.Q)
			// The error set decides whether z_pq, of class q, is a mistake of W.
			if !(numerics.Dot(z, wp)-numerics.Dot(z, wq) >= alpha) {
				continue
			}
			for j, v := range z {
				wp[j] = numerics.FMA(-1, v, wp[j])
				wq[j] = numerics.FMA(+1, v, wq[j])
			}
			return learners.Update{P: c.P, Q: c.Q, Norm2: l.norms[c.P*q+c.Q], Changed: []int{c.P, c.Q}}, nil
		}
	}
}

// collect fills l.candidates with the pairs that clause 7 allows, by p, then q.
func (l *Learner) collect(regions []int64, q int) error {
	l.candidates, l.tried = l.candidates[:0], 0
	for p := range q {
		if slices.Max(regions[p*q:(p+1)*q]) == 0 {
			continue
		}
		for r := range q {
			norm2 := float64(l.norms[p*q+r])
			if math.IsNaN(norm2) || math.IsInf(norm2, 0) {
				return fmt.Errorf("uma: the norm of update vector (%d,%d) is %v: the features are too large for float32; normalise them", p, r, norm2)
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
func (l *Learner) next(d int) []engine.Pair {
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
	l.z = slices.Grow(l.z[:0], n*d)[:n*d]
	return pairs
}

// take removes the first candidate in the order of clause 7.
func (l *Learner) take() engine.Pair {
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

var _ learners.Learner = (*Learner)(nil)
