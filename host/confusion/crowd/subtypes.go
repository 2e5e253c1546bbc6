package crowd

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Subtypes is the enhanced Bayesian classifier combination (Li, Rubinstein and Cohn, Exploiting
// worker correlation for label aggregation in crowdsourcing, ICML 2019), fitted by variational
// Bayes in its mean field. A class has subtypes, and an annotator rates of labels for each of them:
// annotators who err on the same examples agree within a subtype, and are no longer taken for
// independent. Priors are the paper's: Dirichlet, of a row 1 for each label and 4 for the right
// one, of the subtypes of a class 0.1 in all, of the classes the shares of the votes.
const (
	subtypes     = 10
	priorRight   = 4
	priorWrong   = 1
	priorSubtype = 0.1
	startings    = 3 // random starts; the one with the greatest evidence bound wins
)

// fitSubtypes fits a model with the given number of subtypes per class, and returns its last state.
func fitSubtypes(ctx context.Context, a *dataset.Annotations, each, rounds int,
) (best *em, err error) {
	seen := colour(a)
	for start := range startings {
		m, err := newEM(a, Subtypes, each)
		if err != nil {
			return nil, err
		}
		if each > 1 {
			m.split = splitter{items: seen.items, classes: seen.classes, seed: uint64(start)}
		}
		if err := m.settle(ctx, rounds); err != nil {
			return nil, err
		}
		far := m.distance()
		m.count(true)
		m.bound = float64(float64(m.evidence)*evidenceUnit) - far
		if best == nil || m.bound > best.bound {
			best = m
		}
		if each == 1 {
			break // all starts are the same
		}
	}
	return best, nil
}

// expectedRates is the M-step of Subtypes: it writes the exponentials of the expected logarithms.
func (m *em) expectedRates() {
	q, s := m.q, m.states
	each := s / q
	first := float64(priorRight + priorWrong*(q-1))
	right, wrong, whole := expDigamma(priorRight), expDigamma(priorWrong), expDigamma(first)
	parallel.Ranges(len(m.a.Names), 16, func(from, to int) {
		for a := from; a < to; a++ {
			for c := range s {
				total := first
				for k := range q {
					total += float64(m.sums[(a*q+k)*s+c]) / posteriorUnit
				}
				over := whole
				if total > first {
					over = expDigamma(total)
				}
				for k := range q {
					at := (a*q+k)*s + c
					switch { // most subtypes are empty
					case m.sums[at] > 0:
						m.matrices[at] = max(expDigamma(m.concentration(at, k, c/each))/over, leastRate)
					case k == c/each:
						m.matrices[at] = right / over
					default:
						m.matrices[at] = wrong / over
					}
				}
			}
		}
	})
	if m.votes == nil { // of the first round
		m.votes = make([]float64, q)
		for c, v := range m.classes {
			m.votes[c/each] += float64(v) / posteriorUnit
		}
	}
	whole = expDigamma(2 * lists.Sum(m.votes))
	for c := range q {
		of := m.classes[c*each : (c+1)*each]
		examples := float64(lists.Sum(of)) / posteriorUnit
		class := expDigamma(m.votes[c]+examples) / whole
		within := expDigamma(examples + priorSubtype)
		for k, v := range of {
			part := expDigamma(float64(v)/posteriorUnit+priorSubtype/float64(each)) / within
			m.prior[c*each+k] = max(class*part, leastRate)
		}
	}
}

// concentration returns the parameter of label k in the Dirichlet distribution of a row.
func (m *em) concentration(at, k, class int) float64 {
	v := float64(m.sums[at]) / posteriorUnit
	if k == class {
		return v + priorRight
	}
	return v + priorWrong
}

// expDigamma returns exp(ψ(x)) for x > 0, to the precision of float32.
func expDigamma(x float64) float64 {
	factor, down := digammaParts(x)
	return factor * float64(numerics.Exp(float32(-down)))
}

// digammaParts returns factor and down for which ψ(x) is log(factor) - down: by the recurrence of
// ψ, and the asymptotic series of exp(ψ(y+1/2)).
func digammaParts(x float64) (factor, down float64) {
	for range 6 {
		down += 1 / x
		x++
	}
	y := x - 0.5
	return y + 1/(24*y), down
}

func digamma(x float64) float64 {
	factor, down := digammaParts(x)
	return math.Log(factor) - down
}

// distance returns the Kullback-Leibler divergence of the distributions of rows and subtypes, by
// the sums, from their priors.
func (m *em) distance() float64 {
	q, s := m.q, m.states
	each, far := s/q, 0.0
	after, before := make([]float64, q), make([]float64, q)
	for a := range m.a.Names {
		for c := range s {
			for k := range q {
				after[k] = m.concentration((a*q+k)*s+c, k, c/each)
				if before[k] = priorWrong; k == c/each {
					before[k] = priorRight
				}
			}
			far += divergence(after, before)
		}
	}
	after, before = make([]float64, each), make([]float64, each)
	for c := range q {
		for k := range each {
			before[k] = priorSubtype / float64(each)
			after[k] = before[k] + float64(m.classes[c*each+k])/posteriorUnit
		}
		far += divergence(after, before)
	}
	return far
}

// divergence returns the Kullback-Leibler divergence of two Dirichlet distributions.
func divergence(after, before []float64) float64 {
	whole, first := lists.Sum(after), lists.Sum(before)
	far := logGamma(whole) - logGamma(first)
	low := digamma(whole)
	for k, v := range after {
		if v > before[k] {
			far += logGamma(before[k]) - logGamma(v) +
				float64((v-before[k])*(digamma(v)-low))
		}
	}
	return far
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
