package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/bench/papers/centre/propagation"
	"github.com/uma-gpu/uma-gpu/bench/papers/centre/versionspace"
)

var figure512 = &experiment{
	Name:  "fig5.12",
	Usage: "estimates of a version space's centroid (after figure 5.12 of Louche's thesis)",
	Paper: thesis + "Figure 5.12",
	About: `The version spaces are cones of 30 random half-spaces in 3 dimensions. A formula gives
their centroid: the sum of the walls' normals, each as long as the angle of its wall. Rows are the
angle between the centroid and an estimate: the mean of a billiard after each number of steps, the
mean that expectation propagation finds, and the centre of the largest ball. The thesis shows one
billiard in a polygon, and no numbers.`,
	Axis: "steps", run: runFigure512,
}

// Degrees is the measure of an angle.
const Degrees = "degrees"

const (
	coneWalls  = 30
	coneStream = 0x636f6e65 // "cone"
	softWalls  = 1e-3       // how much expectation propagation softens walls
)

// coneSteps are after how many steps chains are looked at. The last are the thesis's.
var coneSteps = []int{10, 30, 100, 300, 1000, 5000}

type vector [3]float64

func (a vector) dot(b vector) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}

func (a vector) cross(b vector) vector {
	return vector{float64(a[1]*b[2]) - float64(a[2]*b[1]), float64(a[2]*b[0]) - float64(a[0]*b[2]),
		float64(a[0]*b[1]) - float64(a[1]*b[0])}
}

// plus returns a + f·b.
func (a vector) plus(f float64, b vector) vector {
	for j := range a {
		a[j] += float64(f * b[j])
	}
	return a
}

func (a vector) unit() vector { return vector{}.plus(1/math.Sqrt(a.dot(a)), a) }

// angle returns that between two directions of length 1 which are not opposite. It is halved until
// the chord is as long as the arc: by square roots alone, which all machines have alike.
func (a vector) angle(b vector) float64 {
	const halves = 12
	for range halves {
		b = a.plus(1, b).unit()
	}
	chord := a.plus(-1, b)
	return math.Sqrt(chord.dot(chord)) * (1 << halves)
}

// newCone draws walls that some direction is on the right side of.
func newCone(seed uint64) []vector {
	rng := rand.New(rand.NewPCG(seed, coneStream))
	draw := func() vector {
		for {
			v := vector{2*rng.Float64() - 1, 2*rng.Float64() - 1, 2*rng.Float64() - 1}
			if l := v.dot(v); 0.01 < l && l <= 1 {
				return v.unit()
			}
		}
	}
	inside := draw()
	walls := make([]vector, coneWalls)
	for k := range walls {
		walls[k] = draw()
		if walls[k].dot(inside) < 0 {
			walls[k] = vector{}.plus(-1, walls[k])
		}
	}
	return walls
}

// coneCentroid returns the direction of the centroid of a cone: the integral of all directions
// inside is half the sum of the inward normals of its walls, each times the angle between the two
// edges of the wall (Stokes' theorem).
func coneCentroid(walls []vector) vector {
	var sum vector
	for k, wall := range walls {
		var edges []vector
		for j, other := range walls {
			if j == k {
				continue
			}
			edge := wall.cross(other).unit()
			for _, sign := range []float64{1, -1} {
				if ray := (vector{}).plus(sign, edge); holds(walls, ray, k, j) {
					edges = append(edges, ray)
				}
			}
		}
		if len(edges) == 2 { // else the wall touches nothing
			sum = sum.plus(edges[0].angle(edges[1]), wall)
		}
	}
	return sum.unit()
}

// holds says whether a direction is on the right side of all walls but those two, on which it
// lies.
func holds(walls []vector, ray vector, a, b int) bool {
	for k, wall := range walls {
		if k != a && k != b && ray.dot(wall) < 0 {
			return false
		}
	}
	return true
}

// coneEstimates returns estimates of the centroid by the ways of figure 5.12: those of chains
// after each of coneSteps, the others once.
func coneEstimates(ctx context.Context, walls []vector, seed uint64) (
	found map[string][]vector, err error) {
	rows := make([]float64, 0, 3*len(walls))
	for _, w := range walls {
		rows = append(rows, w[:]...)
	}
	space, err := versionspace.New(3, rows)
	if err != nil {
		return nil, err
	}
	ball, err := space.Ball()
	if err != nil {
		return nil, err
	}
	mean, err := propagation.Centre(3, rows, softWalls)
	if err != nil {
		return nil, err
	}
	found = map[string][]vector{"largest ball": {vector(ball.Centre)},
		"expectation propagation": {vector(mean)}}
	for _, steps := range coneSteps {
		// as if there were one chain
		c, err := space.Centroid(ctx, seed, steps)
		if err != nil {
			return nil, err
		}
		found["billiard"] = append(found["billiard"], vector(c.Chains[0]))
	}
	return found, nil
}

func runFigure512(ctx context.Context, r *run) error {
	return r.repeat(ctx, "cone", func(seed uint64) error {
		walls := newCone(seed)
		centre := coneCentroid(walls)
		found, err := coneEstimates(ctx, walls, seed)
		if err != nil {
			return err
		}
		for _, way := range []string{"billiard", "expectation propagation", "largest ball"} {
			for level, steps := range coneSteps {
				estimate := found[way][min(level, len(found[way])-1)]
				r.add(Row{Data: "cone", Learner: way, Level: level, X: float64(steps), Measure: Degrees},
					centre.angle(estimate.unit())*180/math.Pi)
			}
		}
		return nil
	})
}
