package sketch

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

func dot(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Inc: 1, Data: a}, blas64.Vector{N: len(b), Inc: 1, Data: b})
}

func axpy(alpha float64, x, y []float64) {
	blas64.Axpy(alpha, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
}

// Length returns the length of a vector, computed in float64.
func Length(v []float32) float64 {
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
