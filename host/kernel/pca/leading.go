package pca

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapackgo "gonum.org/v1/gonum/lapack/gonum"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// denseSize is the order up to which a matrix is decomposed as a whole.
const denseSize = 600

var errNoAxis = fmt.Errorf("%w, as far as the landmarks can tell; take more, or another seed",
	ErrConstant)

// dense decomposes the n×n matrix HMH as a whole; mean is that of each column of M, nil if
// it is centred.
func (b *Basis) dense(m []float32, n int, mean []float64, o Options) (eigenpairs, error) {
	all := 0.0
	for _, v := range mean {
		all += v / float64(n)
	}
	a, values := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := i; j < n; j++ {
			v := float64(m[i*n+j])
			if mean != nil {
				v = v - mean[i] - mean[j] + all
			}
			a[i*n+j] = v
		}
	}
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
	d, _ := o.count(values, b.Variance)
	kept := above(values[:d], o.Tolerance)
	if kept == 0 {
		return eigenpairs{}, errNoAxis
	}
	b.DroppedAxes = d - kept
	found := eigenpairs{values: values[:kept:kept], vectors: make([]float32, kept*n)}
	for t := range kept {
		for i := range n {
			found.vectors[t*n+i] = float32(a[i*n+n-1-t])
		}
	}
	return found, nil
}

// leading finds the leading eigenpairs of a large matrix.
func (b *Basis) leading(ctx context.Context, e engine.Engine, a matrix, o Options,
) (eigenpairs, error) {
	l, err := newLanczos(e, a, o.Seed)
	if err != nil {
		return eigenpairs{}, err
	}
	defer l.close()
	_, task := progress.Begin(ctx, progress.Work{Name: "components", Unit: "dimension",
		Total: int64(a.n), AtMost: true})
	defer task.End()
	for next := max(256, 2*o.Components+4*blockSize); ; next += max(4*blockSize, next/16) {
		for !l.exhausted && l.q.count < min(next, a.n) {
			if err := ctx.Err(); err != nil {
				return eigenpairs{}, err
			}
			if err := l.extend(); err != nil {
				return eigenpairs{}, err
			}
			task.Reach(int64(l.q.count))
		}
		values := l.t.eigenvalues()
		if math.IsNaN(values[0]) {
			return eigenpairs{}, fmt.Errorf("kernel PCA: no eigenvalues of a band matrix of order %d were "+
				"found; are the kernel values finite?", l.t.n)
		}
		d, reached := o.count(values, b.Variance)
		kept := above(values[:d], o.Tolerance)
		if !l.exhausted && l.q.count < a.n && (!reached && kept == d || !l.settled(values[:kept])) {
			continue
		}
		if kept == 0 {
			return eigenpairs{}, errNoAxis
		}
		b.DroppedAxes, b.Steps = d-kept, l.q.count
		vectors, err := l.q.combine(l.t.vectors(values[:kept]))
		return eigenpairs{values[:kept:kept], vectors}, err
	}
}

// settled says whether the least of the given eigenvalues, which come last, have come.
func (l *lanczos) settled(values []float64) bool {
	const last = 4
	least := values[max(0, len(values)-last):]
	for i, s := range l.t.vectors(least) {
		if !(l.residual(s) <= max(converged*least[i], converged*converged*values[0])) {
			return false
		}
	}
	return true
}

// count returns how many components are asked for, given eigenvalues, and whether that
// number is there.
func (o *Options) count(values []float64, variance float64) (int, bool) {
	if o.Components > 0 {
		return min(o.Components, len(values)), len(values) >= o.Components
	}
	sum := 0.0
	for t, v := range values {
		if sum += v; sum >= o.Variance*variance {
			return t + 1, true
		}
	}
	return len(values), false
}

// above returns how many values, which decrease, are above tolerance times the first.
func above(values []float64, tolerance float64) int {
	kept := 0
	for kept < len(values) && values[kept] > tolerance*values[0] {
		kept++
	}
	return kept
}
