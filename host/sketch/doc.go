// Package sketch bounds how far the scores of examples can have moved when weights
// change, without reading the examples: from their projections on a few directions
// and the length of what is left of them, kept in a byte per direction.
//
// An engine that keeps a sketch scores an example afresh only where the bounds
// leave its region open, and so finds the regions of a full recomputation, bit for
// bit. The idea is that of Hamerly's k-means (SDM 2010), which keeps one distance
// per point; the bounds here are for inner products and include the rounding of
// the contract's own arithmetic.
//
// # The bound
//
// Let V be K directions as rows, about orthonormal, VVᵀ = I + E; x an example of
// length ν; ŝ its sketch, any K numbers near Vx; x⊥ = x - Vᵀŝ what is left, of
// length ρ. A class's weights change by Δ. With â = VΔ and Δ⊥ = Δ - Vᵀâ,
//
//	⟨Δ,x⟩ = ⟨â,ŝ⟩ + ⟨Δ⊥,x⊥⟩ + ⟨â, Vx - ŝ - Eŝ⟩
//
// holds without any assumption. The first term is the estimate; the second is at
// most ‖Δ⊥‖·ρ; the third is at most ‖â‖ times the error of the sketch. To this come
// γ‖w‖ν for the rounding of each of the two scores (γ bounds the relative error of
// clause 1), and the rounding of the estimate itself. Everything but ‖Δ⊥‖·ρ is
// proportional to ν. So the score of an example that was last computed some changes
// ago lies within
//
//	Σ (Eta·ρ + Theta·ν) + Gamma·ν
//
// of the estimate, the sum over the changes since.
package sketch
