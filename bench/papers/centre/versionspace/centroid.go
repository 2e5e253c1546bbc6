package versionspace

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// chains is how many independent billiards a centroid is estimated from.
const chains = 8

// Centroid is an estimate of the centre of gravity of a version space.
type Centroid struct {
	Centre []float64   // inside the space
	Chains [][]float64 // the estimate of each chain
}

// Centroid estimates the centre of gravity with billiards: balls that bounce off the walls,
// including the sphere (equations 5.4 and 5.5), steps times each, from the centre of Ball on. The
// estimate is the mean of the mid-points of their flights, weighted by their lengths. At regular
// distances a ball takes a random direction, since one that keeps its direction is not ergodic.
// Errors: errors from Ball, fewer steps than one, and a cancelled ctx.
func (s *Space) Centroid(ctx context.Context, seed uint64, steps int) (Centroid, error) {
	if steps < 1 {
		return Centroid{}, fmt.Errorf("centroid of a version space: found %d steps, wanted one or more",
			steps)
	}
	ball, err := s.Ball()
	if err != nil {
		return Centroid{}, err
	}
	c := Centroid{Centre: make([]float64, s.d), Chains: make([][]float64, chains)}
	lengths := make([]float64, chains)
	parallel.Tasks(chains, func(k int) {
		c.Chains[k] = make([]float64, s.d)
		if s.m == 0 {
			return // the centre of the unit ball
		}
		b := newBilliard(s, ball.Centre, rand.New(rand.NewPCG(seed, uint64(k))))
		for left := steps; left > 0 && ctx.Err() == nil; left -= atOnce {
			lengths[k] += b.walk(min(left, atOnce), c.Chains[k])
		}
	})
	if err := ctx.Err(); err != nil || s.m == 0 {
		return c, err
	}
	for k, sum := range c.Chains {
		numerics.AddScaled64(c.Centre, 1, sum)
		scale(sum, 1/lengths[k])
	}
	scale(c.Centre, 1/lists.Sum(lengths))
	return c, nil
}

// atOnce is how many steps a chain makes before it asks whether they are still wanted.
const atOnce = 1024

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
