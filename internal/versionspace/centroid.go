package versionspace

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Options says how a centroid is sampled. Zero values mean the defaults.
type Options struct {
	Seed      uint64
	HitAndRun bool // by points that jump, else by a billiard
	Chains    int  // that walk side by side, 2 at least; 0: 8
	MaxSteps  int  // bounces of the billiard, or steps of hit-and-run, of each chain; 0: 2^20

	// Angle is what chains may disagree by, in radians; 0: one degree. In a space that is narrower,
	// chains agree at once: a share of Ball's Margin fits any space.
	Angle float64

	// Round, if not nil, hears after each round how many steps each chain has made; its error ends
	// the sampling.
	Round func(steps int) error
}

// Centroid is an estimate of the mean of all points of a version space.
type Centroid struct {
	Centre []float64   // of d numbers, inside of the space
	Chains [][]float64 // the same by each chain alone, in the order of the chains
	Steps  int         // that each chain made, also before the rounds that count
	Agreed bool        // whether Angle was reached, not MaxSteps

	// Spread is the largest angle between the centre of a chain and Centre, in radians; to be exact,
	// the distance between the two at length 1, which is 0.02 % less at 4 degrees. Chains that err
	// alike do not show here.
	Spread float64
}

// Centroid estimates the centroid.
//
// A billiard is a ball that bounces off the walls, the sphere being one (equations 5.4, 5.5): the
// centre is the mean of the mid-points of its flights, weighted by their lengths. In stretches of
// one length it takes a random direction anew, because a ball that keeps its direction is not
// ergodic.
//
// Points of hit-and-run jump in a random direction, to anywhere on the line through the space with
// the same probability (Smith, Operations Research 32, 1984): the centre is the mean of the
// mid-points of those lines. It is slower, and shares no step with the billiard, so it is the judge
// of it.
//
// Chains start in the centre of Ball. They walk in rounds, each twice as long as the one before,
// which it forgets; the rounds end when the centres of the last one agree. The errors are those of
// Ball and of Round, and about options.
func (s *Space) Centroid(o Options) (Centroid, error) {
	if o.HitAndRun {
		return s.sample(o, func(start []float64, random *rand.Rand) walker {
			return newHitAndRun(s, start, random)
		})
	}
	return s.sample(o, func(start []float64, random *rand.Rand) walker {
		return newBilliard(s, start, random)
	})
}

// walker is a chain: it makes steps and adds what it saw to sum, a weighted sum of points, and
// returns the weight.
type walker interface {
	walk(steps int, sum []float64) (weight float64)
}

// firstRound is how many steps the first round has.
const firstRound = 1024

func (s *Space) sample(o Options, chain func(start []float64, random *rand.Rand) walker,
) (Centroid, error) {
	o, err := o.filled()
	if err != nil {
		return Centroid{}, err
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
		c.Agreed = true // on the middle of the unit ball, whose direction no chain could agree on
		return c, nil
	}
	chains, weights := make([]walker, o.Chains), make([]float64, o.Chains)
	for k := range chains {
		chains[k] = chain(ball.Centre, rand.New(rand.NewPCG(o.Seed, uint64(k))))
	}
	for steps := firstRound; !c.Agreed && c.Steps < o.MaxSteps; steps *= 2 {
		if left := o.MaxSteps - c.Steps; left < 3*steps {
			steps = left // no room for another round
		}
		parallel.Tasks(len(chains), func(k int) {
			clear(c.Chains[k])
			weights[k] = chains[k].walk(steps, c.Chains[k])
		})
		c.Steps += steps
		c.judge(weights, o.Angle)
		if o.Round == nil {
			continue
		}
		if err := o.Round(c.Steps); err != nil {
			return Centroid{}, err
		}
	}
	return c, nil
}

func (o Options) filled() (Options, error) {
	o.Chains = cmp.Or(o.Chains, 8)
	if o.Angle == 0 {
		o.Angle = math.Pi / 180
	}
	o.MaxSteps = cmp.Or(o.MaxSteps, 1<<20)
	if o.Chains < 2 || !(o.Angle > 0) || o.MaxSteps < 1 {
		return o, fmt.Errorf("centroid of a version space: found %d chains, an angle of %g and at most "+
			"%d steps, wanted 2 chains or more, an angle above 0 and a step or more", o.Chains, o.Angle,
			o.MaxSteps)
	}
	return o, nil
}

// judge turns the sums of the chains into centres, and compares them.
func (c *Centroid) judge(weights []float64, angle float64) {
	clear(c.Centre)
	total := 0.0
	for k, sum := range c.Chains {
		addScaled(c.Centre, 1, sum)
		total += weights[k]
		scale(sum, 1/weights[k])
	}
	scale(c.Centre, 1/total)
	c.Spread = 0
	for _, centre := range c.Chains {
		c.Spread = max(c.Spread, apart(centre, c.Centre))
	}
	c.Agreed = c.Spread <= angle
}

// apart returns the distance between x and y at length 1.
func apart(x, y []float64) float64 {
	a, b := 1/math.Sqrt(dot(x, x)), 1/math.Sqrt(dot(y, y))
	sum := 0.0
	for j, v := range x {
		d := float64(v*a) - float64(y[j]*b)
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// direct makes v a random direction, of length 1: normal numbers by Marsaglia's polar method,
// since the package math/rand has no normal numbers of the same bits on every machine.
func direct(v []float64, random *rand.Rand) {
	for {
		for j := 0; j < len(v); j += 2 {
			a, b := polar(random)
			v[j] = a
			if j+1 < len(v) {
				v[j+1] = b
			}
		}
		if vv := dot(v, v); vv > 0 {
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
