package online

import "math"

// newPassive returns the policy of W that moves as little as it takes.
func newPassive(m string, s slack) policy {
	if m == OVR {
		return passiveOVR{s}
	}
	return &passive{slack: s, all: m == All}
}

// slack is what it costs to miss a part ξ of the margin: most·ξ or, squared, most·ξ².
type slack struct {
	most    float64 // C; infinite if nothing may be missed
	squared bool
}

// missing returns how much of the margin is missed for each unit that an example is moved, in
// units of ‖x‖²: 0 unless the cost is squared.
func (s slack) missing(e *example) float64 {
	if !s.squared {
		return 0
	}
	return 1 / (2 * s.most * e.weight * float64(e.norm2))
}

// cap returns by how much an example may be moved at most.
func (s slack) cap(e *example) float64 {
	if s.squared {
		return math.Inf(1)
	}
	return s.most * e.weight
}

func (s slack) unbounded() bool { return s.squared || math.IsInf(s.most, 1) }

// passiveOVR has each class by itself: of the loss ℓ = 1 - s_y, or 1 + s_r for the other classes,
// the step is ℓ/‖x‖², as the cost allows (Figure 1 of Crammer et al.).
type passiveOVR struct{ slack }

func (p passiveOVR) steps(tau, s []float32, e *example) (any bool) {
	if e.norm2 == 0 {
		return false
	}
	most, missing := p.cap(e), p.missing(e)
	for r, score := range s {
		sign := -1.0
		if r == e.y {
			sign = 1
		}
		if loss := 1 - float64(sign*float64(score)); loss > 0 {
			tau[r] = float32(sign * min(most, loss/float64(e.norm2)/(1+missing)))
			any = any || tau[r] != 0
		}
	}
	return any
}

// passive moves the class of an example against others: against the best of them (Crammer et
// al., Section 8), or against all. It minimises ½‖W' - W‖² + cost(ξ) where s'_y - s'_r ≥ 1 - ξ for
// each of these r.
//
// With the losses ℓ_r = 1 - s_y + s_r and v_r = ℓ_r/‖x‖² the solution is τ_r = -max(0, v_r - θ),
// τ_y = T = Σ max(0, v_r - θ). If nothing is missed θ = T, if the cost is squared θ = β·T with
// β = 1 + missing; and if T may be no more than C it is what T = C makes it (Matsushima et al.,
// Theorems 1 to 3, who call the classes with v_r > θ support classes).
type passive struct {
	slack
	all       bool
	v, sorted []float64 // v of all classes, of y -∞
}

func (p *passive) steps(tau, s []float32, e *example) (any bool) {
	if e.norm2 == 0 {
		return false
	}
	p.v = p.v[:0]
	rival := -1
	for r, score := range s {
		v := math.Inf(-1)
		if r != e.y {
			v = (1 - (float64(s[e.y]) - float64(score))) / float64(e.norm2)
			if rival < 0 || v > p.v[rival] {
				rival = r
			}
		}
		p.v = append(p.v, v)
	}
	if p.v[rival] <= 0 {
		return false
	}
	beta, most := 1+p.missing(e), p.cap(e)
	if !p.all {
		tau[e.y] = float32(min(most, p.v[rival]/(1+beta)))
		tau[rival] = -tau[e.y]
		return tau[e.y] != 0
	}
	p.sorted = append(p.sorted[:0], p.v...)
	sortDown(p.sorted)
	p.sorted = p.sorted[:len(p.sorted)-1] // without y
	total := support(p.sorted, beta)
	theta := float64(beta * total)
	if total > most {
		total, theta = most, threshold(p.sorted, most)
	}
	for r, v := range p.v {
		if v > theta {
			tau[r] = float32(-(v - theta))
		}
	}
	tau[e.y] = float32(total)
	return tau[e.y] != 0
}

// support returns the T with T = Σ max(0, v - β·T), v sorted downwards and v_1 above 0: of the sum
// of the first k of them it is sum/(1 + β·k) for the largest k for which v_k is above β·T.
func support(v []float64, beta float64) (total float64) {
	sum := 0.0
	for k, x := range v {
		if k > 0 && x <= float64(beta*total) {
			break
		}
		sum += x
		total = sum / (1 + float64(beta*float64(k+1)))
	}
	return total
}
