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
// of the Nyström features φ(x) = K_mm^-1/2 k_m(x), of which plain principal components are
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
