package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Basis is K directions of feature space, about orthonormal.
type Basis struct {
	K, D int
	V    []float32 // K×D row-major: exactly these numbers are the directions

	v     []float64 // the same
	gamma float64   // of the contract's dot product of D columns
	skew  float64   // at least ‖VVᵀ - I‖
}

// unit is the relative error of one rounding to float32.
const unit = 0x1p-24

// least is the smallest number above 0 in float32: what underflows is off by half of it.
// Examples shorter than shortest count as that long, so that this too is at most a multiple
// of the length.
const (
	least    = 0x1p-149
	shortest = 0x1p-100
)

// dotError bounds the error of a dot product of d columns by clause 1, relative to the
// product of the lengths: each term passes through the fma of its chunk and the
// additions of the chunks.
func dotError(d int) float64 {
	chunks := (d + numerics.Chunk - 1) / numerics.Chunk
	return 1.01 * unit * float64(min(d, numerics.Chunk)+chunks+2)
}

// sampleRows is the number of examples that the directions are found from, and firstRows how many
// of them the first round has, which begins from nothing and needs no more: as many examples are
// left open. Any directions bound rightly; better ones bound closer.
const (
	sampleRows = 2048
	firstRows  = 256
)

// newBasis finds k directions in which dense examples x are long, 0 < k ≤ x.D: about
// the leading axes of the matrix of second moments, by two rounds of orthogonal
// iteration from random directions on some examples.
func newBasis(x dataset.Examples, k int) (*Basis, error) {
	if k < 1 || k > x.D || x.N < 1 || x.Sparse() {
		return nil, fmt.Errorf("sketch: %d directions of %d examples of %d features, sparse %v; "+
			"wanted dense examples and at most as many directions as features", k, x.N, x.D, x.Sparse())
	}
	n := min(x.N, sampleRows)
	rows := blas64.General{Rows: n, Cols: x.D, Stride: x.D, Data: make([]float64, n*x.D)}
	for i := range n {
		for j, v := range x.Row(i * x.N / n) {
			rows.Data[i*x.D+j] = float64(v)
		}
	}
	rng := rand.New(rand.NewPCG(1, 0x736b65746368)) // "sketch"
	v := blas64.General{Rows: k, Cols: x.D, Stride: x.D, Data: make([]float64, k*x.D)}
	for i := range v.Data {
		v.Data[i] = rng.NormFloat64()
	}
	each := max(1, n/firstRows) // spread over all
	some := blas64.General{Rows: n / each, Cols: x.D, Stride: each * x.D, Data: rows.Data}
	for _, rows := range []blas64.General{some, rows} {
		products := blas64.General{Rows: rows.Rows, Cols: k, Stride: k, Data: make([]float64,
			rows.Rows*k)}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, rows, v, 0, products)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, products, rows, 0, v)
		orthonormalize(v)
	}
	b := &Basis{K: k, D: x.D, V: make([]float32, k*x.D), v: v.Data, gamma: dotError(x.D)}
	for i, c := range v.Data {
		b.V[i] = float32(c)
		b.v[i] = float64(b.V[i])
	}
	square := blas64.General{Rows: k, Cols: k, Stride: k, Data: make([]float64, k*k)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, v, v, 0, square)
	for i := range k {
		if square.Data[i*k+i] != 0 { // a zero row projects to 0, so nothing of it is off
			square.Data[i*k+i]--
		}
	}
	b.skew = up(norm(square.Data))
	return b, nil
}

// orthonormalize makes the rows of v orthonormal, twice for the sake of rounding. A
// row that depends on those before it becomes zero, which no bound minds.
func orthonormalize(v blas64.General) {
	for i := range v.Rows {
		row := blas64.Vector{N: v.Cols, Inc: 1, Data: v.Data[i*v.Stride : (i+1)*v.Stride]}
		before := blas64.Nrm2(row)
		for range 2 {
			for h := range i {
				other := blas64.Vector{N: v.Cols, Inc: 1, Data: v.Data[h*v.Stride : (h+1)*v.Stride]}
				blas64.Axpy(-blas64.Dot(other, row), other, row)
			}
		}
		length := blas64.Nrm2(row)
		if !(length > 1e-9*before) || math.IsInf(length, 0) {
			clear(row.Data)
			continue
		}
		blas64.Scal(1/length, row)
	}
}

func norm(v []float64) float64 {
	return blas64.Nrm2(blas64.Vector{N: len(v), Inc: 1, Data: v})
}

// up returns a little more than v, which covers the rounding of the float64
// arithmetic here.
func up(v float64) float64 { return v*(1+1e-9) + math.SmallestNonzeroFloat32 }

// up32 is the least float32 above v by a few roundings, so that a device may compute
// with it in float32 and still be above.
func up32(v float64) float32 { return float32(v*(1+0x1p-20) + 0x1p-120) }

func dot(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Inc: 1, Data: a}, blas64.Vector{N: len(b), Inc: 1,
		Data: b})
}

func axpy(alpha float64, x, y []float64) {
	blas64.Axpy(alpha, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1,
		Data: y})
}

// euclidean returns the length of a vector, computed in float64.
func euclidean(v []float32) float64 {
	var a, b, c, d float64
	k := 0
	for ; k+4 <= len(v); k += 4 {
		a += float64(v[k]) * float64(v[k])
		b += float64(v[k+1]) * float64(v[k+1])
		c += float64(v[k+2]) * float64(v[k+2])
		d += float64(v[k+3]) * float64(v[k+3])
	}
	for ; k < len(v); k++ {
		a += float64(v[k]) * float64(v[k])
	}
	return math.Sqrt(a + b + c + d)
}
