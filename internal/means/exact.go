package means

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Exact returns the means of q classes by f: every example of x is an atom, with the weight 1/n_k,
// n_k the examples of its class y[i], and 0 in the other classes. A class without examples has the
// mean 0. The projection keeps references to x's slices. Errors: engine.ErrShape, engine.ErrLabel,
// engine.ErrMemory, and those of f.
func Exact(x dataset.Examples, y []int32, q int, f kernel.Function) (engine.Projection, error) {
	none := engine.Projection{}
	if err := f.Check(); err != nil {
		return none, err
	}
	sizes, err := countClasses(x, y, q)
	if err != nil {
		return none, err
	}
	what := fmt.Sprintf("the weights of %d examples in the means of %d classes", x.N, q)
	if err := memory.Check(memory.Product(x.N, q, 4), what); err != nil {
		return none, err
	}
	p := engine.Projection{Function: f, Landmarks: x, Axes: engine.NewWeights(q, x.N)}
	for i, k := range y {
		p.Axes.Row(int(k))[i] = float32(1 / float64(sizes[k]))
	}
	return p, nil
}

// countClasses judges labels, and returns how many examples each class has.
func countClasses(x dataset.Examples, y []int32, q int) ([]int, error) {
	if q < 1 || x.N < 1 || len(y) != x.N {
		return nil, fmt.Errorf("kernel mean: %w: found %d labels of %d examples and %d classes, wanted "+
			"a label for each example, at least one example and one class", engine.ErrShape, len(y), x.N, q)
	}
	sizes := make([]int, q)
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return nil, fmt.Errorf("kernel mean: %w: example %d has label %d, wanted 0..%d", engine.ErrLabel,
				i, k, q-1)
		}
		sizes[k]++
	}
	return sizes, nil
}
