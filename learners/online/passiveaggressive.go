package online

import (
	"cmp"
	"math"
	"slices"
)

// newPassive returns the policy of W that moves as little as it takes.
func newPassive(m string, s slack) policy {
	if m == OVR {
		return passiveOVR{s}
	}
	return passiveAggressive{s}
}

// slack is the cost of missing a part ξ of the margin: most·ξ or, squared, most·ξ².
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

// passiveAggressive moves the class y of an example against the best class r of the others (Crammer
// et al., Section 8). It minimises ½‖W' - W‖² + cost(ξ) where s'_y - s'_r ≥ 1 - ξ: of the loss
// ℓ = 1 - s_y + s_r the step is ℓ/(2·‖x‖²), as the cost allows.
type passiveAggressive struct{ slack }

func (p passiveAggressive) steps(tau, s []float32, e *example) bool {
	if e.norm2 == 0 {
		return false
	}
	rival, most := -1, 0.0
	for r, score := range s {
		if r == e.y {
			continue
		}
		v := (1 - (float64(s[e.y]) - float64(score))) / float64(e.norm2)
		if rival < 0 || v > most {
			rival, most = r, v
		}
	}
	if most <= 0 {
		return false
	}
	tau[e.y] = float32(min(p.cap(e), most/(1+(1+p.missing(e)))))
	tau[rival] = -tau[e.y]
	return tau[e.y] != 0
}

// errorSet is an ultraconservative additive algorithm (Algorithm 1 of the paper of UMA): the
// class of the example gets 1, the classes of the error set share -1.
type errorSet struct{ step string }

func (p errorSet) steps(tau, s []float32, e *example) bool {
	own := s[e.y]
	size, best, excess := 0, -1, 0.0
	for r, score := range s {
		if r == e.y || score < own {
			continue
		}
		size++
		excess += float64(score) - float64(own)
		if best < 0 || score > s[best] {
			best = r
		}
	}
	if size == 0 {
		return false
	}
	tau[e.y] = float32(e.weight)
	switch p.step {
	case StepMax:
		tau[best] = -tau[e.y]
		return true
	case StepRandom:
		left := e.random.IntN(size)
		for r, score := range s {
			if r == e.y || score < own {
				continue
			}
			if left == 0 {
				tau[r] = -tau[e.y]
			}
			left--
		}
		return true
	}
	for r, score := range s {
		if r == e.y || score < own {
			continue
		}
		share := 1 / float64(size)
		if p.step == StepProportional && excess > 0 {
			share = (float64(score) - float64(own)) / excess
		}
		tau[r] = float32(-e.weight * share)
	}
	return true
}

// perceptrons are one for each class, to whom the examples of the class are 1 and the others
// -1; none is content with a score of 0.
type perceptrons struct{}

func (perceptrons) steps(tau, s []float32, e *example) (any bool) {
	for r, score := range s {
		switch {
		case r == e.y && score <= 0:
			tau[r], any = float32(e.weight), true
		case r != e.y && score >= 0:
			tau[r], any = float32(-e.weight), true
		}
	}
	return any
}

// mira is MIRA with a margin β: it minimises ½‖W + τ·xᵀ‖² - β·‖x‖²·τ_y where τ_y ≤ 1,
// τ_r ≤ 0 for the other r, and Στ = 0.
//
// With D_r = s_r/‖x‖² + β for r ≠ y and D_y = s_y/‖x‖² + 1 that is the point of the simplex
// (p_r ≥ 0, Σp = 1) nearest to D, and τ is 1 - p_y, -p_r. It is p_r = max(0, D_r - θ), θ
// found by going through D from the largest down.
type mira struct {
	margin    float64
	d, sorted []float64
}

func (p *mira) steps(tau, s []float32, e *example) (any bool) {
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

// copa is COPA: with c the worth of the example it minimises (Theorem 3)
//
//	½ Σ_r ‖w'_r - w_r‖² + c/2 Σ_{r≠y} max(0, s'_r + 1/(Q-1))²  where  Σ w'_r = Σ w_r.
//
// With the losses ℓ_r = s_r + 1/(Q-1) and κ = 1/c + ‖x‖² the solution is τ_r = mean - α_r with
// α_r = max(0, ℓ_r + mean·‖x‖²)/κ for r ≠ y, α_y = 0, and mean the mean of all α.
type copa struct {
	aggressiveness float64
	risk
	losses, sorted []float64 // of y -∞
}

func (p *copa) steps(tau, s []float32, e *example) bool {
	q, norm2 := float64(len(s)), float64(e.norm2)
	p.losses = p.losses[:0]
	for r, score := range s {
		loss := math.Inf(-1)
		if r != e.y {
			loss = float64(score) + 1/(q-1)
		}
		p.losses = append(p.losses, loss)
	}
	kappa := 1/(p.aggressiveness*e.weight*e.weight) + norm2
	p.sorted = append(p.sorted[:0], p.losses...)
	sortDown(p.sorted)
	lift := 0.0 // mean·‖x‖² if the losses up to here are all that count (equations 19 and 20)
	sum := 0.0
	for k, loss := range p.sorted[:len(s)-1] {
		if loss+lift <= 0 {
			break
		}
		sum += loss
		lift = norm2 * sum / (float64(kappa*q) - float64(float64(k+1)*norm2))
	}
	if p.sorted[0] <= 0 || norm2 == 0 {
		return false
	}
	mean := lift / norm2
	for r, loss := range p.losses {
		tau[r] = float32(mean - max(0, loss+lift)/kappa)
	}
	return true
}
