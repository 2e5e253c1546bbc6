package online

import (
	"math"

	"github.com/uma-gpu/uma-gpu/learners"
)

// risk is the empirical online confusion risk of a pass (Definition 4 of Ralaivola): entry (y,r) is
// the mean, over the examples of class y, of the loss by which r was favoured when it was its turn.
type risk struct {
	counts []float64 // T_y
	sums   []float64 // of losses, Q×Q: row y, column r
	most   float64   // of the losses
}

// begin implements teller.
func (k *risk) begin(q int) { *k = risk{counts: make([]float64, q), sums: make([]float64, q*q)} }

// add takes note of the losses of an example of class y; those below 0 count as 0.
func (k *risk) add(y int, losses []float64) {
	k.counts[y]++
	for r, loss := range losses {
		k.sums[y*len(losses)+r] += max(0, loss)
		k.most = max(k.most, loss)
	}
}

// certainty is 1 - δ of the bound on the risk.
const certainty = 0.95

// fields implements teller: the operator norm of the risk, and by how much that of the mean of all W on the
// way may be larger, with the probability certainty, if examples are drawn by chance and the pass
// is the first: M·√(2Q·Σ 1/T_y·ln(Q/δ)) with M the largest loss seen (Theorem 2).
func (k *risk) fields() []learners.Field {
	q := len(k.counts)
	matrix, inverses := make([]float64, q*q), 0.0
	for y, count := range k.counts {
		if count == 0 {
			continue
		}
		inverses += 1 / count
		for r := range q {
			matrix[y*q+r] = k.sums[y*q+r] / count
		}
	}
	slack := k.most * math.Sqrt(float64(2*float64(q)*inverses*math.Log(float64(q)/(1-certainty))))
	return []learners.Field{
		{Name: "‖confusion risk‖", Value: operatorNorm(matrix, q)}, {Name: "±", Value: slack},
	}
}

// operatorNorm returns the largest singular value of the q×q matrix a, whose entries are not
// negative: by powers of aᵀa, of which a vector above 0 has a share in the largest.
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
