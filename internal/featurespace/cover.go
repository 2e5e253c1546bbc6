// Package featurespace has kernel values of examples one row after the other, and their distances
// in feature space: for methods that choose examples.
package featurespace

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Cover is some examples, the centres, and for each example the nearest of them in feature space,
// where squared distances are κ(x,x) + κ(c,c) - 2κ(x,c).
type Cover struct {
	Rows []int // the centres, in the order in which they were chosen
	// of each example: the place in Rows of the nearest centre, the first of equal ones
	Nearest   []int32
	Distances []float64 // of each example: its squared distance from that
}

// NewCover chooses k centres of x, one by one, or as many as are enough, which is asked after each;
// nil for k. The first is random; the next are by choice the farthest from all so far (the
// traversal of Gonzalez 1985, at most twice as far from any example as k centres have to be), or
// drawn in proportion to the squared distance from these (k-means++). There are fewer if no example
// is away from all centres. The examples are read k times at most, and mostly far less often for
// the farthest. A cancelled ctx ends
// it with ctx's error. Other errors: memory.ErrBudget, and those of Engine.Project.
func NewCover(
	ctx context.Context, e *engine.Engine, x dataset.Examples, f kernel.Function, k int, farthest bool,
	seed uint64, enough func(*Cover) bool) (c *Cover, err error) {
	need := memory.Sum(RowsBytes(x.N, farthest), memory.Product(x.N, 20))
	if err := memory.Check(need, "the distances of the examples from centres"); err != nil {
		return nil, err
	}
	c = &Cover{Nearest: make([]int32, x.N), Distances: make([]float64, x.N)}
	self := SquaredLengths(f, x)
	values, err := NewRows(e, x, f, farthest)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, values.Close()) }()
	_, task := progress.Begin(ctx, progress.Work{Name: "landmarks", Unit: "landmark", Total: int64(k)})
	defer task.End()
	rng := rand.New(rand.NewPCG(seed, 0x6c616e646d61726b)) // "landmark"
	next := rng.IntN(x.N)
	for {
		soon := c.Distances // the examples farthest away are mostly the next centres
		if !farthest || len(c.Rows) == 0 {
			soon = nil
		}
		row, err := values.Row(ctx, next, soon)
		if err != nil {
			return nil, err
		}
		total, most := 0.0, 0
		for i := range x.N {
			distance := max(0, self[i]+self[next]-2*float64(row[i]))
			if len(c.Rows) == 0 || distance < c.Distances[i] {
				c.Distances[i], c.Nearest[i] = distance, int32(len(c.Rows))
			}
			if total += c.Distances[i]; c.Distances[i] > c.Distances[most] {
				most = i
			}
		}
		c.Rows = append(c.Rows, next)
		task.Reach(int64(len(c.Rows)))
		if len(c.Rows) == k || !(c.Distances[most] > 0) ||
			enough != nil && enough(c) {
			return c, nil
		}
		if next = most; !farthest {
			next = draw(c.Distances, rng.Float64()*total, most)
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

// SelfValue returns κ(x_i, x_i), with the bits that an engine gives it.
func SelfValue(f kernel.Function, x dataset.Examples, i int) float64 {
	dot := numerics.SquaredNorm(x.Entries(i))
	return float64(f.Value(dot, dot, dot))
}

// SquaredLengths returns κ(x,x) of each example, with the bits that an engine gives them.
func SquaredLengths(f kernel.Function, x dataset.Examples) []float64 {
	return parallel.BlockSums(x.N, 1, func(i, _ int) float64 { return SelfValue(f, x, i) })
}

// SwapLower exchanges rows and columns i and j, i ≤ j, of a symmetric n×n matrix whose lower
// triangle is in a, row-major.
func SwapLower(a []float64, n, i, j int) {
	if i == j {
		return
	}
	for c := range i {
		a[i*n+c], a[j*n+c] = a[j*n+c], a[i*n+c]
	}
	a[i*n+i], a[j*n+j] = a[j*n+j], a[i*n+i]
	for c := i + 1; c < j; c++ {
		a[c*n+i], a[j*n+c] = a[j*n+c], a[c*n+i]
	}
	for r := j + 1; r < n; r++ {
		a[r*n+i], a[r*n+j] = a[r*n+j], a[r*n+i]
	}
}
