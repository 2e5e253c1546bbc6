package metric

import (
	"math"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// drift says how far estimates move with the errors of the confusion matrix. Of B = C⁻¹ a small dC
// makes dB = -B·dC·B, so an estimate that is linear in B moves by -Σ dC[i][j]·G[i][j] with a G of
// its own.
type drift struct {
	q int
	// spread is τ, Q×Q: column j of dC has the covariance diag(τ_j) - τ_jτ_jᵀ/Σ_i τ[i][j], the
	// covariance of shares that sum to 1.
	spread []float64
}

// newDrift returns the drift of a matrix whose entries have these standard errors; nil for none.
func newDrift(errs []float64, q int) *drift {
	if errs == nil {
		return nil
	}
	d := &drift{q: q, spread: make([]float64, q*q)}
	column := make([]float64, q)
	for j := range q {
		for i := range q {
			column[i] = float64(errs[i*q+j] * errs[i*q+j])
		}
		for i, v := range spreads(column) {
			d.spread[i*q+j] = v
		}
	}
	return d
}

// variance returns the variance of the estimate with the given G; 0 without drift.
func (d *drift) variance(g func(i, j int) float64) float64 {
	if d == nil {
		return 0
	}
	all := 0.0
	for j := range d.q {
		sum, mean := 0.0, 0.0
		for i := range d.q {
			t := d.spread[i*d.q+j]
			sum += t
			mean += float64(t * g(i, j))
		}
		if sum == 0 {
			continue
		}
		mean /= sum
		for i := range d.q {
			off := g(i, j) - mean
			all += float64(d.spread[i*d.q+j] * float64(off*off))
		}
	}
	return all
}

// spreads returns the τ whose covariance has the variances v: τ_i·(1 - τ_i/T) = v_i, where T = Σ
// τ. An entry that varies more than all others together cannot, if they sum to 1; it gets what
// they vary.
func spreads(v []float64) []float64 {
	most := lists.Largest(v)
	others := lists.Sum(v) - v[most]
	tau := make([]float64, len(v))
	if others == 0 {
		return tau
	}
	// solve sets τ for T, of the largest entry the larger solution if so asked, and returns Σ τ - T.
	solve := func(total float64, large bool) float64 {
		sum := -total
		for i, x := range v {
			root := math.Sqrt(max(0, 1-4*x/total))
			tau[i] = 2 * x / (1 + root) // total·(1-root)/2, without its cancellation
			if i == most && large {
				tau[i] = total - tau[i]
			}
			sum += tau[i]
		}
		return sum
	}
	low := 4 * v[most]
	large := solve(low, false) < 0
	high := 2 * low
	const doublings = 60
	for k := 0; (solve(high, large) > 0) != large; k++ {
		if high *= 2; k == doublings { // the largest varies as much as all others can make it
			break
		}
	}
	for range 100 {
		middle := (low + high) / 2
		if (solve(middle, large) > 0) == large {
			high = middle
		} else {
			low = middle
		}
	}
	solve(high, large)
	return tau
}

// moves returns G of the accuracy: Bᵀ·J/n; nil if there is no drift.
func (s *correction) moves() func(i, j int) float64 {
	if s.drift == nil {
		return nil
	}
	g := make([]float64, s.q*s.q)
	for p := range s.q {
		for i := range s.q {
			for j := range s.q {
				g[i*s.q+j] += float64(s.inverse[p*s.q+i]*s.joint[p*s.q+j]) / s.n
			}
		}
	}
	return func(i, j int) float64 { return g[i*s.q+j] }
}
