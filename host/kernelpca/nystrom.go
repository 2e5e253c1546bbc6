package kernelpca

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// fitLandmarks takes principal components of the Nyström features F = K_nm·L⁻ᵀ, K_mm = LLᵀ.
func (b *Basis) fitLandmarks(e engine.Engine, x dataset.Examples, o Options) error {
	which, err := b.choose(e, x, o)
	if err != nil {
		return err
	}
	b.Rows, b.Landmarks = which, rows(x, which)
	factor, err := b.factor(e, o.Tolerance)
	if err != nil {
		return err
	}
	m := len(b.Rows)
	f, mean, err := b.features(e, x, factor)
	if err != nil {
		return err
	}
	squares, all := 0.0, 0.0
	for i := range x.N {
		squares += b.selfValue(x, i)
	}
	for _, c := range centreRows(f) {
		all += float64(c * c)
	}
	b.Variance = squares - float64(x.N)*all
	if err := b.checkVariance(squares); err != nil {
		return err
	}
	gram := make([]float32, m*m)
	if err := e.Project(gram, f, engine.Projection{Function: linear, Landmarks: f}); err != nil {
		return err
	}
	f.X = nil
	var found eigenpairs
	if m <= denseSize {
		found, err = b.dense(gram, m, nil, o)
	} else {
		r, err := e.Load(dataset.Examples{N: m, D: m, X: gram}, nil, blockSize)
		if err != nil {
			return err
		}
		defer r.Close()
		found, err = b.leading(e, matrix{n: m, multiply: func(dst []float32, v engine.Weights) error { return scores(dst, r, v) }}, o)
	}
	if err != nil {
		return err
	}
	b.setAxes(factor.axes(found), found.values, mean)
	return nil
}

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

// factor returns L with LLᵀ = K_mm after dropping landmarks of which no more than
// tolerance, of the largest squared length, is left beside those before them.
func (b *Basis) factor(e engine.Engine, tolerance float64) (lower, error) {
	m := len(b.Rows)
	values := make([]float32, m*m)
	if err := e.Project(values, b.Landmarks, engine.Projection{Function: b.Function, Landmarks: b.Landmarks}); err != nil {
		return lower{}, err
	}
	l := lower{m: m, a: make([]float64, m*m)}
	largest := 0.0
	for i, v := range values {
		l.a[i] = float64(v)
		if i%(m+1) == 0 {
			largest = max(largest, l.a[i])
		}
	}
	kept := make([]int, 0, m)
	for at := 0; at < m; at += panelSize {
		p := l.panelOf(at)
		if at > 0 { // what the panels before leave of this one
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, l.general(at, 0, m-at, at), l.general(at, 0, p, at), 1, l.general(at, at, m-at, p))
		}
		kept = l.factorPanel(at, p, tolerance*largest, kept)
	}
	// Dropped columns are 0, and nothing needs their rows.
	k := len(kept)
	r := lower{m: k, a: make([]float64, k*k)}
	all := b.Rows
	b.Rows = make([]int, k)
	for i, row := range kept {
		b.Rows[i] = all[row]
		for j, column := range kept[:i+1] {
			r.a[i*k+j] = l.a[row*m+column]
		}
	}
	if b.DroppedLandmarks = m - k; k < m {
		b.Landmarks = rows(b.Landmarks, kept)
	}
	return r, nil
}

// factorPanel makes columns at..at+p-1 those of the factor, or 0 for landmarks that are
// dropped, and appends the others to kept.
func (l lower) factorPanel(at, p int, least float64, kept []int) []int {
	for j := at; j < at+p; j++ { // the square on the diagonal
		row := l.a[j*l.m:]
		pivot := row[j]
		for c := at; c < j; c++ {
			pivot -= float64(row[c] * row[c])
		}
		if !(pivot > least) {
			row[j] = 0
			for i := j + 1; i < at+p; i++ {
				l.a[i*l.m+j] = 0
			}
			continue
		}
		kept = append(kept, j)
		row[j] = math.Sqrt(pivot)
		for i := j + 1; i < at+p; i++ {
			l.a[i*l.m+j] = l.entry(i, j, at)
		}
	}
	parallel(l.m-at-p, func(k int) { // the rows below
		i := at + p + k
		for j := at; j < at+p; j++ {
			l.a[i*l.m+j] = l.entry(i, j, at)
		}
	})
	return kept
}

// entry returns entry (i, j) of the factor, from its row up to column j and row j.
func (l lower) entry(i, j, at int) float64 {
	d := l.a[j*l.m+j]
	if d == 0 {
		return 0
	}
	v, other := l.a[i*l.m+j], l.a[j*l.m+at:j*l.m+j]
	for c, w := range l.a[i*l.m+at : i*l.m+j] {
		v -= float64(w * other[c])
	}
	return v / d
}

