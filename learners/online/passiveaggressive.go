package online

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// PassiveAggressive are the parameters of PA: W moves as little as it takes to have each example
// right by a margin of 1, however far that is.
type PassiveAggressive struct {
	Options
	Multiclass Multiclass // Max, All or OVR
}

// NewPassiveAggressive returns the default parameters.
func NewPassiveAggressive() *PassiveAggressive {
	return &PassiveAggressive{Options: standard, Multiclass: Max}
}

// Soft are the parameters of PA-I and PA-II, in which a part of the margin may be left missing
// that costs Aggressiveness times itself, or its square.
type Soft struct {
	Options
	ClassWeights   learners.ClassWeights
	Multiclass     Multiclass // Max, All or OVR
	Aggressiveness float64    // C > 0 of the papers

	squared bool
}

// NewPA1 returns the default parameters of PA-I.
func NewPA1() *Soft {
	return &Soft{Options: standard, ClassWeights: learners.Equal, Multiclass: Max, Aggressiveness: 1}
}

// NewPA2 returns the default parameters of PA-II.
func NewPA2() *Soft {
	return &Soft{Options: standard, ClassWeights: learners.Equal, Multiclass: Max, Aggressiveness: 1,
		squared: true}
}

const paPaper = "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, Online passive-aggressive " +
	"algorithms, JMLR 7 (2006)"
const paExact = "; all classes at once: Matsushima et al., Exact passive-aggressive algorithm " +
	"for multiclass " +
	"classification using support class, SDM 2010"

var (
	pa = define("pa", "passive-aggressive: moves as little as it takes to have each example right "+
		"by a margin of 1",
		paPaper+", Figure 1"+paExact, func() learners.Params { return NewPassiveAggressive() })
	pa1 = define("pa1", "passive-aggressive, where no example moves W by more than the "+
		"aggressiveness (hinge loss)",
		paPaper+", PA-I"+paExact, func() learners.Params { return NewPA1() })
	pa2 = define("pa2", "passive-aggressive, where the part of the margin that is missed costs its "+
		"square",
		paPaper+", PA-II"+paExact, func() learners.Params { return NewPA2() })
)

// Definition implements learners.Params.
func (p *PassiveAggressive) Definition() *learners.Definition { return p.of(pa) }

// Definition implements learners.Params.
func (p *Soft) Definition() *learners.Definition {
	if p.squared {
		return p.of(pa2)
	}
	return p.of(pa1)
}

// Parameters implements learners.Params.
func (p *PassiveAggressive) Parameters() []learners.Parameter {
	return p.parameters(divide(&p.Multiclass, true))
}

// Parameters implements learners.Params.
func (p *Soft) Parameters() []learners.Parameter {
	return p.parameters(learners.Weighting(&p.ClassWeights), divide(&p.Multiclass, true),
		aggressiveness(&p.Aggressiveness))
}

// Check implements learners.Params.
func (p *PassiveAggressive) Check() error { return learners.CheckEach(p) }

// Check implements learners.Params.
func (p *Soft) Check() error { return learners.CheckEach(p) }

// Start implements learners.Params.
func (p *PassiveAggressive) Start(
	_ context.Context, problem *learners.Problem,
) (learners.Learner, error) {
	return start(problem, p)
}

// Stream implements learners.Streamer.
func (p *PassiveAggressive) Stream(
	problem *learners.Problem, w engine.Weights,
) (learners.Stream, error) {
	return newStream(problem, w, p)
}

func (p *PassiveAggressive) parts() (Options, learners.ClassWeights, policy) {
	return p.Options, learners.Equal, newPassive(p.Multiclass, slack{most: math.Inf(1)})
}

// Start implements learners.Params.
func (p *Soft) Start(_ context.Context, problem *learners.Problem) (learners.Learner, error) {
	return start(problem, p)
}

// Stream implements learners.Streamer.
func (p *Soft) Stream(problem *learners.Problem, w engine.Weights) (learners.Stream, error) {
	return newStream(problem, w, p)
}

func (p *Soft) parts() (Options, learners.ClassWeights, policy) {
	return p.Options, p.ClassWeights, newPassive(p.Multiclass, slack{p.Aggressiveness, p.squared})
}

// newPassive returns the policy of W that moves as little as it takes.
func newPassive(m Multiclass, s slack) policy {
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

// unbounded implements unbounded.
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
