package online

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Copa are the parameters of COPA.
type Copa struct {
	Options
	// Aggressiveness is C > 0 for an example of a class of average size: one of class y is worth
	// C·(n/(Q·T_y))², T_y being how many there are. Equation 17's C, which is divided by T_y²
	// alone, is this one times (n/Q)².
	Aggressiveness float64
}

// NewCopa returns the default parameters.
func NewCopa() *Copa { return &Copa{Options: standard, Aggressiveness: 1} }

var copa = define("copa",
	"confusion-based passive-aggressive: aims at few errors in each class, however few examples it "+
		"has", "Ralaivola, Confusion-based online learning and a passive-aggressive scheme, NIPS 2012, "+
		"Algorithm 1", func() learners.Params { return NewCopa() })

// Definition implements learners.Params.
func (p *Copa) Definition() *learners.Definition { return p.of(copa) }

// Parameters implements learners.Params.
func (p *Copa) Parameters() []learners.Parameter {
	return p.parameters(aggressiveness(&p.Aggressiveness))
}

// Check implements learners.Params.
func (p *Copa) Check() error { return learners.CheckEach(p) }

// Start implements learners.Params.
func (p *Copa) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	return start(problem, p)
}

// Stream implements learners.Streamer.
func (p *Copa) Stream(problem *learners.Problem, w engine.Weights) (learners.Stream, error) {
	return newStream(problem, w, p)
}

func (p *Copa) parts() (Options, learners.ClassWeights, policy) {
	return p.Options, learners.Balanced, &confused{aggressiveness: p.Aggressiveness}
}

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

// unbounded implements unbounded.
func (*confused) unbounded() bool { return true }
