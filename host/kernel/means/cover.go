package means

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

// Cover is a choice of examples, the centres, and the nearest centre of each example. Squared
// distances in feature space are κ(x,x) + κ(c,c) - 2κ(x,c).
type Cover struct {
	Rows      []int     // the centres, in the order of their choice
	Nearest   []int32   // of each example: the index in Rows of the nearest centre, the first of ties
	Distances []float64 // of each example: the squared distance from that centre
}

// NewCover chooses k centres of x one by one, or fewer if enough returns true after one; enough may
// be nil. The first is random. The next is the example farthest from all centres so far (the
// traversal of Gonzalez 1985, at most twice as far from any example as k centres can be), or is
// drawn in proportion to its squared distance from them (k-means++). There are fewer centres if
// every example coincides with one. The examples are read once for each centre. A cancelled ctx
// ends it with ctx's error. Other errors: memory.ErrBudget, and errors from the engine.
func NewCover(ctx context.Context, e *engine.Engine, x dataset.Examples, f kernel.Function, k int,
	farthest bool, seed uint64, enough func(*Cover) bool) (c *Cover, err error) {
	err = memory.Check(memory.Product(x.N, 36), "the distances of the examples from centres")
	if err != nil {
		return nil, err
	}
	c = &Cover{Nearest: make([]int32, x.N), Distances: make([]float64, x.N)}
	lengths := engine.SquaredLengths(f, x)
	values, err := newRows(e, x, f)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, values.close()) }()
	_, task := progress.Begin(ctx, progress.Work{Name: "landmarks", Unit: "landmark", Total: int64(k)})
	defer task.End()
	rng := rand.New(rand.NewPCG(seed, 0x6c616e646d61726b)) // "landmark"
	next := rng.IntN(x.N)
	for {
		row, err := values.row(ctx, next)
		if err != nil {
			return nil, err
		}
		total, most := 0.0, 0
		for i := range x.N {
			distance := max(0, lengths[i]+lengths[next]-2*float64(row[i]))
			if len(c.Rows) == 0 || distance < c.Distances[i] {
				c.Distances[i], c.Nearest[i] = distance, int32(len(c.Rows))
			}
			if total += c.Distances[i]; c.Distances[i] > c.Distances[most] {
				most = i
			}
		}
		c.Rows = append(c.Rows, next)
		task.Reach(int64(len(c.Rows)))
		if len(c.Rows) == k || !(c.Distances[most] > 0) || enough != nil && enough(c) {
			return c, nil
		}
		if next = most; !farthest {
			next = draw(c.Distances, rng.Float64()*total, most)
		}
	}
}

// draw returns the first index at which the running sum of weights exceeds r, or other if rounding
// leaves none.
func draw(weights []float64, r float64, other int) int {
	sum := 0.0
	for i, w := range weights {
		if sum += w; sum > r && w > 0 {
			return i
		}
	}
	return other
}

// rows computes kernel values of all examples with one of them, for methods that choose one example
// after another. The engine keeps the examples and computes inner products.
type rows struct {
	loaded   *engine.Scorer // of x
	x        dataset.Examples
	f        kernel.Function
	lengths  []float32 // ⟨x,x⟩ for rbf
	products []float32
	values   []float32
}

func newRows(e *engine.Engine, x dataset.Examples, f kernel.Function) (*rows, error) {
	loaded, err := e.Load(x, 1)
	if err != nil {
		return nil, err
	}
	r := &rows{loaded: loaded, x: x, f: f, lengths: make([]float32, x.N),
		products: make([]float32, x.N), values: make([]float32, x.N)}
	if f.Kind == kernel.RBF {
		parallel.Ranges(x.N, 256, func(from, to int) {
			for i := from; i < to; i++ {
				r.lengths[i] = numerics.SquaredNorm(x.Entries(i))
			}
		})
	}
	return r, nil
}

func (r *rows) close() error { return r.loaded.Close() }

// row returns the kernel values of all examples with example i. The next call overwrites them. A
// cancelled ctx ends it with ctx's error.
func (r *rows) row(ctx context.Context, i int) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := engine.NewWeights(1, r.x.D)
	copy(w.W, r.x.DenseRow(w.W, i))
	if err := r.loaded.Rescore(w, []int{0}); err != nil {
		return nil, err
	}
	if err := r.loaded.Scores(r.products, 0, r.x.N); err != nil {
		return nil, err
	}
	parallel.Ranges(r.x.N, 1024, func(from, to int) {
		for k := from; k < to; k++ {
			r.values[k] = r.f.Value(r.products[k], r.lengths[k], r.lengths[i])
		}
	})
	return r.values, nil
}
