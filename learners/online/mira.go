package online

import (
	"cmp"
	"slices"
)

// shortest is MIRA with a margin β: it minimises ½‖W + τ·xᵀ‖² - β·‖x‖²·τ_y where τ_y ≤ 1,
// τ_r ≤ 0 for the other r, and Στ = 0.
//
// With D_r = s_r/‖x‖² + β for r ≠ y and D_y = s_y/‖x‖² + 1 that is the point of the simplex
// (p_r ≥ 0, Σp = 1) nearest to D, and τ is 1 - p_y, -p_r. It is p_r = max(0, D_r - θ), θ
// found by going through D from the largest down.
type shortest struct {
	margin    float64
	d, sorted []float64
}

func (p *shortest) steps(tau, s []float32, e *example) (any bool) {
	if e.norm2 == 0 {
		return false
	}
	p.d = p.d[:0]
	for r, score := range s {
		lead := p.margin
		if r == e.y {
			lead = 1
		}
		p.d = append(p.d, float64(score)/float64(e.norm2)+lead)
	}
	p.sorted = append(p.sorted[:0], p.d...)
	sortDown(p.sorted)
	theta := threshold(p.sorted, 1)
	for r, d := range p.d {
		step := -max(0, d-theta)
		if r == e.y {
			step++
		}
		tau[r] = float32(e.weight * step)
		any = any || r != e.y && tau[r] != 0
	}
	return any
}

// threshold returns the θ with Σ max(0, v - θ) = total, which is above 0; v is sorted downwards. Of
// the sum of the first k of them it is (sum - total)/k for the largest k for which v_k is above it.
func threshold(v []float64, total float64) (theta float64) {
	sum := 0.0
	for k, x := range v {
		sum += x
		next := (sum - total) / float64(k+1)
		if k > 0 && x <= next {
			break
		}
		theta = next
	}
	return theta
}

// sortDown sorts numbers, the largest first.
func sortDown(v []float64) {
	if len(v) > 64 {
		slices.SortFunc(v, func(a, b float64) int { return cmp.Compare(b, a) })
		return
	}
	for k, x := range v {
		for ; k > 0 && v[k-1] < x; k-- {
			v[k] = v[k-1]
		}
		v[k] = x
	}
}
