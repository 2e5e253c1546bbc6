// Package numerics is the arithmetic of the numerics contract in plain Go: the
// few operations whose every bit is fixed, shared by the host and by cpuref.
//
// The contract itself is in package host/engine/contract; clause numbers below
// refer to it. No bit depends on the processor or on the Go compiler's freedom
// to fuse a multiplication with an addition: a product that must be rounded
// before it is added is in an explicit conversion, which the language
// defines to round. FMA on arm64 is fused by the compiler, and a program whose
// compiler does not ends when it starts.
package numerics

import (
	"math"
	"math/bits"
)

// Chunk is the number of columns whose products are accumulated before the
// result is added to the total of a dot product (clause 1).
const Chunk = 256

// Block is the number of consecutive examples whose weighted values are accumulated before
// the result is added to a weighted sum (clause 14).
const Block = 256

// plain says that float32(s) is FMA(a, b, c), where s is float64(a)·float64(b) + float64(c): for
// loops that have several sums under way, since the compiler inlines it, and not FMA. Below bit 29
// of s lies what float32 cannot hold, and 1000…0 there is a midpoint.
func plain(s float64) bool {
	u := math.Float64bits(s)
	return u&(1<<29-1) != 1<<28 && u>>52&0x7ff > 1023-127
}

// Dot returns ⟨x, w⟩ by clause 1. Both slices have the same length.
func Dot(x, w []float32) float32 {
	w = w[:len(x)]
	var total float32
	for len(x) > 3*Chunk {
		for _, sum := range dotChunks(x[:3*Chunk], w[:3*Chunk]) {
			total += sum
		}
		x, w = x[3*Chunk:], w[3*Chunk:]
	}
	for len(x) > Chunk {
		total += dotChunk(x[:Chunk], w[:Chunk])
		x, w = x[Chunk:], w[Chunk:]
	}
	return total + dotChunk(x, w)
}

// dotChunks returns what dotChunk does of three chunks: none of their sums waits for another,
// which takes a third of the time.
func dotChunks(x, w []float32) (acc [3]float32) {
	x0, x1, x2 := x[:Chunk], x[Chunk:2*Chunk], x[2*Chunk:3*Chunk]
	w0, w1, w2 := w[:Chunk], w[Chunk:2*Chunk], w[2*Chunk:3*Chunk]
	var a, b, c float32
	if fused {
		for j := range x0 {
			a, b, c = FMA(x0[j], w0[j], a), FMA(x1[j], w1[j], b), FMA(x2[j], w2[j], c)
		}
		return [3]float32{a, b, c}
	}
	for j := range x0 {
		p, q, r := float64(x0[j])*float64(w0[j]), float64(x1[j])*float64(w1[j]),
			float64(x2[j])*float64(w2[j])
		s, t, u := p+float64(a), q+float64(b), r+float64(c)
		if plain(s) && plain(t) && plain(u) {
			a, b, c = float32(s), float32(t), float32(u)
		} else {
			a, b, c = FMA(x0[j], w0[j], a), FMA(x1[j], w1[j], b), FMA(x2[j], w2[j], c)
		}
	}
	return [3]float32{a, b, c}
}

func dotChunk(x, w []float32) float32 {
	w = w[:len(x)]
	var acc float32
	for j, v := range x {
		acc = FMA(v, w[j], acc)
	}
	return acc
}

// SparseDots writes ⟨x, w⟩ by clause 1 to dst for several w, which lie side by side in w: the
// values of column j start at j·len(dst). x has some stored values, the others being +0: columns
// increase, each is in w. For finite w the bits equal Dot's: a chunk of zeros adds +0, and a zero
// within a chunk changes at most the sign of a zero, which the total forgets.
func SparseDots(dst []float32, columns []int32, values, w []float32) {
	values = values[:len(columns)]
	for r := range dst {
		var total, acc float32
		chunk := uint32(0)
		for k, j := range columns {
			if c := uint32(j) / Chunk; c != chunk {
				total, acc, chunk = total+acc, 0, c
			}
			acc = FMA(values[k], w[int(j)*len(dst)+r], acc)
		}
		dst[r] = total + acc
	}
}

// SquaredNorm returns ⟨x, x⟩ by clause 1 of a row: all its values or, if columns is not nil, those
// stored in increasing columns.
func SquaredNorm(columns []int32, values []float32) float32 {
	if columns == nil {
		return Dot(values, values)
	}
	var total, acc float32
	chunk := int32(0)
	for k, j := range columns {
		if c := j / Chunk; c != chunk {
			total, acc, chunk = total+acc, 0, c
		}
		acc = FMA(values[k], values[k], acc)
	}
	return total + acc
}

// MostExamples is the largest total of a FixedPoint: as a float64 it is exact, and the
// integers of the largest float32 still have a scale for it.
const MostExamples = 1 << 53

// FixedPoint is the fixed-point format of a set of examples (clause 3): the integer of x is
// the integer nearest to x·2^S, and means are over N examples. Loads of parts of one set,
// in shards, streams or on several machines, agree if they are given the format of the
// whole. The zero value selects the format of the examples at hand.
type FixedPoint struct {
	S int // in [-126, 126]
	N int // examples of the whole set, 1 to MostExamples
}

// NewFixedPoint returns the format for n examples, 1 to MostExamples, with values up to maxAbs in
// size: a sum of n of its integers stays below 2^62.
func NewFixedPoint(maxAbs float32, n int) FixedPoint {
	_, e := math.Frexp(float64(maxAbs)) // maxAbs = f·2^e, f in [0.5, 1); 0 gives 0
	s := 62 - bits.Len64(uint64(n)) - e
	return FixedPoint{S: min(max(s, -126), 126), N: n}
}

// Scale returns 2^S, which is a normal float32.
func (f FixedPoint) Scale() float32 { return float32(math.Ldexp(1, f.S)) }

// Unit returns u = float32(2^-S / N), the factor from summed integers to a mean over all
// examples (clause 6).
func (f FixedPoint) Unit() float32 { return float32(math.Ldexp(1, -f.S) / float64(f.N)) }

// Quantize returns the integer of x, ties to even; scale is f.Scale(). The
// product is a scaling by a power of two: exact, unless it is so small that it
// rounds to the integer 0 in any case.
func Quantize(x, scale float32) int64 {
	return int64(math.RoundToEven(float64(x) * float64(scale)))
}

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

// Product returns x·y of q×q matrices, row-major. Sums go in increasing order, and each product is
// rounded before it is added.
func Product(x, y []float64, q int) []float64 {
	z := make([]float64, q*q)
	for i := range q {
		for k := range q {
			for j := range q {
				z[i*q+j] += float64(x[i*q+k] * y[k*q+j])
			}
		}
	}
	return z
}

// NormaliseColumns divides the columns of a q×q matrix by their sums.
func NormaliseColumns(a []float64, q int) {
	for t := range q {
		sum := 0.0
		for p := range q {
			sum += a[p*q+t]
		}
		for p := range q {
			a[p*q+t] /= sum
		}
	}
}
