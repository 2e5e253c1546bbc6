package pca

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
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
	return meansOfParts(partSums(x, b), b, len(x)/b)
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
// of r is a tiny multiple of the identity's row, or the identity's row if the column is 0.
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

func identity(b int) []float64 {
	e := make([]float64, b*b)
	for i := range b {
		e[i*b+i] = 1
	}
	return e
}

// panelSize is how many vectors are kept together: a chunk of clause 1.
const panelSize = 256

// vectors is a growing set of count vectors of n values. Blocks are n × blockSize row-major.
type vectors struct {
	e        *engine.Engine
	n, count int
	panels   []*panel
}

// panel is up to panelSize vectors, in both orders: the engine makes inner products of rows.
type panel struct {
	count     int
	byVector  dataset.Examples // panelSize × n
	byExample dataset.Examples // n × panelSize, 0 where there is no vector yet
}

var linear = kernel.Function{Kind: kernel.Linear}

// add appends the vectors of a block, rounded, and returns them as rows.
func (v *vectors) add(block []float64) engine.Weights {
	if v.count%panelSize == 0 {
		v.panels = append(v.panels, &panel{
			byVector:  dataset.Examples{N: panelSize, D: v.n, X: make([]float32, panelSize*v.n)},
			byExample: dataset.Examples{N: v.n, D: panelSize, X: make([]float32, panelSize*v.n)},
		})
	}
	p := v.panels[len(v.panels)-1]
	rows := p.byVector.X[p.count*v.n : (p.count+blockSize)*v.n]
	parts(v.n, func(_, from, to int) {
		for i := from; i < to; i++ {
			for j, value := range block[i*blockSize : (i+1)*blockSize] {
				rows[j*v.n+i] = float32(value)
				p.byExample.X[i*panelSize+p.count+j] = float32(value)
			}
		}
	})
	v.count += blockSize
	p.count += blockSize
	return engine.Weights{Q: blockSize, D: v.n, W: rows}
}

// remove makes the columns of the block, which it rounds to float32, orthogonal to the
// vectors, and returns what they had in common, count × blockSize.
func (v *vectors) remove(ctx context.Context, block []float64) ([]float64, error) {
	w := dataset.Examples{N: blockSize, D: v.n, X: make([]float32, blockSize*v.n)}
	parts(v.n, func(_, from, to int) {
		for i := from; i < to; i++ {
			for j, value := range block[i*blockSize : (i+1)*blockSize] {
				w.X[j*v.n+i] = float32(value)
				block[i*blockSize+j] = float64(float32(value))
			}
		}
	})
	common := make([]float32, v.count*blockSize)
	for k, p := range v.panels {
		if err := v.multiply(ctx, common[k*panelSize*blockSize:][:p.count*blockSize],
			p.byVector.Part(0, p.count), w); err != nil {
			return nil, err
		}
	}
	sums := make([]float32, len(block))
	for k, p := range v.panels {
		c := dataset.Examples{N: blockSize, D: panelSize, X: make([]float32, blockSize*panelSize)}
		for i := range p.count {
			for j := range blockSize {
				c.X[j*panelSize+i] = common[(k*panelSize+i)*blockSize+j]
			}
		}
		if err := v.multiply(ctx, sums, p.byExample, c); err != nil {
			return nil, err
		}
		parts(v.n, func(_, from, to int) {
			for i := from * blockSize; i < to*blockSize; i++ {
				block[i] -= float64(sums[i])
			}
		})
	}
	return lists.As[float64](common), nil
}

// multiply writes the inner products of the rows of x and y to dst.
func (v *vectors) multiply(ctx context.Context, dst []float32, x, y dataset.Examples) error {
	return v.e.ProjectBlocks(ctx, dst, x, engine.Projection{Function: linear, Landmarks: y})
}

// scores writes the inner products of all examples with the rows of w to dst.
func scores(dst []float32, r *engine.Scorer, w engine.Weights) error {
	if err := r.Rescore(w, lists.UpTo[int](w.Q)); err != nil {
		return err
	}
	n, _, _ := r.Shape()
	return r.Scores(dst, 0, n)
}

// combine returns the combinations of the vectors with the given coefficients, count of
// each, as rows of n values.
func (v *vectors) combine(ctx context.Context, coefficients [][]float64) ([]float32, error) {
	const tile = 2048
	d := len(coefficients)
	rows := make([]float32, d*v.n)
	c := make([]dataset.Examples, len(v.panels)) // d × panelSize
	for k := range c {
		c[k] = dataset.Examples{N: d, D: panelSize, X: make([]float32, d*panelSize)}
		for t, s := range coefficients {
			for i, value := range s[k*panelSize : min((k+1)*panelSize, v.count)] {
				c[k].X[t*panelSize+i] = float32(value)
			}
		}
	}
	for from := 0; from < v.n; from += tile {
		to := min(from+tile, v.n)
		total, sums := make([]float32, (to-from)*d), make([]float32, (to-from)*d)
		for k, p := range v.panels {
			x := dataset.Examples{N: to - from, D: panelSize,
				X: p.byExample.X[from*panelSize : to*panelSize]}
			if err := v.multiply(ctx, sums, x, c[k]); err != nil {
				return nil, err
			}
			lists.Add(total, sums)
		}
		parallel.Tasks(d, func(t int) {
			row := rows[t*v.n:]
			for i := from; i < to; i++ {
				row[i] = total[(i-from)*d+t]
			}
		})
	}
	return rows, nil
}
