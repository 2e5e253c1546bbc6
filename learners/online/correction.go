package online

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/learners"
)

// mostMoved is by how much a corrected step for one label may change a score, of algorithms whose
// steps have no bound.
const mostMoved = 0.1

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
	if l.algorithm.unbounded {
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

// risk is the empirical online confusion risk of a pass (Definition 4 of Ralaivola): entry (y,r)
// is the mean, over the examples of class y, of the loss max(0, s_r + 1/(Q-1)) by which r was
// favoured when it was their turn. Of noisy labels C⁻¹ takes the sums apart by right label, as UMA
// does with its own.
type risk struct {
	inverse []float64 // C⁻¹, Q×Q; nil if labels are right
	counts  []float64 // of examples by label
	sums    []float64 // of losses, Q×Q: row label, column r
	most    float64   // of the losses
}

// begin begins a pass over q classes; C⁻¹ is nil if labels are right.
func (k *risk) begin(inverse []float64, q int) {
	*k = risk{inverse: inverse, counts: make([]float64, q), sums: make([]float64, q*q)}
}

// see takes the label and the scores of an example, when it is its turn.
func (k *risk) see(y int, s []float32) {
	k.counts[y]++
	margin := 1 / float64(len(s)-1)
	for r, score := range s {
		if r != y || k.inverse != nil {
			loss := max(0, float64(score)+margin)
			k.sums[y*len(s)+r] += loss
			k.most = max(k.most, loss)
		}
	}
}

// certainty is 1 - δ of the bound on the risk.
const certainty = 0.95

// fields reports the operator norm of the risk, and an upper bound on the operator norm of the risk
// of the mean of all W so far. The bound holds with the probability certainty if examples are drawn
// at random and the pass is the first. It exceeds the norm by M·√(2Q·Σ_i ‖b_i‖²·ln(2Q/δ)), where M
// is the largest loss seen and b_i what example i adds to the rows of the risk, 1/T_y to its own if
// labels are right (Theorem 2; its text has Q/δ, its proof 2Q/δ).
func (k *risk) fields() []learners.Field {
	q := len(k.counts)
	of := trueCounts(k.inverse, k.counts)
	matrix, squares := make([]float64, q*q), 0.0
	for t, total := range of {
		if total <= 0 {
			continue
		}
		for y, count := range k.counts {
			b := share(k.inverse, q, t, y) / total
			squares += float64(count * float64(b*b))
			for r := range q {
				matrix[t*q+r] += float64(b * k.sums[y*q+r])
			}
		}
		matrix[t*q+t] = 0
		for r := range q {
			matrix[t*q+r] = max(0, matrix[t*q+r])
		}
	}
	norm, _ := metric.LargestSingular(matrix, q) // of finite numbers, whose decomposition converges
	slack := k.most * math.Sqrt(float64(2*float64(q)*squares*math.Log(2*float64(q)/(1-certainty))))
	return []learners.Field{{Name: "confusion risk", Value: norm}, {Name: "bound", Value: norm +
		slack}}
}
