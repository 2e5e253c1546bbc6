package engine

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// MaxAbs returns the largest absolute value of x. Of the largest of several data sets,
// numerics.NewFixedPoint makes one fixed-point format for them all. Errors: ErrShape, and
// ErrValue for the first value that is not finite.
func MaxAbs(rows dataset.Rows) (float32, error) {
	x := rows.Stored()
	if err := x.Check(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrShape, err)
	}
	values := x.X
	if x.Sparse() {
		values = x.Values
	}
	const inf = math.MaxUint32>>1 - 1<<23 + 1 // bits of +Inf, above which are those of NaN
	largest := make([]uint32, parallel.Workers(len(values), maxAbsGrain))
	parallel.Cut(len(values), len(largest), func(part, from, to int) {
		largest[part] = maxBits(values[from:to])
	})
	if m := slices.Max(largest); m < inf {
		return math.Float32frombits(m), nil
	}
	at := slices.IndexFunc(values, func(v float32) bool { return maxBits([]float32{v}) >= inf })
	i, j := at/x.D, at%x.D
	if x.Sparse() {
		i, j = sort.Search(x.N, func(i int) bool { return x.Starts[i+1] > int64(at) }), int(x.Columns[at])
	}
	return 0, fmt.Errorf("%w: row %d has %v in column %d", ErrValue, i, values[at], j)
}

// maxAbsGrain is how many values are worth a processor.
const maxAbsGrain = 1 << 16

// maxBits returns the largest of the values' bits without their sign, which are ordered as the
// absolute values are, NaN and ±Inf last. Four maxima at a time, which do not wait for each other,
// take half the time of one.
func maxBits(values []float32) uint32 {
	const all = math.MaxUint32 >> 1
	var a, b, c, d uint32
	for ; len(values) >= 4; values = values[4:] {
		v := (*[4]float32)(values)
		a = max(a, math.Float32bits(v[0])&all)
		b = max(b, math.Float32bits(v[1])&all)
		c = max(c, math.Float32bits(v[2])&all)
		d = max(d, math.Float32bits(v[3])&all)
	}
	for _, v := range values {
		a = max(a, math.Float32bits(v)&all)
	}
	return max(a, b, c, d)
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
	clear(dst)
	// Column after column, where no sum waits for the one before it. A b of 0 adds nothing: the
	// sums are integers, so no acc is -0.
	for k, b := range inverse {
		if b == 0 {
			continue
		}
		row, b64 := sums[k*d:(k+1)*d], float64(b)
		for j, acc := range dst {
			g := float32(row[j])
			s := b64*float64(g) + float64(acc) // the product is exact
			if numerics.Plain(s) || s == 0 {
				dst[j] = float32(s)
			} else {
				dst[j] = numerics.FMA(b, g, acc)
			}
		}
	}
	u := f.Unit()
	for j, acc := range dst {
		dst[j] = acc * u
	}
}

// Own returns the engine and the examples of this rank: where ranks share rows, its own engines
// and examples, and else e and all of them. What it then finds out, errors too, the others do not
// know.
func Own(e Engine, rows dataset.Rows) (Engine, dataset.Examples) {
	x := rows.Stored()
	if r, ok := e.(interface{ Own() Engine }); ok && x.Shared() {
		e = r.Own() // of package shard
	}
	return e, x.Local()
}
