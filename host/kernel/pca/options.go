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
// with the same bits on every engine. LAPACK's dsyev, as gonum has it, finds the eigenvectors of
// the landmarks' matrix: seconds for a thousand landmarks, and a thousand times as long for ten
// times as many. Everything on the host is float64 in a fixed order: a refit has the same bits,
// whatever the engine and GOMAXPROCS.
package pca

import (
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

// tolerance is the least eigenvalue, relative to the largest, whose axis is kept, and the least
// squared distance of a landmark from the span of the others: float32 kernel values say little
// about smaller ones.
const tolerance = 1e-6

// Options configures Fit.
type Options struct {
	Function   kernel.Function
	Components int // D
	// Coordinates takes, in place of D components, all coordinates in the space that the landmarks
	// span: L⁻¹k_m(x), K_mm = LLᵀ, not centred. All components are a rotation of them.
	Coordinates bool

	Landmarks int    // m; 0 for all examples, which is exact
	Rows      []int  // the landmarks, increasing; nil for a random choice, each set equally likely
	Seed      uint64 // of landmarks
}

// check returns an error for invalid options, for n examples of d features.
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
	switch rank, why := o.rank(n, d); {
	case o.Coordinates && (o.Components != 0 || o.Landmarks == 0):
		return wrong("found %d components and %d landmarks with coordinates, wanted landmarks alone",
			o.Components, o.Landmarks)
	case o.Coordinates:
	case o.Components < 1:
		return wrong("found %d components, wanted at least 1", o.Components)
	case o.Components > rank:
		return wrong("found %d components, wanted at most %d: %s", o.Components, rank, why)
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

// Bytes returns what Fit needs besides examples x: kernel values, eigenvectors, landmarks and axes.
// Its error is the error that Fit has for these options.
func Bytes(x dataset.Examples, o Options) (int64, error) {
	n, d := x.N, x.D
	if err := o.check(n, d); err != nil {
		return 0, err
	}
	m := n // landmarks
	if o.Landmarks > 0 {
		m = o.Landmarks
	}
	basis := memory.Product(m, d+o.Components, 4)
	if o.Coordinates { // kernel values, factors in float64 and their inverse
		return memory.Sum(basis, memory.Product(m, m, 32)), nil
	}
	needed := memory.Product(m, m, 36) // kernel values, and eigenvectors in float64
	// Factors in float64; features, and of one panel of them products, remainders and the other
	// order.
	return memory.Sum(basis, needed, memory.Product(m, m, 20), memory.Product(n, m, 4),
		memory.Product(n, min(m, panelSize), 16)), nil
}
