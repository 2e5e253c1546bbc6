package confusion

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Inverse is C⁻¹ and estimates by it from noisy labels. Matrix.Invert makes it; its methods do not
// change it.
//
// Where a method takes counts, they are N of clause 5, Q·Q row-major: counts[p*Q+k] examples are
// predicted p and have noisy label k, n examples in all, n ≥ 1. Sums are float64 in the order
// given, and each product is rounded before it is added.
type Inverse struct {
	Q         int
	V         []float64 // Q·Q, row-major: C⁻¹[q][k] = V[q*Q+k]
	Condition float64   // condition number of C; of the exact inverse at most MaxCondition
}

// Float32 returns a fresh B = float32(C⁻¹) of clause 6: Q·Q, row-major.
func (v *Inverse) Float32() []float32 {
	return lists.As[float32](v.V)
}

// EstimatedError returns the estimated clean error of clause 10, 1 - Σ_p Σ_k (N[p][k]/n)·C⁻¹[p][k],
// in one running sum that starts at 0 and takes p, and within p k, in increasing order. As an
// estimate it may leave [0, 1].
func (v *Inverse) EstimatedError(counts []int64, n int) float64 {
	sum := 0.0
	for i, c := range counts[:v.Q*v.Q] {
		sum += float64(float64(c) / float64(n) * v.V[i])
	}
	return 1 - sum
}

// Priors returns Q estimates π̂ = C⁻¹ŷ/n of the frequencies of the true classes (clause 7), where
// labelCounts[k] of the n examples have noisy label k: the sum over k of C⁻¹[q][k]·labelCounts[k]
// in increasing k, divided by n, and 1/n where it is less than that.
func (v *Inverse) Priors(labelCounts []int64, n int) []float64 {
	pi := make([]float64, v.Q)
	for q := range pi {
		sum := 0.0
		for k, c := range labelCounts[:v.Q] {
			sum += float64(v.V[q*v.Q+k] * float64(c))
		}
		pi[q] = max(sum/float64(n), 1/float64(n))
	}
	return pi
}

// NoNoise returns the inverse of the q×q identity: labels are right.
func NoNoise(q int) *Inverse {
	v := &Inverse{Q: q, V: make([]float64, q*q), Condition: 1}
	for r := range q {
		v.V[r*q+r] = 1
	}
	return v
}

// entry is a nonzero number of a line of a matrix and its index in the line.
type entry struct {
	at    int
	value float64
}

// sparse returns the nonzero entries of each line of a q×q matrix; the numbers of a line are step
// apart and lines start next apart: 1 and q for rows, q and 1 for columns. Skipping zeros changes
// no bit of a sum that starts at 0, and saves nearly all terms for many classes with little noise.
func sparse(a []float64, q, step, next int) [][]entry {
	lines, line := make([][]entry, q), make([]entry, 0, q)
	for r := range lines {
		line = line[:0]
		for k := range q {
			if v := a[r*next+k*step]; v != 0 {
				line = append(line, entry{k, v})
			}
		}
		lines[r] = slices.Clone(line)
	}
	return lines
}

// explainable is the share of labels that may be anything, whatever C says: an estimated or rounded
// matrix has zeros for rare events.
const explainable = 0.01

// explainRounds bounds the rounds of EM for the shares, a concave problem.
const explainRounds = 500

// Shares returns the maximum-likelihood shares t of the true classes, given labels[k] noisy labels
// k, and the probability of each label under them. t is C⁻¹ŷ where that is a distribution. A share
// of up to explainable belongs to no class and has uniform labels. Without labels t is 0.
func (m *Matrix) Shares(labels []int64) (t, mean []float64) {
	c, row, q, n := m.P, labels, m.Q(), 0.0
	for _, v := range labels {
		n += float64(v)
	}
	n = max(1, n)
	t, mean = make([]float64, q), make([]float64, q)
	for r := range t {
		t[r] = (1 - explainable) / float64(q)
	}
	none := explainable
	mix := func() {
		for k := range mean {
			mean[k] = none / float64(q)
			for r, v := range t {
				mean[k] += c[k*q+r] * v
			}
		}
	}
	mix()
	for range explainRounds {
		moved, all, next := 0.0, 0.0, 0.0
		for k, f := range row {
			if f > 0 {
				next += float64(f) * none / float64(q) / mean[k]
			}
		}
		none = min(explainable, next/n)
		before := slices.Clone(t)
		for r, v := range t {
			sum := 0.0
			for k, f := range row {
				if f > 0 {
					sum += float64(f) * c[k*q+r] / mean[k]
				}
			}
			t[r] = v * sum
			all += t[r]
		}
		if all == 0 { // no class has these labels
			break
		}
		for r := range t {
			t[r] *= (1 - none) / all
			moved = max(moved, math.Abs(t[r]-before[r]))
		}
		mix()
		if moved < 1e-7 {
			break
		}
	}
	return t, mean
}