// features returns F transposed, m × n, and the mean of each column of K_nm: panel by
// panel F_J = (K_J - Σ_I F_I·L_JIᵀ)·L_JJ⁻ᵀ, products on the engine.
func (b *Basis) features(e engine.Engine, x dataset.Examples, l lower) (dataset.Examples, []float64, error) {
	f := dataset.Examples{N: l.m, D: x.N, X: make([]float32, l.m*x.N)}
	var mean []float64
	var panels [][]float32
	product := make([]float32, x.N*min(panelSize, l.m))
	// multiply writes a·cᵀ to product; c is the p × q part of l at (i, j), or of its inverse.
	multiply := func(a []float32, c blas64.General) error {
		w := dataset.Examples{N: c.Rows, D: c.Cols, X: make([]float32, 0, c.Rows*c.Cols)}
		for r := range c.Rows {
			for _, v := range c.Data[r*c.Stride : r*c.Stride+c.Cols] {
				w.X = append(w.X, float32(v))
			}
		}
		return e.Project(product[:x.N*w.N], dataset.Examples{N: x.N, D: w.D, X: a}, engine.Projection{Function: linear, Landmarks: w})
	}
	for at := 0; at < l.m; at += panelSize {
		p := l.panelOf(at)
		which := make([]int, p)
		for k := range which {
			which[k] = at + k
		}
		panel := make([]float32, x.N*p)
		if err := e.Project(panel, x, engine.Projection{Function: b.Function, Landmarks: rows(b.Landmarks, which)}); err != nil {
			return f, nil, err
		}
		mean = append(mean, means(panel, p)...)
		rest := make([]float64, len(panel))
		for i, v := range panel {
			rest[i] = float64(v)
		}
		for k, before := range panels {
			if err := multiply(before, l.general(at, k*panelSize, p, panelSize)); err != nil {
				return f, nil, err
			}
			parts(x.N, func(_, from, to int) {
				for i := from * p; i < to*p; i++ {
					rest[i] -= float64(product[i])
				}
			})
		}
		for i, v := range rest {
			panel[i] = float32(v)
		}
		if err := multiply(panel, l.inverse(at, p)); err != nil {
			return f, nil, err
		}
		copy(panel, product[:len(panel)])
		panels = append(panels, panel)
		parallel(p, func(j int) {
			row := f.Row(at + j)
			for i := range row {
				row[i] = panel[i*p+j]
			}
		})
	}
	return f, mean, nil
}

// inverse returns the inverse of the p×p triangle of l at (at, at).
func (l lower) inverse(at, p int) blas64.General {
	inv := blas64.General{Rows: p, Cols: p, Stride: p, Data: identity(p)}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, l.triangle(at, p), inv)
	return inv
}

func (l lower) triangle(at, p int) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: p, Stride: l.m, Data: l.a[at*l.m+at:]}
}

// axes returns the axes of eigenvectors of the Gram matrix of the features, rows of m:
// A = V·L⁻¹.
func (l lower) axes(found eigenpairs) []float32 {
	d := len(found.values)
	a := blas64.General{Rows: d, Cols: l.m, Stride: l.m, Data: make([]float64, d*l.m)}
	for i, v := range found.vectors {
		a.Data[i] = float64(v)
	}
	columns := func(at, p int) blas64.General {
		return blas64.General{Rows: d, Cols: p, Stride: l.m, Data: a.Data[at:]}
	}
	last := (l.m - 1) / panelSize * panelSize
	for at := last; at >= 0; at -= panelSize {
		p := l.panelOf(at)
		if after := at + p; after < l.m {
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, columns(after, l.m-after), l.general(after, at, l.m-after, p), 1, columns(at, p))
		}
		blas64.Trsm(blas.Right, blas.NoTrans, 1, l.triangle(at, p), columns(at, p))
	}
	axes := make([]float32, len(a.Data))
	for i, v := range a.Data {
		axes[i] = float32(v)
	}
	return axes
}

// centreRows subtracts from each row of f its mean, and returns the means.
func centreRows(f dataset.Examples) []float64 {
	mean := make([]float64, f.N)
	parallel(f.N, func(i int) {
		row, sum := f.Row(i), 0.0
		for _, v := range row {
			sum += float64(v)
		}
		mean[i] = sum / float64(f.D)
		for j, v := range row {
			row[j] = float32(float64(v) - mean[i])
		}
	})
	return mean
}
