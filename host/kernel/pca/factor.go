package pca

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// lower is a lower triangular m×m matrix in float64, row-major.
type lower struct {
	m int
	a []float64
}

// panelOf returns the number of rows of panel at, of at most panelSize.
func (l lower) panelOf(at int) int { return min(panelSize, l.m-at) }

// general returns the rows×columns part of l whose first entry is (i, j).
func (l lower) general(i, j, rows, columns int) blas64.General {
	return blas64.General{Rows: rows, Cols: columns, Stride: l.m, Data: l.a[min(i*l.m+j, len(l.a)):]}
}

// factor returns L with LLᵀ = K_mm for the landmarks in a new order: always the one with
// the largest rest beside those before it, until that is no more than tolerance, of the largest
// squared length; the others are dropped. In another order, rounding of nearly dependent
// landmarks grows from one to the next.
func (b *Basis) factor(ctx context.Context, e *engine.Engine, tolerance float64) (lower, error) {
	m := len(b.Rows)
	values := make([]float32, m*m)
	if err := e.ProjectBlocks(ctx, values, b.Landmarks, engine.Projection{Function: b.Function,
		Landmarks: b.Landmarks}); err != nil {
		return lower{}, err
	}
	l := lower{m: m, a: make([]float64, m*m)}
	largest := 0.0
	for i, v := range values {
		if l.a[i] = float64(v); math.IsInf(l.a[i], 0) || math.IsNaN(l.a[i]) {
			return lower{}, errOverflow
		}
		if i%(m+1) == 0 {
			largest = max(largest, l.a[i])
		}
	}
	order := lists.UpTo[int](m)
	k, err := l.pivotedCholesky(ctx, order, tolerance*largest)
	if err != nil {
		return lower{}, err
	}
	if k == 0 {
		return lower{}, fmt.Errorf("%w: all %d landmarks are 0 there; take more, or another seed",
			ErrConstant, m)
	}
	r := lower{m: k, a: make([]float64, k*k)}
	all := b.Rows
	b.Rows = make([]int, k)
	for i := range k {
		b.Rows[i] = all[order[i]]
		copy(r.a[i*k:i*k+i+1], l.a[i*m:])
	}
	b.DroppedLandmarks = m - k
	b.Landmarks = b.Landmarks.Pick(order[:k])
	return r, nil
}

// inverse returns the inverse of the p×p triangle of l at (at, at).
func (l lower) inverse(at, p int) blas64.General {
	inv := blas64.General{Rows: p, Cols: p, Stride: p, Data: identity(p)}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, l.triangle(at, p), inv)
	return inv
}

func (l lower) triangle(at, p int) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: p, Stride: l.m,
		Data: l.a[at*l.m+at:]}
}

// axes returns V·L⁻¹ for d vectors, rows of m, which it overwrites. Triangular says that V is lower
// triangular, as the result is then.
func (l lower) axes(ctx context.Context, d int, v []float64, triangular bool) ([]float32, error) {
	first := 0 // row that has numbers in the columns of the panel
	columns := func(at, p int) blas64.General {
		return blas64.General{Rows: d - first, Cols: p, Stride: l.m, Data: v[first*l.m+at:]}
	}
	last := (l.m - 1) / panelSize * panelSize
	for at := last; at >= 0; at -= panelSize {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := l.panelOf(at)
		if triangular {
			first = at
		}
		if after := at + p; after < l.m {
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, columns(after, l.m-after), l.general(after, at,
				l.m-after, p), 1, columns(at, p))
		}
		blas64.Trsm(blas.Right, blas.NoTrans, 1, l.triangle(at, p), columns(at, p))
	}
	return lists.As[float32](v), nil
}

// pivotedCholesky factors the symmetric matrix in l, whose lower triangle it reads, by panels, as
// LAPACK's pstrf does. Each step takes the row with the largest rest on the diagonal, the first of
// them, until none is above least. It returns the number k of rows taken; their factor is in the
// first k rows and columns, and order is permuted as the rows were.
func (l lower) pivotedCholesky(ctx context.Context, order []int, least float64) (int, error) {
	_, task := progress.Begin(ctx, progress.Work{Name: "factor", Unit: "landmark", Total: int64(l.m)})
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
			numerics.SwapLower(l.a, l.m, j, best)
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

// column computes column j of the factor, given columns at..j-1 of its panel, and subtracts its
// squares from rest.
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
