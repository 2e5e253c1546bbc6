package engine

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// UpdateVector writes z_pq, d values, to dst (clause 6). sums is Γ[p], Q×d row-major, inverse
// the Q values of row q of B = float32(C⁻¹), f the format of the sums. It panics if sizes do
// not agree.
//
// Update vectors are a function of class sums, wherever these come from: of one data set,
// or added from several of the same format. Cells.UpdateVectors gives the same bits.
func UpdateVector(dst []float32, sums []int64, inverse []float32, f numerics.FixedPoint) {
	d, q := len(dst), len(inverse)
	if len(sums) != q*d {
		panic(fmt.Sprintf("update vector: %d class sums for %d classes and %d features", len(sums), q, d))
	}
	u := f.Unit()
	for j := range dst {
		var acc float32
		for k, b := range inverse {
			acc = numerics.FMA(b, float32(sums[k*d+j]), acc)
		}
		dst[j] = acc * u
	}
}

// Norms writes ‖z_pq‖² of one region p to dst[q], Q values (clause 6). sums is Γ[p], Q×d
// row-major, inv B = float32(C⁻¹), Q×Q row-major, f the format of the sums. It panics if
// sizes do not agree. Cells.Norms gives the same bits for regions that are not empty.
func Norms(dst []float32, sums []int64, inv []float32, f numerics.FixedPoint) {
	q := len(dst)
	if len(inv) != q*q || q > 0 && len(sums)%q != 0 {
		panic(fmt.Sprintf("norms: %d class sums and an inverse of %d values for %d classes", len(sums), len(inv), q))
	}
	z := make([]float32, len(sums)/max(1, q))
	for c := range dst {
		UpdateVector(z, sums, inv[c*q:(c+1)*q], f)
		dst[c] = numerics.Dot(z, z)
	}
}
