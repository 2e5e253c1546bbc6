package main

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// tLogistic is logistic regression whose probabilities have heavy tails, for two classes (Ding and
// Vishwanathan, t-Logistic regression, 2010, with t = 2), so that one example on the wrong side
// costs little more the farther it is there:
//
//	λ/2·‖w‖² + mean over examples of log h(u), h(u) = 1 + √(1 + u²/4) - u/2 = 1/P(y|x), u = ±⟨w,x⟩.
//
// Of t = 2 the normalization has this closed form. It is no learner of the catalog: it is there to
// be compared with.
type tLogistic struct {
	n, d   int
	x      []float64 // n×d: examples times the sign of their label
	counts []float64 // n: how often each is there
	lambda float64
}

const (
	tLogisticSteps = 3000
	tLogisticNear  = 1e-7 // change of w that ends it, of the largest weight
)

// minimum returns a minimum of the loss near w, which is none for all if the loss has several. A
// step is that of the paper's Section 5: with the product of all h bounded by their weighted sum,
// weights 1/h, the sum is made less. Here the root too is bounded, by a square, so that a step is
// a least-squares problem, and the loss never grows.
func (t *tLogistic) minimum(w []float64) []float64 {
	w = append([]float64(nil), w...)
	d, total := t.d, 0.0
	for _, c := range t.counts {
		total += c
	}
	a, b := make([]float64, d*d), make([]float64, d)
	for range tLogisticSteps {
		clear(a)
		clear(b)
		for i := range t.n {
			x := t.x[i*d : (i+1)*d]
			u := inner(w, x)
			s := math.Sqrt(1 + float64(u*u)/4)
			xi := t.counts[i] / total / height(u, s)
			for j, v := range x {
				b[j] += float64(xi / 2 * v)
				g := float64(xi / (4 * s) * v)
				for k, o := range x[:j+1] {
					a[j*d+k] += float64(g * o)
				}
			}
		}
		for j := range d {
			a[j*d+j] += t.lambda
			for k := range j {
				a[k*d+j] = a[j*d+k]
			}
		}
		inverse, ok := numerics.Inverse(a, d)
		if !ok {
			return w
		}
		change, largest := 0.0, 0.0
		for j := range w {
			v := inner(inverse[j*d:(j+1)*d], b)
			change, largest = max(change, math.Abs(v-w[j])), max(largest, math.Abs(v))
			w[j] = v
		}
		if change <= tLogisticNear*largest {
			break
		}
	}
	return w
}

// least returns the lowest of the minima near the given weights.
func (t *tLogistic) least(from [][]float64) []float64 {
	var best []float64
	least := math.Inf(1)
	for _, w := range from {
		w = t.minimum(w)
		if v := t.loss(w); v < least {
			best, least = w, v
		}
	}
	return best
}

// loss is the loss of weights, to six digits.
func (t *tLogistic) loss(w []float64) float64 {
	sum, total := 0.0, 0.0
	for i, c := range t.counts {
		u := inner(w, t.x[i*t.d:(i+1)*t.d])
		sum += float64(c * float64(numerics.Log(float32(height(u, math.Sqrt(1+float64(u*u)/4))))))
		total += c
	}
	return float64(t.lambda/2*inner(w, w)) + sum/total
}

// height returns h(u), given s = √(1 + u²/4).
func height(u, s float64) float64 {
	if u > 0 {
		return 1 + 1/(s+u/2) // the same, of large u more exactly
	}
	return 1 + s - u/2
}

func inner(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += float64(v * b[j])
	}
	return sum
}
