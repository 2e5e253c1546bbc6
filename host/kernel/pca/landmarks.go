package pca

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
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
	c, err := NewCover(ctx, e, x, o.Function, m, o.Choice, o.Seed)
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

// Cover is some examples, the centres, and for each example the nearest of them in feature space,
// where squared distances are κ(x,x) + κ(c,c) - 2κ(x,c).
type Cover struct {
	Rows []int // the centres, in the order in which they were chosen
	// of each example: the place in Rows of the nearest centre, the first of equal ones
	Nearest   []int32
	Distances []float64 // of each example: its squared distance from that
}

// NewCover chooses k centres of x, one by one: the first at random, then by choice the Farthest
// from all so far (the traversal of Gonzalez 1985, at most twice as far from any example as k
// centres have to be) or KMeans. There are fewer if no example is away from all centres. The
// examples are read k times at most, by KMeans, and mostly far less often by Farthest. Where ranks
// share x it takes all of them, and a Cover on each. A cancelled ctx ends it with ctx's error.
// Other errors: ErrMemory, and those of Engine.Project.
func NewCover(
	ctx context.Context, e engine.Engine, rows dataset.Rows, f kernel.Function, k int, choice string,
	seed uint64) (*Cover, error) {
	return GrowCover(ctx, e, rows, f, k, choice, seed, func(*Cover) bool { return false })
}

// GrowCover is NewCover with k centres or as many as are enough, which is asked after each of them.
func GrowCover(
	ctx context.Context, e engine.Engine, rows dataset.Rows, f kernel.Function, k int, choice string,
	seed uint64, enough func(*Cover) bool) (c *Cover, err error) {
	x, together := rows.Stored(), choice != KMeans
	need := memory.Sum(KernelRowsBytes(x.N, together), memory.Product(x.N, 20))
	if err := x.Agree(memory.Check(need, "the distances of the examples from centres")); err != nil {
		return nil, err
	}
	c = &Cover{Nearest: make([]int32, x.N), Distances: make([]float64, x.N)}
	self := SquaredLengths(f, x)
	values, err := NewKernelRows(e, x, f, together)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, values.Close()) }()
	_, task := progress.Begin(ctx, progress.Work{Name: "landmarks", Unit: "landmark", Total: int64(k),
		AtMost: true})
	defer task.End()
	rng := newRand(seed)
	next := rng.IntN(x.N)
	for {
		soon := c.Distances // the examples farthest away are mostly the next centres
		if !together || len(c.Rows) == 0 {
			soon = nil
		}
		row, err := values.Row(ctx, next, soon)
		if err != nil {
			return nil, err
		}
		total, farthest := 0.0, 0
		for i := range x.N {
			distance := max(0, self[i]+self[next]-2*float64(row[i]))
			if len(c.Rows) == 0 || distance < c.Distances[i] {
				c.Distances[i], c.Nearest[i] = distance, int32(len(c.Rows))
			}
			if total += c.Distances[i]; c.Distances[i] > c.Distances[farthest] {
				farthest = i
			}
		}
		c.Rows = append(c.Rows, next)
		task.Reach(int64(len(c.Rows)))
		if len(c.Rows) == k || !(c.Distances[farthest] > 0) || enough(c) {
			return c, nil
		}
		if next = farthest; choice == KMeans {
			next = draw(c.Distances, rng.Float64()*total, farthest)
		}
	}
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

func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x6c616e646d61726b)) // "landmark"
}
