package pca

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Map is a fitted map: it projects examples onto the components, then prepares these. No
// method changes it, so several goroutines may use one Map.
type Map struct {
	Basis       *Basis
	Preparation *dataset.Preparation // of the Basis.Axes.Q components
}

// FitMap fits a map to prepared examples x and returns it with the mapped examples, dense, x.N ×
// Preparation.Width(). A cancelled ctx ends it with ctx's error. Other errors: errors from Fit,
// Engine.Project, features.Fit and Apply.
func FitMap(ctx context.Context, e *engine.Engine, x dataset.Examples, o Options,
	steps dataset.Steps) (*Map, dataset.Examples, error) {
	basis, err := Fit(ctx, e, x, o)
	if err != nil {
		return nil, dataset.Examples{}, err
	}
	return NewMap(ctx, e, basis, x, steps)
}

// NewMap is FitMap for a basis that was fitted before.
func NewMap(ctx context.Context, e *engine.Engine, basis *Basis, x dataset.Examples,
	steps dataset.Steps) (*Map, dataset.Examples, error) {
	z, err := basis.Components(ctx, e, x)
	if err != nil {
		return nil, dataset.Examples{}, err
	}
	if basis.Eigenvalues == nil && basis.Variance > 0 { // coordinates
		basis.explain(z)
	}
	k := &Map{Basis: basis}
	if k.Preparation, err = features.Fit(steps, z); err != nil {
		return nil, dataset.Examples{}, err
	}
	if z, err = k.prepare(z); err != nil {
		return nil, dataset.Examples{}, err
	}
	return k, z, nil
}

// prepare overwrites components with the mapped examples.
func (k *Map) prepare(z dataset.Examples) (dataset.Examples, error) {
	return features.Apply(k.Preparation, z, dataset.InPlace)
}

// Apply maps prepared examples x: dense, x.N × Preparation.Width(). A cancelled ctx ends it with
// ctx's error. Other errors: errors from Basis.Project and Preparation.Apply.
func (k *Map) Apply(ctx context.Context, e *engine.Engine, x dataset.Examples) (dataset.Examples,
	error) {
	z, err := k.Basis.Components(ctx, e, x)
	if err != nil {
		return z, err
	}
	return k.prepare(z)
}

// Components returns the components of prepared examples x, dense, x.N × b.Axes.Q. A cancelled ctx
// ends it with ctx's error. Other errors: errors from Basis.Project.
func (b *Basis) Components(ctx context.Context, e *engine.Engine, x dataset.Examples,
) (z dataset.Examples, err error) {
	what := fmt.Sprintf("%d components of %d examples", b.Axes.Q, x.N)
	if err := memory.Check(memory.Product(x.N, b.Axes.Q, 4), what); err != nil {
		return z, err
	}
	z = dataset.Examples{N: x.N, D: b.Axes.Q, X: make([]float32, x.N*b.Axes.Q)}
	return z, b.Project(ctx, e, z.X, x)
}

// blockValues is the most values that Blocks holds at a time.
const blockValues = 1 << 25

// Blocks maps examples block by block, in order, and calls use with each block. It returns the
// first error of Apply or use.
func (k *Map) Blocks(
	ctx context.Context, e *engine.Engine, x dataset.Examples, use func(z dataset.Examples) error,
) error {
	size := max(1, blockValues/k.Preparation.Width())
	for from := 0; from < x.N; from += size {
		z, err := k.Apply(ctx, e, x.Part(from, min(from+size, x.N)))
		if err != nil {
			return err
		}
		if err := use(z); err != nil {
			return err
		}
	}
	return nil
}

// medianRows is the most examples whose distances MedianGamma computes.
const medianRows = 1000

// MedianGamma returns γ = 1 / median ‖x_i - x_j‖² over all pairs of up to 1000 examples, chosen by
// seed: the usual first guess for an rbf kernel function. If more than half of the pairs are equal,
// it is the median over the others. Errors: ErrConstant if no two examples differ, and errors from
// Engine.Project.
func MedianGamma(e *engine.Engine, given dataset.Examples, seed uint64) (float32, error) {
	x := given
	if x.N < 2 {
		return 0, fmt.Errorf("%w: found %d examples, wanted at least 2", ErrOptions, x.N)
	}
	if x.N > medianRows {
		x = given.Pick(uniform(x.N, medianRows, newRand(seed)))
	} else {
		x = given
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
	if distances[len(distances)/2] <= 0 {
		distances = slices.DeleteFunc(distances, func(d float64) bool { return d <= 0 })
	}
	if len(distances) == 0 {
		return 0, fmt.Errorf("%w: no two of %d differ; add a feature that differs", ErrConstant, x.N)
	}
	median := distances[len(distances)/2]
	gamma := float32(1 / median)
	if !(gamma > 0) || gamma > 1e38 {
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

func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x6c616e646d61726b)) // "landmark"
}
