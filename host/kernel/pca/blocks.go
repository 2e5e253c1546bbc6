package pca

import (
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
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

// partSums returns the sum of each column of x, n × b row-major, over each part.
func partSums(x []float32, b int) [][]float64 {
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

// meansOfParts returns the mean of each of b columns over n examples, given the sums of parts.
func meansOfParts(sums [][]float64, b, n int) []float64 {
	mean := make([]float64, b)
	for _, s := range sums {
		lists.Add(mean, s)
	}
	for j := range mean {
		mean[j] /= float64(n)
	}
	return mean
}

func identity(b int) []float64 {
	e := make([]float64, b*b)
	for i := range b {
		e[i*b+i] = 1
	}
	return e
}

// panelSize is how many landmarks are worked on together: a chunk of clause 1.
const panelSize = 256

var linear = kernel.Function{Kind: kernel.Linear}
