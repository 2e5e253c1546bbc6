package pca

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/uma-gpu/uma-gpu/host/progress"
)

// pivotedCholesky factors the symmetric matrix in l, of which it reads the lower triangle,
// by panels, as LAPACK's pstrf does. Each step takes the row with the largest rest on the
// diagonal, the first of them, until none is above least. It returns how many it took; their
// factor is in as many leading rows and columns, and order is permuted as the rows were.
func (l lower) pivotedCholesky(ctx context.Context, order []int, least float64) (int, error) {
	_, task := progress.Begin(ctx, progress.Work{Name: "factor", Unit: "landmark", Total: int64(l.m),
		AtMost: true})
	defer task.End()
	rest := make([]float64, l.m) // of the diagonal
	for at := 0; at < l.m; at += panelSize {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		task.Reach(int64(at))
		p := l.panelOf(at)
		for i := at; i < l.m; i++ {
			rest[i] = l.a[i*l.m+i]
		}
		for j := at; j < at+p; j++ {
			best := j
			for i := j + 1; i < l.m; i++ {
				if rest[i] > rest[best] {
					best = i
				}
			}
			if !(rest[best] > least) {
				return j, nil
			}
			SwapLower(l.a, l.m, j, best)
			order[j], order[best] = order[best], order[j]
			rest[j], rest[best] = rest[best], rest[j]
			l.column(j, at, rest)
		}
		// What this panel leaves of the rows below, a block of rows at a time.
		for from := at + p; from < l.m; from += panelSize {
			to := min(from+panelSize, l.m)
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, l.general(from, at, to-from, p), l.general(at+p, at,
				to-at-p, p), 1, l.general(from, at+p, to-from, to-at-p))
		}
	}
	return l.m, nil
}

// SwapLower exchanges rows and columns i and j, i ≤ j, of a symmetric n×n matrix whose lower
// triangle is in a, row-major.
func SwapLower(a []float64, n, i, j int) {
	if i == j {
		return
	}
	for c := range i {
		a[i*n+c], a[j*n+c] = a[j*n+c], a[i*n+c]
	}
	a[i*n+i], a[j*n+j] = a[j*n+j], a[i*n+i]
	for c := i + 1; c < j; c++ {
		a[c*n+i], a[j*n+c] = a[j*n+c], a[c*n+i]
	}
	for r := j + 1; r < n; r++ {
		a[r*n+i], a[r*n+j] = a[r*n+j], a[r*n+i]
	}
}

// column makes column j that of the factor, given those of its panel from column at on, and
// takes its squares from rest.
func (l lower) column(j, at int, rest []float64) {
	d := math.Sqrt(rest[j])
	l.a[j*l.m+j] = d
	pivot := l.a[j*l.m+at : j*l.m+j]
	parts(l.m-j-1, func(_, from, to int) {
		for i := j + 1 + from; i < j+1+to; i++ {
			row := l.a[i*l.m:]
			v := row[j]
			for c, w := range row[at:j] {
				v -= float64(w * pivot[c])
			}
			row[j] = v / d
			rest[i] -= float64(row[j] * row[j])
		}
	})
}
