package online

import "math"

// confused is COPA: with c the worth of the example it minimises (Theorem 3)
//
//	½ Σ_r ‖w'_r - w_r‖² + c/2 Σ_{r≠y} max(0, s'_r + 1/(Q-1))²  where  Σ w'_r = Σ w_r.
//
// With the losses ℓ_r = s_r + 1/(Q-1) and κ = 1/c + ‖x‖² the solution is τ_r = mean - α_r with
// α_r = max(0, ℓ_r + mean·‖x‖²)/κ for r ≠ y, α_y = 0, and mean that of all α.
type confused struct {
	aggressiveness float64
	risk
	losses, sorted []float64 // of y -∞
}

func (p *confused) steps(tau, s []float32, e *example) bool {
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

func (*confused) unbounded() bool { return true }
