package kernelpca

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// pivotedCholesky factors the symmetric matrix in l, of which it reads the lower triangle,
// by panels, as LAPACK's pstrf does. Each step takes the row with the largest rest on the
// diagonal, the first of them, until none is above least. It returns how many it took; their
// factor is in as many leading rows and columns, and order is permuted as the rows were.
func (l lower) pivotedCholesky(ctx context.Context, order []int, least float64) (int, error) {
	rest := make([]float64, l.m) // of the diagonal
	for at := 0; at < l.m; at += panelSize {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
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
			l.swap(j, best)
			order[j], order[best] = order[best], order[j]
			rest[j], rest[best] = rest[best], rest[j]
			l.column(j, at, rest)
		}
		// What this panel leaves of the rows below, a block of rows at a time.
		for from := at + p; from < l.m; from += panelSize {
			to := min(from+panelSize, l.m)
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, l.general(from, at, to-from, p), l.general(at+p, at, to-at-p, p), 1,
				l.general(from, at+p, to-from, to-at-p))
		}
	}
	return l.m, nil
}

// swap exchanges rows and columns i and j, i ≤ j, of a symmetric matrix whose lower triangle
// is in l.
func (l lower) swap(i, j int) {
	if i == j {
		return
	}
	a, m := l.a, l.m
	for c := range i {
		a[i*m+c], a[j*m+c] = a[j*m+c], a[i*m+c]
	}
	a[i*m+i], a[j*m+j] = a[j*m+j], a[i*m+i]
	for c := i + 1; c < j; c++ {
		a[c*m+i], a[j*m+c] = a[j*m+c], a[c*m+i]
	}
	for r := j + 1; r < m; r++ {
		a[r*m+i], a[r*m+j] = a[r*m+j], a[r*m+i]
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
