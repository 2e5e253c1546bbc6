package numerics

import "math"

// Softmax writes the probabilities of the scores s to p, of the same length, at least 1, and
// returns the largest score m and L = log Σ e^(s_k - m), so that log p_k = s_k - m - L
// (clause 15). Scores of -Inf have probability 0; if all are, or one is +Inf or NaN, m is
// not finite and p has no meaning. p may be s.
func Softmax(p, s []float32) (m, l float32) {
	m = float32(math.Inf(-1))
	for _, v := range s {
		switch {
		case v != v:
			return v, v
		case v > m:
			m = v
		}
	}
	if math.IsInf(float64(m), 0) {
		return m, m
	}
	sum := float32(0)
	for k, v := range s {
		p[k] = Exp(v - m)
		sum += p[k]
	}
	r := Reciprocal(sum)
	for k := range p {
		p[k] = float32(p[k] * r) // rounded, whatever the caller adds to it
	}
	return m, Log(sum)
}

// LossFormat is the fixed-point format of the losses of n examples (clause 16): of numbers
// below 2^15 in size.
func LossFormat(n int) FixedPoint { return NewFixedPoint(MostLoss, n) }

// MostLoss is the largest loss of an example that counts; one of a larger loss is refused.
const MostLoss = 0x1.fffffep14

// Residuals writes the weighted residuals of one example to a, and returns its weighted loss, by
// clause 16; both are 0 and counts is false for one that is refused. A target is logarithms, or
// given. t is scratch; all slices are as long as the scores, and t may be the target.
func Residuals(a, t, scores, target []float32, weight float32, given bool,
) (loss float32, counts bool) {
	m, loss := Softmax(a, scores)
	odd := float32(0) // NaN if a score or m2 is not finite
	for _, s := range scores {
		odd += s - s
	}
	if given {
		for k, v := range target {
			loss = FMA(-v, scores[k]-m, loss)
			a[k] = (a[k] - v) * weight
		}
	} else {
		for k, v := range target {
			t[k] = scores[k] + v
		}
		m2, l2 := Softmax(t, t)
		odd += m2 - m2
		loss = (m - m2) + (loss - l2)
		for k, v := range t {
			a[k] = (a[k] - v) * weight
		}
	}
	if loss *= weight; odd != 0 || !(math.Abs(float64(loss)) <= MostLoss) {
		clear(a)
		return 0, false
	}
	return loss, true
}
