package numerics

import "math"

// Inverse returns the inverse of the q×q row-major matrix a in float64 (clause
// 6), or false if a pivot is exactly zero. It does not judge the conditioning.
//
// Gauss-Jordan elimination on [A | I] with partial pivoting: for each column c,
// the pivot is the entry of largest magnitude in rows c..q-1, the lowest row on
// a tie; its row is swapped into place and divided by it entry by entry; then
// every other row r with a non-zero entry f in column c becomes
// row_r - f·row_c, the product rounded before it is subtracted. A library's LU
// is free to block, fuse and reorder differently on each processor; the weights
// depend on these bits, so the order is fixed here.
func Inverse(a []float64, q int) ([]float64, bool) {
	m := append([]float64(nil), a[:q*q]...)
	inv := make([]float64, q*q)
	for i := range q {
		inv[i*q+i] = 1
	}
	for c := range q {
		pivot := c
		for r := c + 1; r < q; r++ {
			if math.Abs(m[r*q+c]) > math.Abs(m[pivot*q+c]) {
				pivot = r
			}
		}
		d := m[pivot*q+c]
		if d == 0 {
			return nil, false
		}
		for j := range q {
			m[c*q+j], m[pivot*q+j] = m[pivot*q+j], m[c*q+j]
			inv[c*q+j], inv[pivot*q+j] = inv[pivot*q+j], inv[c*q+j]
		}
		for j := range q {
			m[c*q+j] /= d
			inv[c*q+j] /= d
		}
		for r := range q {
			f := m[r*q+c]
			if r == c || f == 0 {
				continue
			}
			for j := range q {
				m[r*q+j] -= float64(f * m[c*q+j])
				inv[r*q+j] -= float64(f * inv[c*q+j])
			}
		}
	}
	return inv, true
}
