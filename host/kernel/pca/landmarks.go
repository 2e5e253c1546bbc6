package pca

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/featurespace"
)

// medianRows is the number of examples whose distances MedianGamma looks at.
const medianRows = 1000

// MedianGamma returns γ = 1 / median ‖x_i - x_j‖² over all pairs of up to 1000 examples,
// chosen by seed: the usual first guess for an rbf kernel function. Error: ErrConstant if
// more than half of the pairs are equal, and those of Engine.Project.
func MedianGamma(e engine.Engine, rows dataset.Rows, seed uint64) (float32, error) {
	given := rows.Stored()
	x := given.Examples
	if x.N < 2 {
		return 0, fmt.Errorf("%w: found %d examples, wanted at least 2", ErrOptions, x.N)
	}
	if x.N > medianRows {
		x = given.Pick(uniform(x.N, medianRows, newRand(seed)))
	} else {
		x = given.Whole()
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
		return 0, fmt.Errorf("%w: the median squared distance of %d of them is %v; give gamma",
			ErrConstant, x.N, median)
	}
	return gamma, nil
}

// uniform returns m of n numbers, increasing.
func uniform(n, m int, rng *rand.Rand) []int {
	which := rng.Perm(n)[:m]
	slices.Sort(which)
	return which
}

// choose returns the landmarks that o asks for, increasing. Distances are those in feature
// space: κ(x,x) + κ(l,l) - 2κ(x,l).
func (b *Basis) choose(ctx context.Context, e engine.Engine, x dataset.Stored, o Options,
) ([]int, error) {
	m := o.Landmarks
	if m == x.N || o.Choice == Uniform {
		return uniform(x.N, m, newRand(o.Seed)), nil
	}
	c, err := featurespace.NewCover(ctx, e, x, o.Function, m, o.Choice == Farthest, o.Seed,
		nil)
	if err != nil {
		return nil, err
	}
	if len(c.Rows) < m {
		return nil, fmt.Errorf("%w: found only %d examples that differ in feature space, wanted %d "+
			"landmarks; take fewer", ErrOptions, len(c.Rows), m)
	}
	slices.Sort(c.Rows)
	return c.Rows, nil
}

func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x6c616e646d61726b)) // "landmark"
}
