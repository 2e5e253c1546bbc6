package online

import (
	"math"

	"github.com/uma-gpu/uma-gpu/learners"
)

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

func (k *risk) begin(inverse []float64, q int) {
	*k = risk{inverse: inverse, counts: make([]float64, q), sums: make([]float64, q*q)}
}

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

// fields implements teller: the operator norm of the risk, and below what that of the mean of all
// W on the way stays, with the probability certainty, if examples are drawn by chance and the pass
// is the first. Beyond the norm that is M·√(2Q·Σ_i ‖b_i‖²·ln(2Q/δ)), M the largest loss seen and
// b_i what example i adds to the rows of the risk, 1/T_y to its own if labels are right (Theorem
// 2; its text has Q/δ, its proof 2Q/δ).
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
	norm := operatorNorm(matrix, q)
	slack := k.most * math.Sqrt(float64(2*float64(q)*squares*math.Log(2*float64(q)/(1-certainty))))
	return []learners.Field{{Name: "confusion risk", Value: norm}, {Name: "bound", Value: norm +
		slack}}
}

// operatorNorm returns the largest singular value of the q×q matrix a, whose entries are not
// negative: by powers of aᵀa, in whose largest a vector above 0 has a share.
func operatorNorm(a []float64, q int) (norm float64) {
	v := make([]float64, q)
	for r := range v {
		v[r] = 1
	}
	for range 1000 {
		u, next, length := make([]float64, q), make([]float64, q), 0.0
		for r := range q {
			for c := range q {
				u[r] += float64(a[r*q+c] * v[c])
			}
		}
		for c := range q {
			for r := range q {
				next[c] += float64(a[r*q+c] * u[r])
			}
			length += float64(next[c] * next[c])
		}
		if length = math.Sqrt(length); length == 0 {
			return 0
		}
		for c := range q {
			next[c] /= length
		}
		before := norm
		if v, norm = next, math.Sqrt(length); math.Abs(norm-before) <= 1e-12*norm {
			break
		}
	}
	return norm
}
