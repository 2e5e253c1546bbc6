// Package pca fits kernel principal components: the D directions of feature space
// in which the training examples vary most, as an engine.Projection onto them (Schölkopf,
// Smola and Müller 1998; Section 3.6 of the paper).
//
// # The problem
//
// Let K be the n×n matrix of kernel values of the training examples and H = I - 11ᵀ/n,
// which centres. With HKH = Σ λ_t u_t u_tᵀ, λ decreasing, component t of an example x is
//
//	z_t = λ_t^-1/2 · u_tᵀ H (k(x) - K1/n) = Σ_l κ(x, x_l)·A[t][l] + o_t
//
// where A[t] = u_t·λ_t^-1/2, since Hu_t = u_t, and o_t = -⟨A[t], K1/n⟩. So centring needs no
// step of its own when examples are projected. On the training examples Σ_i z_it² = λ_t.
//
// With m landmarks (Williams and Seeger 2001) kernel values are replaced by inner products
// of the Nyström features φ(x) = K_mm^-1/2 k_m(x); their plain principal components are
// taken: axes are orthogonal, and ordered, with respect to all n examples. Any other root
// of K_mm turns these features as a whole, which principal components do not see; here it
// is the Cholesky factor, K_mm = LLᵀ, found with pivots, so that a landmark which the
// others already stand for (a duplicate, say) is found and dropped.
//
// # The computation
//
// Kernel values and all products of large matrices are made by an engine, in float32 and
// with the same bits on every engine. Small problems are then solved densely in float64.
// Large ones go through a block Lanczos process with full orthogonalization: it meets the
// leading D eigenvectors within 2 to 3 times D dimensions, and leaves a matrix T of band
// form, whose eigenvalues (by rotations to tridiagonal form) and eigenvectors (by inverse
// iteration on the band) cost little even in plain Go. Everything on the host is float64
// in a fixed order: a refit has the same bits, whatever the engine and GOMAXPROCS.
package pca

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// The kinds of error of Fit; test with errors.Is. Errors of the engine are passed on.
var (
	ErrOptions  = errors.New("kernel PCA cannot be fitted so")
	ErrConstant = errors.New("the examples are all the same in feature space")
)

// defaultTolerance is the least eigenvalue, relative to the largest, whose axis is kept:
// float32 kernel values say little about smaller ones.
const defaultTolerance = 1e-6

// Options configures Fit.
type Options struct {
	Function kernel.Function
	Cosine   bool // scale each example to length 1 first (clause 2), so that linear is the cosine

	Components int     // D; 0 to choose it by Variance
	Variance   float64 // the share of the variance in feature space that D components reach, in (0, 1]
	// Coordinates takes, in place of D components, all coordinates in the space that the landmarks
	// span: L⁻¹k_m(x), K_mm = LLᵀ, not centred. All components are a rotation of them.
	Coordinates bool

	Landmarks int    // m; 0 for all examples, which is exact
	Rows      []int  // the landmarks, increasing; nil for a random choice, each set equally likely
	Seed      uint64 // of landmarks and of the start of the Lanczos process

	Tolerance float64 // of eigenvalues; 0 for 1e-6
}

