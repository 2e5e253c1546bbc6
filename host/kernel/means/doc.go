// Package means has mean vectors of feature space: of each class the mean of φ(x) over its
// examples, ω_k = Σ_l β_kl·φ(x_l), as an engine.Projection whose numbers are ⟨ω_k, φ(x)⟩ (van
// Rooyen et al., Sparse robust classification via the kernel mean, equation 1).
//
// φ is never computed. The projection has examples for landmarks, here called atoms, and a row of
// weights β for each class, so that an engine multiplies rows of kernel values by weights, tile by
// tile (clause 13): no more than a tile of them is in memory, and the bits are the same on every
// engine, in every storage and however the examples are cut.
package means
