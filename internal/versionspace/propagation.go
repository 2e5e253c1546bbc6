package versionspace

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Propagation finds the centre of a soft version space by expectation propagation (Minka, A family
// of algorithms for approximate Bayesian inference, MIT 2001, section 4.2.1: the Bayes point
// machine): a normal distribution N(m, V) in which each example has a factor exp(ν·z - ½τ·z²) of z
// = ⟨w, x⟩/√λ, such that the mean and the variance of z are those it has if the example's own wall
// takes the place of its factor.
//
// All examples take a part of the step towards that in one pass: a smaller part if the means had
// less of the way before them a pass earlier, else a slightly larger one. Walls that may be wrong
// can ask for τ below 0; it is held at 0, the mean is then met alone.
type Propagation struct {
	s      *Soft
	tau    []float64
	nu     []float64
	cavity []float64 // mean/√(1 + variance) of z without the example's own factor
	step   float64   // part of the way
	moved  float64   // as Moved has it

	mean            []float64 // m
	factor          []float64 // of V⁻¹
	means, variance []float64 // of z, by N(m, V)
}

// Propagate returns what knows nothing of any example: m = 0, V = I.
func (s *Soft) Propagate() *Propagation {
	return &Propagation{
		s: s, tau: make([]float64, s.n), nu: make([]float64, s.n), cavity: make([]float64, s.n),
		step: mostStep, moved: math.Inf(1), mean: make([]float64, s.d),
		factor: make([]float64, s.d*s.stride), means: make([]float64, s.n),
		variance: slices.Clone(s.lengths),
	}
}

// Parts of the way. More than mostStep made no centre come sooner on optdigits, and some walls
// swing from one side to the other if softness is 0.01 and the part 0.9, or 0.001 and 0.5.
const (
	leastStep = 0x1p-4
	mostStep  = 0.8
)

// Pass takes a step for all examples, each by its evidence. The error says that
// rounding left nothing of V.
func (p *Propagation) Pass(evidence []Evidence) error {
	parallel.Ranges(p.s.n, 256, func(from, to int) {
		for i := from; i < to; i++ {
			p.improve(i, evidence[i])
		}
	})
	before := slices.Clone(p.means)
	if err := p.compute(); err != nil {
		return err
	}
	moved := 0.0
	for i, v := range p.means {
		moved = max(moved, math.Abs(v-before[i])/math.Sqrt(1+p.variance[i]))
	}
	if moved /= p.step; moved >= p.moved {
		p.step = max(p.step*0.7, leastStep)
	} else {
		p.step = min(p.step*1.05, mostStep)
	}
	p.moved = moved
	return nil
}

// Moved returns how far the mean of any z would have moved in the last pass if it had gone all the
// way, in units of √(1 + its variance). +Inf before the first.
func (p *Propagation) Moved() float64 { return p.moved }

// improve takes the step of example i. The factor that it then has turns the normal distribution
// without it, the cavity, into one with the moments that the wall gives.
func (p *Propagation) improve(i int, e Evidence) {
	v := p.variance[i]
	if v == 0 || e.Above == 0 && e.Below == 0 {
		return // x is 0, or the label should not be there
	}
	rest := 1 - float64(v*p.tau[i])
	if !(rest > 1e-9) {
		return // nothing but rounding
	}
	without := v / rest
	mean := (p.means[i] - float64(v*p.nu[i])) / rest
	width := math.Sqrt(1 + without)
	z := mean / width
	p.cavity[i] = z
	draw := slope(z, e.Above, e.Below)
	bend := float64(draw*(z+draw)) / (1 + without) // -d²log/dmean²
	draw /= width
	tau, nu := 0.0, draw
	if bend > 0 {
		left := 1 - float64(without*bend) // variance with the wall, over that without
		tau, nu = bend/left, (draw+float64(mean*bend))/left
	}
	p.tau[i] += float64(p.step * (tau - p.tau[i]))
	p.nu[i] += float64(p.step * (nu - p.nu[i]))
}

// compute computes m, and the means and variances of all z, from the factors.
func (p *Propagation) compute() error {
	s := p.s
	s.precision(p.factor, p.tau)
	if !cholesky(p.factor, s.stride, s.d) {
		return errors.New("expectation propagation: found a variance that rounding has left nothing " +
			"of, wanted one " +
			"above 0: take a greater softness, or normalise the features")
	}
	clear(p.mean)
	for i, v := range p.nu {
		if v != 0 {
			addScaled(p.mean, v, s.row(i))
		}
	}
	forward(p.mean, p.factor, p.mean, s.stride)
	backward(p.mean, p.factor, s.stride)
	parallel.Ranges((s.n+abreast-1)/abreast, 1+5000/(s.d*s.d), func(from, to int) {
		y := make([]side, s.d)
		for group := from; group < to; group++ {
			some := min(abreast, s.n-abreast*group)
			for k := range abreast { // the last again, where there are not as many
				for j, v := range s.row(abreast*group + min(k, some-1)) {
					y[j][k] = v
				}
			}
			lengths := fastest.solve(y, p.factor, s.stride)
			for k := range some {
				i := abreast*group + k
				p.means[i], p.variance[i] = dot(s.row(i), p.mean), lengths[k]
			}
		}
	})
	return nil
}

// Centre returns m, which the next pass writes to.
func (p *Propagation) Centre() []float64 { return p.mean }

// Without returns, for each example, by how many units of its doubt the distribution before the
// last pass has it above, its own evidence put aside: P(above) is Φ of that. The next pass writes
// to it.
func (p *Propagation) Without() []float64 { return p.cavity }

// Doubt returns √(1 + v), v being the mean of the variances of ⟨w, x⟩/√λ over the examples: the
// share of w with x above 0 is about Φ(⟨m, x⟩/(√λ·Doubt)).
func (p *Propagation) Doubt() float64 {
	return math.Sqrt(1 + lists.Sum(p.variance)/float64(max(len(p.variance), 1)))
}

// Places returns pointers to all that Pass goes on from, and slices of it. Resume goes on from what
// was written there.
func (p *Propagation) Places() []any { return []any{p.tau, p.nu, p.cavity, &p.step, &p.moved} }

// Resume computes the rest from what was written to Places. The error says what no propagation
// would have come to; p is then of no more use.
func (p *Propagation) Resume() error {
	for i, tau := range p.tau {
		if sum := tau + p.nu[i] + p.cavity[i]; sum-sum != 0 || tau < 0 {
			return fmt.Errorf("expectation propagation: found a state with precision %g and mean %g of "+
				"example %d", tau, p.nu[i], i)
		}
	}
	if !(p.step >= leastStep && p.step <= mostStep && p.moved >= 0) {
		return fmt.Errorf("expectation propagation: found a step of %g in a state", p.step)
	}
	return p.compute()
}
