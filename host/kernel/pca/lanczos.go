package pca

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapackgo "gonum.org/v1/gonum/lapack/gonum"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// denseSize is the order up to which a matrix is decomposed as a whole.
const denseSize = 600

var errNoAxis = fmt.Errorf("%w, as far as the landmarks can tell; take more, or another seed",
	ErrConstant)

// dense decomposes the n×n matrix HMH as a whole; mean holds the column means of M, nil if M is
// centred.
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
	d := min(o.Components, n)
	kept := above(values[:d], tolerance)
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
func (b *Basis) leading(ctx context.Context, e *engine.Engine, a matrix, o Options,
) (eigenpairs, error) {
	l, err := newLanczos(ctx, e, a, o.Seed)
	if err != nil {
		return eigenpairs{}, err
	}
	_, task := progress.Begin(ctx, progress.Work{Name: "components", Unit: "dimension"})
	defer task.End()
	for next := max(256, 2*o.Components+4*blockSize); ; next += max(4*blockSize, next/16) {
		for !l.exhausted && l.q.count < min(next, a.n) {
			if err := ctx.Err(); err != nil {
				return eigenpairs{}, err
			}
			if err := l.extend(ctx); err != nil {
				return eigenpairs{}, err
			}
			task.Reach(int64(l.q.count))
		}
		values := l.t.eigenvalues()
		if math.IsNaN(values[0]) {
			return eigenpairs{}, fmt.Errorf("kernel PCA: no eigenvalues of a band matrix of order %d were "+
				"found; are the kernel values finite?", l.t.n)
		}
		d := min(o.Components, len(values))
		kept := above(values[:d], tolerance)
		if !l.exhausted && l.q.count < a.n && !l.settled(values[:kept]) {
			continue
		}
		if kept == 0 {
			return eigenpairs{}, errNoAxis
		}
		b.DroppedAxes, b.Steps = d-kept, l.q.count
		vectors, err := l.q.combine(ctx, l.t.vectors(values[:kept]))
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

// above returns how many values, which decrease, are above tolerance times the first.
func above(values []float64, tolerance float64) int {
	kept := 0
	for kept < len(values) && values[kept] > tolerance*values[0] {
		kept++
	}
	return kept
}

// blockSize is how many vectors are multiplied at once. The band of T is as wide, and the
// work on T grows with its square; engines read the matrix once for a block.
const blockSize = 16

// converged is the residual of an eigenpair, relative to its eigenvalue, that is as good
// as none: rounding of the float32 kernel values moves eigenvectors more.
const converged = 1e-6

// eigenpairs are eigenvalues in decreasing order, and eigenvectors, of unit length, as
// rows of n values.
type eigenpairs struct {
	values  []float64
	vectors []float32
}

// matrix is a symmetric positive semidefinite n×n matrix M on an engine.
type matrix struct {
	n       int
	centred bool           // it represents H·M·H
	values  *engine.Scorer // M
}

// lanczos is the block Lanczos process: an orthonormal basis Q of the space spanned by the
// start and its products with powers of the matrix, and T = QᵀMQ, of band form.
type lanczos struct {
	a     matrix
	q     *vectors
	t     *band
	block []float64 // n × blockSize: the newest vectors, not yet in q
	rng   *rand.Rand
	// coupling is the block of T between the vectors of q and the newest: how far the
	// space is from being invariant.
	coupling  []float64
	exhausted bool // the newest vectors are all 0: q spans an invariant space
}

func newLanczos(ctx context.Context, e *engine.Engine, a matrix, seed uint64) (*lanczos, error) {
	l := &lanczos{a: a, q: &vectors{e: e, n: a.n}, t: &band{width: blockSize}, block: make([]float64,
		a.n*blockSize)}
	l.rng = rand.New(rand.NewPCG(seed, 0x6c616e637a6f73)) // "lanczos"
	for j := range blockSize {
		l.replace(j, true)
	}
	return l, l.orthonormalize(ctx)
}

// extend adds one block to the basis.
func (l *lanczos) extend(ctx context.Context) error {
	newest := l.q.add(l.block)
	l.t.extend(l.coupling)
	products := make([]float32, len(l.block))
	if err := scores(products, l.a.values, newest); err != nil {
		return err
	}
	for i, v := range products {
		l.block[i] = float64(v)
	}
	return l.orthonormalize(ctx)
}

// orthonormalize makes the block orthogonal to q and orthonormal, enters the diagonal
// block of T for the newest vectors of q, and keeps the coupling. It goes over the block
// twice, which is enough (Daniel, Gragg, Kaufman and Stewart 1976), or again if the second
// time took much away. A vector that nothing remains of is replaced by a random one, which
// T does not couple, or by 0 if nothing remains of that either: the space is exhausted.
func (l *lanczos) orthonormalize(ctx context.Context) error {
	const (
		most    = 0.5   // of the square of a length: what remains is orthogonal
		nothing = 1e-12 // likewise: what remains is rounding
		passes  = 12
	)
	r, tries := identity(blockSize), make([]int, blockSize)
	for pass, again := 0, true; again && pass < passes; pass++ {
		again = pass == 0
		if l.a.centred {
			centre(l.block, blockSize)
		}
		before := gram(l.block, blockSize)
		c, err := l.q.remove(ctx, l.block)
		if err != nil {
			return err
		}
		if pass == 0 && l.q.count > 0 {
			l.t.diagonal(c[(l.q.count-blockSize)*blockSize:])
		}
		factor := cholesky(gram(l.block, blockSize), blockSize)
		divide(l.block, factor, blockSize)
		r = numerics.Product(factor, r, blockSize)
		for j := range blockSize {
			was, left := before[j*blockSize+j], factor[j*blockSize+j]
			switch left *= left; {
			case was == 0 || left > most*was:
			case left > nothing*was:
				again = true
			default:
				clear(r[j*blockSize : (j+1)*blockSize])
				tries[j]++
				l.replace(j, tries[j] < 3)
				again = true
			}
		}
	}
	l.coupling, l.exhausted = r, !slices.ContainsFunc(l.block, func(v float64) bool { return v != 0 })
	return nil
}

// replace makes vector j of the block random, or 0.
func (l *lanczos) replace(j int, random bool) {
	for i := range l.a.n {
		v := 0.0
		if random {
			v = l.rng.NormFloat64()
		}
		l.block[i*blockSize+j] = v
	}
}

// residual bounds how far (θ, Qs) is from an eigenpair, from s alone.
func (l *lanczos) residual(s []float64) float64 {
	last, sum := s[len(s)-blockSize:], 0.0
	for i := range blockSize {
		v := 0.0
		for j := range blockSize {
			v += float64(l.coupling[i*blockSize+j] * last[j])
		}
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}
