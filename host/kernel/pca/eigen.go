package pca

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapackgo "gonum.org/v1/gonum/lapack/gonum"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

var errNoAxis = fmt.Errorf("%w, as far as the landmarks can tell; take more, or another seed",
	ErrConstant)

// leading returns the leading eigenpairs of the symmetric n×n matrix m.
func (b *Basis) leading(m []float32, n int, o Options) (eigenpairs, error) {
	a, values := lists.As[float64](m), make([]float64, n)
	eigen := func(work []float64, size int) bool { // column t of a becomes eigenvector t
		return lapackgo.Implementation{}.Dsyev(lapack.EVCompute, blas.Upper, n, a, n, values, work, size)
	}
	best := []float64{0}
	eigen(best, -1)
	if !eigen(make([]float64, int(best[0])), int(best[0])) {
		return eigenpairs{}, fmt.Errorf("kernel PCA: no eigenvalues of the %d×%d matrix of kernel "+
			"values were found; are they finite?", n, n)
	}
	slices.Reverse(values)
	d := min(o.Components, n)
	kept := above(values[:d], tolerance)
	if kept == 0 {
		return eigenpairs{}, errNoAxis
	}
	b.DroppedAxes = o.Components - kept
	found := eigenpairs{values: values[:kept:kept], vectors: make([]float32, kept*n)}
	for t := range kept {
		for i := range n {
			found.vectors[t*n+i] = float32(a[i*n+n-1-t])
		}
	}
	return found, nil
}

// above returns how many values, which decrease, are above tolerance times the first.
func above(values []float64, tolerance float64) int {
	kept := 0
	for kept < len(values) && values[kept] > tolerance*values[0] {
		kept++
	}
	return kept
}

// eigenpairs are eigenvalues in decreasing order, and eigenvectors, of unit length, as
// rows of n values.
type eigenpairs struct {
	values  []float64
	vectors []float32
}
