// Package sketch bounds how far the scores of examples can have moved when weights
// change, without reading the examples: from their projections on a few directions
// and the length of what is left of them, kept in a byte per direction.
//
// An engine that keeps a sketch scores an example afresh only where the bounds
// leave its region open, and so finds the regions of a full recomputation, bit for
// bit. The idea is that of Hamerly's k-means (SDM 2010), which adds up how far each
// center moved; here the weights of earlier rounds are remembered, so that a class
// that moves to and fro loosens nothing, and the bounds include the rounding of the
// contract's own arithmetic.
//
// # The bound
//
// Let V be K directions as rows, about orthonormal, VVᵀ = I + E; x an example of
// length ν; ŝ its sketch, any K numbers near Vx; x⊥ = x - Vᵀŝ what is left, of
// length ρ. The weights of a class are Δ away from the ones that x was last scored
// with. With â = VΔ and Δ⊥ = Δ - Vᵀâ,
//
//	⟨Δ,x⟩ = ⟨â,ŝ⟩ + ⟨Δ⊥,x⊥⟩ + ⟨â, Vx - ŝ - Eŝ⟩
//
// holds without any assumption. The first term is the estimate; the second is at
// most ‖Δ⊥‖·ρ; the third is at most ‖â‖ times the error of the sketch. To this come
// γ‖w‖ν for the rounding of each of the two scores (γ bounds the relative error of
// clause 1), and the rounding of the estimate, which grows with each change.
// Everything but ‖Δ⊥‖·ρ is proportional to ν, or does not depend on the example: what
// underflows loses up to half of the smallest float32. No example counts as shorter than
// 2^-100, and so even this is at most a multiple of ν.
//
// Where ‖w‖·ν comes near to the largest float32, a score may be infinite or no number,
// though no exact value of it is; the bound says nothing then, and History refuses.
package sketch
