package engine

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// MaxAbs returns the largest absolute value of x. Of the largest of several data sets,
// numerics.NewFixedPoint makes one fixed-point format for them all. Errors: ErrShape, and
// ErrValue for the first value that is not finite.
func MaxAbs(x dataset.Examples) (float32, error) {
	if err := x.Check(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrShape, err)
	}
	values := x.X
	if x.Sparse() {
		values = x.Values
	}
	// Bits without the sign are ordered as the absolute values are, NaN and ±Inf last. Four maxima at
	// a time, none of which waits for another, take half the time of one.
	const sign = 1 << 31
	var a, b, c, d uint32
	left := values
	for ; len(left) >= 4; left = left[4:] {
		a = max(a, math.Float32bits(left[0])&^sign)
		b = max(b, math.Float32bits(left[1])&^sign)
		c = max(c, math.Float32bits(left[2])&^sign)
		d = max(d, math.Float32bits(left[3])&^sign)
	}
	for _, v := range left {
		a = max(a, math.Float32bits(v)&^sign)
	}
	if largest := max(a, b, c, d); largest <= math.MaxUint32&^sign-1<<23 {
		return math.Float32frombits(largest), nil
	}
	at := slices.IndexFunc(values, func(v float32) bool { return math.Float32bits(v)&^sign > math.MaxUint32&^sign-1<<23 })
	i, j := at/x.D, at%x.D
	if x.Sparse() {
		i, j = sort.Search(x.N, func(i int) bool { return x.Starts[i+1] > int64(at) }), int(x.Columns[at])
	}
	return 0, fmt.Errorf("%w: row %d has %v in column %d", ErrValue, i, values[at], j)
}

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
