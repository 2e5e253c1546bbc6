package online

import (
	"math"

	"github.com/uma-gpu/uma-gpu/learners"
)

// mostMoved is by how much a corrected step for one label may change a score, of policies that
// know no bound.
const mostMoved = 0.1

// unboundedPolicy is a policy whose steps may have no bound.
type unboundedPolicy interface{ unbounded() bool }

// correctedPolicy makes learners that take labels to be right learn from noisy ones: with B = C⁻¹
// the step for an example of noisy label k is Σ_t B[t][k]·τ(t), τ(t) being that for label t. If k
// was drawn by C, Σ_k C[k][t]·B[u][k] is 1 for u = t and 0 else: the mean of the step is the one
// for the right label.
//
// B has entries below 0, by which a loss becomes a gain without end: W may run away from a label
// that the example cannot have. So the size of steps has a bound.
type correctedPolicy struct {
	policy
	most    float64   // of |τ_r(t)|·‖x‖²
	weights []float64 // of examples by right label
	inverse []float64 // B, Q×Q
	tau     []float32
	sums    []float64
}

func (p *correctedPolicy) steps(tau, s []float32, e *example) (any bool) {
	q, label, weight := len(s), e.y, e.weight
	if p.tau == nil {
		p.tau, p.sums = make([]float32, q), make([]float64, q)
	}
	clear(p.sums)
	for t := range q {
		b := p.inverse[t*q+label]
		if b == 0 {
			continue
		}
		e.y, e.weight = t, p.weights[t]
		clear(p.tau)
		if !p.policy.steps(p.tau, s, e) {
			continue
		}
		moved := 0.0
		for _, v := range p.tau {
			moved = max(moved, math.Abs(float64(v))*float64(e.norm2))
		}
		if moved > p.most {
			b *= p.most / moved
		}
		for r, v := range p.tau {
			p.sums[r] += float64(b * float64(v))
		}
	}
	e.y, e.weight = label, weight
	for r, v := range p.sums {
		tau[r] = float32(v)
		any = any || tau[r] != 0
	}
	return any
}

// correct finds the weights of the examples and, if it is asked to, has the steps corrected.
func (l *learner) correct() error {
	p, c := l.Problem, l.classWeights()
	counts := learners.CountLabels(p.Y, p.Q)
	if p.Noise != nil {
		inverse, err := p.Inverse()
		if err != nil {
			return err
		}
		l.inverse = unlessIdentity(inverse.Float32(), p.Q)
	}
	if l.Correction != CorrectSteps || l.inverse == nil {
		l.weights = c.Of(float64(len(p.Y)), counts)
		return nil
	}
	l.weights = c.Of(float64(len(p.Y)), trueCounts(l.inverse, counts))
	most := math.Inf(1)
	if u, ok := l.policy.(unboundedPolicy); ok && u.unbounded() {
		most = mostMoved
	}
	l.policy = &correctedPolicy{policy: l.policy, most: most, weights: l.weights, inverse: l.inverse}
	return nil
}

// unlessIdentity returns a Q×Q matrix as float64, nil if it is the identity.
func unlessIdentity(inverse []float32, q int) []float64 {
	identity := true
	all := make([]float64, len(inverse))
	for i, b := range inverse {
		all[i] = float64(b)
		identity = identity && all[i] == share(nil, q, i/q, i%q)
	}
	if identity {
		return nil
	}
	return all
}

// share is how much an example of label y counts as one of class t.
func share(inverse []float64, q, t, y int) float64 {
	switch {
	case inverse != nil:
		return inverse[t*q+y]
	case t == y:
		return 1
	}
	return 0
}

// trueCounts estimates how many examples there are of each class from how many have each label.
func trueCounts(inverse, counts []float64) []float64 {
	if inverse == nil {
		return counts
	}
	q := len(counts)
	of := make([]float64, q)
	for t := range of {
		for y, count := range counts {
			of[t] += float64(inverse[t*q+y] * count)
		}
	}
	return of
}