// check returns an error for invalid options and sets defaults, for n examples of d features.
func (o *Options) check(n, d int) error {
	wrong := func(format string, a ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrOptions}, a...)...)
	}
	if n < 2 || d < 1 {
		return wrong("found %d examples of %d features, wanted at least 2 examples and 1 feature", n, d)
	}
	if err := o.Function.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if o.Landmarks < 0 || o.Landmarks > n {
		return wrong("found %d landmarks, wanted at most one per example (%d), or 0 for all examples",
			o.Landmarks, n)
	}
	o.Tolerance = cmp.Or(o.Tolerance, defaultTolerance)
	if !(o.Tolerance > 0 && o.Tolerance < 1) {
		return wrong("found the tolerance %v of eigenvalues, wanted it between 0 and 1", o.Tolerance)
	}
	switch rank, why := o.rank(n, d); {
	case o.Coordinates && (o.Components != 0 || o.Variance != 0 || o.Landmarks == 0):
		return wrong("found %d components, variance %v and %d landmarks with coordinates, wanted "+
			"landmarks alone", o.Components, o.Variance, o.Landmarks)
	case o.Coordinates:
	case o.Components < 0 || o.Components > 0 && o.Variance != 0:
		return wrong("found %d components and variance %v, wanted one of them above 0", o.Components,
			o.Variance)
	case o.Components > rank:
		return wrong("found %d components, wanted at most %d: %s", o.Components, rank, why)
	case o.Components == 0 && !(o.Variance > 0 && o.Variance <= 1):
		return wrong("found no number of components and variance %v, wanted components above 0 or a "+
			"share of variance in (0, 1]", o.Variance)
	}
	return nil
}

// MostComponents returns the most components there can be of n examples of d features, with
// o's function and landmarks.
func (o *Options) MostComponents(n, d int) int {
	rank, _ := o.rank(n, d)
	return rank
}

// rank returns the most components there can be, and why.
func (o *Options) rank(n, d int) (int, string) {
	rank, why := n-1, fmt.Sprintf("%d centred examples span no more dimensions", n)
	if m := o.Landmarks; o.Coordinates || m > 0 && m < rank {
		rank, why = m, fmt.Sprintf("%d landmarks span no more dimensions", m)
	}
	if o.Function.Kind == kernel.Linear && d < rank {
		rank, why = d, fmt.Sprintf("a linear kernel function of %d features has no more dimensions", d)
	}
	return rank, why
}

// Plan is what a fit takes besides the examples, in bytes, most of it in float32.
type Plan struct {
	Kernel  int64 `json:"kernel_bytes"`  // kernel values and their results
	Vectors int64 `json:"vectors_bytes"` // of the Lanczos process, about, for 3·D dimensions
	Basis   int64 `json:"basis_bytes"`   // landmarks (as dense) and axes
}

// Total returns the sum.
func (p Plan) Total() int64 { return memory.Sum(p.Kernel, p.Vectors, p.Basis) }

// NewPlan returns what Fit needs for examples x. Its error is the error Fit has for these options.
func NewPlan(x dataset.Examples, o Options) (Plan, error) {
	n, d := x.N, x.D
	if err := o.check(n, d); err != nil {
		return Plan{}, err
	}
	m, size := n, n // landmarks, and the order of the matrix whose eigenvectors are sought
	if o.Landmarks > 0 {
		m, size = o.Landmarks, o.Landmarks
	}
	components := o.Components
	if components == 0 {
		components = o.MostComponents(n, d) // the most that a variance can ask for
	}
	p := Plan{Basis: memory.Product(m, d+components, 4)}
	switch {
	case o.Coordinates:
		p.Kernel = memory.Product(m, m, 32) // kernel values, factors in float64 and their inverse
		return p, nil
	case size <= denseSize:
		p.Kernel, p.Vectors = memory.Product(size, size, 28), memory.Product(size, size, 8)
	default:
		p.Kernel = memory.Product(size, size, 4)
		steps := min(3*components, size)
		// Both orders, the block and its products, T and its factors, results twice.
		p.Vectors = memory.Sum(memory.Product(size, steps, 8), memory.Product(size, blockSize, 32),
			memory.Product(steps, blockSize, 56), memory.Product(components, steps, 8),
			memory.Product(size, components, 4))
	}
	if o.Landmarks > 0 {
		// Factors in float64; features, and of one panel of them products, remainders and the other
		// order.
		p.Kernel = memory.Sum(p.Kernel, memory.Product(m, m, 20), memory.Product(n, m, 4),
			memory.Product(n, min(m, panelSize), 16))
	}
	return p, nil
}
