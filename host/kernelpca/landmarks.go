package kernelpca

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// medianRows is the number of examples whose distances MedianGamma looks at.
const medianRows = 1000

// MedianGamma returns γ = 1 / median ‖x_i - x_j‖² over all pairs of up to 1000 examples,
// chosen by seed: the usual first guess for an rbf kernel function. Error: ErrConstant if
// more than half of the pairs are equal, and those of Engine.Project.
func MedianGamma(e engine.Engine, x dataset.Examples, seed uint64) (float32, error) {
	if x.N < 2 {
		return 0, fmt.Errorf("%w: found %d examples, wanted at least 2", ErrOptions, x.N)
	}
	if x.N > medianRows {
		x = x.Pick(uniform(x.N, medianRows, newRand(seed)))
	}
	products := make([]float32, x.N*x.N)
	if err := e.Project(products, x, engine.Projection{Function: linear, Landmarks: x}); err != nil {
		return 0, err
	}
	at := func(i, j int) float64 { return float64(products[i*x.N+j]) }
	var distances []float64
	for i := range x.N {
		for j := range i {
			distances = append(distances, at(i, i)+at(j, j)-2*at(i, j))
		}
	}
	slices.Sort(distances)
	median := distances[len(distances)/2]
	gamma := float32(1 / median)
	if !(median > 0) || !(gamma > 0) || gamma > 1e38 {
		return 0, fmt.Errorf("%w: the median squared distance of %d of them is %v; give gamma", ErrConstant, x.N, median)
	}
	return gamma, nil
}

func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x6c616e646d61726b)) // "landmark"
}

// uniform returns m of n numbers, increasing.
func uniform(n, m int, rng *rand.Rand) []int {
	which := rng.Perm(n)[:m]
	slices.Sort(which)
	return which
}

// choose returns the landmarks that o asks for, increasing. Distances are those in feature
// space: κ(x,x) + κ(l,l) - 2κ(x,l).
func (b *Basis) choose(ctx context.Context, e engine.Engine, x dataset.Examples, o Options) ([]int, error) {
	rng, m := newRand(o.Seed), o.Landmarks
	if m == x.N || o.Choice == Uniform {
		return uniform(x.N, m, rng), nil
	}
	self, near, values := make([]float64, x.N), make([]float64, x.N), make([]float32, x.N)
	for i := range self {
		self[i] = b.selfValue(x, i)
	}
	next := rng.IntN(x.N)
	which := []int{next}
	for len(which) < m {
		if err := project(ctx, e, values, x, engine.Projection{Function: o.Function,
			Landmarks: x.Pick([]int{next})}); err != nil {
			return nil, err
		}
		total, farthest := 0.0, 0
		for i, v := range values {
			distance := max(0, self[i]+self[next]-2*float64(v))
			if len(which) == 1 || distance < near[i] {
				near[i] = distance
			}
			if total += near[i]; near[i] > near[farthest] {
				farthest = i
			}
		}
		if !(near[farthest] > 0) {
			return nil, fmt.Errorf("%w: found only %d examples that differ in feature space, "+
				"wanted %d landmarks; take fewer", ErrOptions, len(which), m)
		}
		if next = farthest; o.Choice == KMeans {
			next = draw(near, rng.Float64()*total, farthest)
		}
		which = append(which, next)
	}
	slices.Sort(which)
	return which, nil
}

// draw returns the first place where the sum of weights passes r; rounding may leave none,
// then it is other.
func draw(weights []float64, r float64, other int) int {
	sum := 0.0
	for i, w := range weights {
		if sum += w; sum > r && w > 0 {
			return i
		}
	}
	return other
}
