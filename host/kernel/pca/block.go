package pca

import (
	"math"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// part is how many examples are worked on together. Sums over examples are added part by
// part, so that their bits do not depend on the number of processors.
const part = 1024

// countParts returns how many parts n examples have.
func countParts(n int) int { return (n + part - 1) / part }

// parts cuts n examples into parts.
func parts(n int, f func(k, from, to int)) {
	parallel.Tasks(countParts(n), func(k int) { f(k, k*part, min((k+1)*part, n)) })
}

// The blocks below are n × b row-major: column j is a vector, row i belongs to an example.

// gram returns the b×b inner products of the columns of x.
func gram(x []float64, b int) []float64 {
	n := len(x) / b
	sums := make([][]float64, countParts(n))
	parts(n, func(k, from, to int) {
		g := make([]float64, b*b)
		for i := from; i < to; i++ {
			row := x[i*b : (i+1)*b]
			for r, v := range row {
				for c, w := range row[:r+1] {
					g[r*b+c] += float64(v * w)
				}
			}
		}
		sums[k] = g
	})
	total := make([]float64, b*b)
	for _, g := range sums {
		for r := range b {
			for c := range r + 1 {
				total[r*b+c] += g[r*b+c]
				total[c*b+r] = total[r*b+c]
			}
		}
	}
	return total
}

// means returns the mean of each column of x.
func means[T float32 | float64](x []T, b int) []float64 {
	mean, _ := meansOfParts(nil, partSums(x, b), b, len(x)/b) // nil is no rank that could fail
	return mean
}

// partSums returns the sum of each column of x over each part.
func partSums[T float32 | float64](x []T, b int) [][]float64 {
	n := len(x) / b
	sums := make([][]float64, countParts(n))
	parts(n, func(k, from, to int) {
		s := make([]float64, b)
		for i := from; i < to; i++ {
			for j, v := range x[i*b : (i+1)*b] {
				s[j] += float64(v)
			}
		}
		sums[k] = s
	})
	return sums
}

// meansOfParts returns the mean of each of b columns over n examples, given the sums of parts of
// those of this rank.
func meansOfParts(at *store.Store, sums [][]float64, b, n int) ([]float64, error) {
	mean := make([]float64, b)
	err := store.InOrder(at, mean, 1, func(total []float64, from, to int) error {
		for _, s := range sums {
			for j, v := range s[from:to] {
				total[j] += v
			}
		}
		return nil
	})
	for j := range mean {
		mean[j] /= float64(n)
	}
	return mean, err
}

// centre subtracts from each column of x its mean.
func centre(x []float64, b int) {
	mean := means(x, b)
	parts(len(x)/b, func(_, from, to int) {
		for i := from; i < to; i++ {
			row := x[i*b : (i+1)*b]
			for j := range row {
				row[j] -= mean[j]
			}
		}
	})
}

// divide replaces x by x·r⁻¹, r upper triangular.
func divide(x, r []float64, b int) {
	parts(len(x)/b, func(_, from, to int) {
		for i := from; i < to; i++ {
			row := x[i*b : (i+1)*b]
			for j, v := range row {
				v /= r[j*b+j]
				row[j] = v
				for c := j + 1; c < b; c++ {
					row[c] -= float64(v * r[j*b+c])
				}
			}
		}
	})
}

// cholesky returns the upper triangular r with rᵀr = g. Where nothing is left of a column, its row
// of r is that of a tiny multiple of the identity, or of the identity if the column is 0.
func cholesky(g []float64, b int) []float64 {
	r := make([]float64, b*b)
	for j := range b {
		pivot := g[j*b+j]
		for i := range j {
			pivot -= float64(r[i*b+j] * r[i*b+j])
		}
		if !(pivot > 1e-15*g[j*b+j]) {
			r[j*b+j] = math.Sqrt(1e-30 * g[j*b+j])
			if r[j*b+j] == 0 {
				r[j*b+j] = 1
			}
			continue
		}
		d := math.Sqrt(pivot)
		r[j*b+j] = d
		for c := j + 1; c < b; c++ {
			v := g[j*b+c]
			for i := range j {
				v -= float64(r[i*b+j] * r[i*b+c])
			}
			r[j*b+c] = v / d
		}
	}
	return r
}

// product returns x·y of b×b matrices.
func product(x, y []float64, b int) []float64 {
	z := make([]float64, b*b)
	for i := range b {
		for k := range b {
			for j := range b {
				z[i*b+j] += float64(x[i*b+k] * y[k*b+j])
			}
		}
	}
	return z
}

func identity(b int) []float64 {
	e := make([]float64, b*b)
	for i := range b {
		e[i*b+i] = 1
	}
	return e
}
