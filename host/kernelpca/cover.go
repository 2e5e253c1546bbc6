package kernelpca

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/mercer"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Cover is some examples, the centres, and for each example the nearest of them in feature space,
// where squared distances are κ(x,x) + κ(c,c) - 2κ(x,c).
type Cover struct {
	Rows      []int     // the centres, in the order in which they were chosen
	Nearest   []int32   // of each example: the place in Rows of the nearest centre, the first of equal ones
	Distances []float64 // of each example: its squared distance from that
}

// coverBatch is how many of the examples farthest away are asked about together: one of them is mostly
// the next centre, and then its distances are known. coverValues bounds what that takes in memory.
const (
	coverBatch  = 32
	coverValues = 1 << 25
)

// NewCover chooses k centres of x, one by one: the first at random, then by choice the Farthest from all
// so far (the traversal of Gonzalez 1985, at most twice as far from any example as k centres have to be)
// or KMeans. There are fewer if no example is away from all centres. The examples are read k times at
// most, by KMeans, and mostly far less often by Farthest. A cancelled ctx ends it with ctx's error.
// Other errors: ErrMemory, and those of Engine.Project.
func NewCover(
	ctx context.Context, e engine.Engine, x dataset.Examples, f mercer.Function, k int, choice string, seed uint64,
) (*Cover, error) {
	batch := max(1, min(coverBatch, coverValues/x.N))
	if choice == KMeans {
		batch = 1
	}
	if err := memory.Check(memory.Product(x.N, 20+4*batch), "the distances of the examples from centres"); err != nil {
		return nil, err
	}
	c := &Cover{Nearest: make([]int32, x.N), Distances: make([]float64, x.N)}
	self := SquaredLengths(f, x)
	rng := newRand(seed)
	next := rng.IntN(x.N)
	ask := kernelRows{x: x, f: f, batch: batch}
	for {
		values, stride, err := ask.row(ctx, e, next, c.Distances, len(c.Rows) > 0)
		if err != nil {
			return nil, err
		}
		total, farthest := 0.0, 0
		for i := range x.N {
			distance := max(0, self[i]+self[next]-2*float64(values[i*stride]))
			if len(c.Rows) == 0 || distance < c.Distances[i] {
				c.Distances[i], c.Nearest[i] = distance, int32(len(c.Rows))
			}
			if total += c.Distances[i]; c.Distances[i] > c.Distances[farthest] {
				farthest = i
			}
		}
		c.Rows = append(c.Rows, next)
		if len(c.Rows) == k || !(c.Distances[farthest] > 0) {
			return c, nil
		}
		if next = farthest; choice == KMeans {
			next = draw(c.Distances, rng.Float64()*total, farthest)
		}
	}
}

// kernelRows has kernel values of all examples with those that were asked for together.
type kernelRows struct {
	x      dataset.Examples
	f      mercer.Function
	batch  int
	which  []int
	values []float32 // x.N × len(which)
}

// row returns the kernel values of all examples with example i, every stride-th of values. If it has
// to ask for them, it asks for those of the examples with the largest distances too, if far says so.
func (r *kernelRows) row(
	ctx context.Context, e engine.Engine, i int, distances []float64, far bool,
) (values []float32, stride int, err error) {
	at := slices.Index(r.which, i)
	if at < 0 {
		at, r.which = 0, []int{i}
		if far && r.batch > 1 {
			r.which = farthestOf(distances, i, r.batch)
		}
		r.values = slices.Grow(r.values[:0], r.x.N*len(r.which))[:r.x.N*len(r.which)]
		p := engine.Projection{Function: r.f, Landmarks: r.x.Pick(r.which)}
		if err := project(ctx, e, r.values, r.x, p); err != nil {
			return nil, 0, err
		}
	}
	return r.values[at:], len(r.which), nil
}

// farthestOf returns i and the places of the largest distances, k at most in all.
func farthestOf(distances []float64, i, k int) []int {
	which, least := make([]int, 0, 2*k), 0.0
	cut := func() {
		slices.SortFunc(which, func(a, b int) int {
			if distances[a] != distances[b] {
				if distances[a] > distances[b] {
					return -1
				}
				return 1
			}
			return a - b
		})
		if len(which) >= k-1 {
			which = which[:k-1]
			least = distances[which[k-2]]
		}
	}
	for at, d := range distances {
		if d > least && at != i {
			if which = append(which, at); len(which) == 2*k {
				cut()
			}
		}
	}
	cut()
	return append([]int{i}, which...)
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
