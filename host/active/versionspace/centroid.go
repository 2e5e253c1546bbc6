package versionspace

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Options configures Centroid. Zero values mean the defaults.
type Options struct {
	Seed     uint64
	Chains   int // independent billiards, at least 2; default 8
	MaxSteps int // bounces of each chain; default 2^20

	// Angle is the largest disagreement between chains, in radians; default 1 degree. Chains in a
	// narrower space agree at once: a share of Ball's Margin suits any space.
	Angle float64
}

// Centroid is an estimate of the centre of gravity of a version space.
type Centroid struct {
	Centre []float64   // inside the space
	Chains [][]float64 // the estimate of each chain
	Steps  int         // bounces of each chain, including the rounds that were discarded
	Agreed bool        // whether the chains agree up to Angle

	// Spread is the largest angle between a chain's estimate and Centre, in radians, measured as the
	// distance between the two scaled to length 1. Errors that all chains share do not show in it.
	Spread float64
}

// firstRound is the number of bounces in the first round.
const firstRound = 1024

// Centroid estimates the centre of gravity with a billiard: a ball that bounces off the walls,
// including the sphere (equations 5.4 and 5.5). The estimate is the mean of the mid-points of its
// flights, weighted by their lengths. At regular distances the ball takes a random direction, since
// a ball that keeps its direction is not ergodic.
//
// Chains start at the centre of Ball. Each round is twice as long as the previous one and discards
// it; the rounds end when the estimates of the chains agree. Errors: errors from Ball, invalid
// options, and a cancelled ctx.
func (s *Space) Centroid(ctx context.Context, o Options) (Centroid, error) {
	o.Chains = cmp.Or(o.Chains, 8)
	if o.Angle == 0 {
		o.Angle = math.Pi / 180
	}
	o.MaxSteps = cmp.Or(o.MaxSteps, 1<<20)
	if o.Chains < 2 || !(o.Angle > 0) || o.MaxSteps < 1 {
		return Centroid{}, fmt.Errorf("centroid of a version space: found %d chains, an angle of %g and "+
			"at most %d steps, wanted 2 chains or more, an angle above 0 and a step or more", o.Chains,
			o.Angle, o.MaxSteps)
	}
	ball, err := s.Ball()
	if err != nil {
		return Centroid{}, err
	}
	c := Centroid{Centre: make([]float64, s.d), Chains: make([][]float64, o.Chains)}
	for k := range c.Chains {
		c.Chains[k] = make([]float64, s.d)
	}
	if s.m == 0 {
		c.Agreed = true // on the centre of the unit ball, which has no direction to agree on
		return c, nil
	}
	chains, lengths := make([]*billiard, o.Chains), make([]float64, o.Chains)
	for k := range chains {
		chains[k] = newBilliard(s, ball.Centre, rand.New(rand.NewPCG(o.Seed, uint64(k))))
	}
	for steps := firstRound; !c.Agreed && c.Steps < o.MaxSteps; steps *= 2 {
		if err := ctx.Err(); err != nil {
			return Centroid{}, err
		}
		if left := o.MaxSteps - c.Steps; left < 3*steps {
			steps = left // no room for another round
		}
		parallel.Tasks(len(chains), func(k int) {
			clear(c.Chains[k])
			lengths[k] = chains[k].walk(steps, c.Chains[k])
		})
		c.Steps += steps
		c.compare(lengths, o.Angle)
	}
	return c, nil
}

// compare turns the sums of the chains into estimates, and compares them.
func (c *Centroid) compare(lengths []float64, angle float64) {
	clear(c.Centre)
	for k, sum := range c.Chains {
		numerics.AddScaled64(c.Centre, 1, sum)
		scale(sum, 1/lengths[k])
	}
	scale(c.Centre, 1/lists.Sum(lengths))
	c.Spread = 0
	for _, centre := range c.Chains {
		c.Spread = max(c.Spread, apart(centre, c.Centre))
	}
	c.Agreed = c.Spread <= angle
}

// apart returns the distance between x and y at length 1.
func apart(x, y []float64) float64 {
	a, b := 1/math.Sqrt(numerics.Dot64(x, x)), 1/math.Sqrt(numerics.Dot64(y, y))
	sum := 0.0
	for j, v := range x {
		d := float64(v*a) - float64(y[j]*b)
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// direct sets v to a random direction of length 1, from normal numbers by Marsaglia's polar method:
// the normal numbers of math/rand differ between machines in their last bits.
func direct(v []float64, random *rand.Rand) {
	for {
		for j := 0; j < len(v); j += 2 {
			a, b := polar(random)
			v[j] = a
			if j+1 < len(v) {
				v[j+1] = b
			}
		}
		if vv := numerics.Dot64(v, v); vv > 0 {
			scale(v, 1/math.Sqrt(vv))
			return
		}
	}
}

func polar(random *rand.Rand) (a, b float64) {
	for {
		a, b = float64(2*random.Float64())-1, float64(2*random.Float64())-1
		if s := float64(a*a) + float64(b*b); s > 0x1p-60 && s < 1 {
			f := math.Sqrt(float64(-2*float64(numerics.Log(float32(s)))) / s)
			return a * f, b * f
		}
	}
}
