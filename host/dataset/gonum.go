package dataset

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// FromMatrix returns the rows of m as dense examples, each value the nearest float32,
// subnormal ones +0 (clause 2). m is only read. It is an error if m has no row or no
// column, more than 2^31-1 of one of them, or a value that is not finite in float32.
func FromMatrix(m mat.Matrix) (Examples, error) {
	n, d := m.Dims()
	if n < 1 || d < 1 || n > math.MaxInt32 || d > math.MaxInt32 {
		return Examples{}, fmt.Errorf("dataset: found a matrix of %d×%d, wanted from one to %d examples and features",
			n, d, math.MaxInt32)
	}
	e := Examples{N: n, D: d, X: make([]float32, n*d)}
	rows, hasRows := m.(mat.RawRowViewer)
	subnormals := 0
	for i := range n {
		row := e.Row(i)
		if hasRows {
			for j, v := range rows.RawRowView(i) {
				row[j] = narrow(v)
			}
		} else {
			for j := range row {
				row[j] = narrow(m.At(i, j))
			}
		}
		for j, v := range row {
			if !finite(v) {
				return Examples{}, fmt.Errorf("dataset: row %d, column %d (counted from 0): %s", i, j, cellFault(v))
			}
			row[j] = flush(v, &subnormals)
		}
	}
	return e, nil
}

// Mat returns e as a matrix of N rows and D columns. It shares the memory of e; its At
// is a look into it, in sparse examples a search. mat.DenseCopyOf makes a copy that
// gonum computes on faster.
func (e Examples) Mat() mat.Matrix { return examplesMatrix{e} }

// examplesMatrix are examples that gonum reads.
type examplesMatrix struct{ e Examples }

func (m examplesMatrix) Dims() (r, c int) { return m.e.N, m.e.D }

func (m examplesMatrix) At(i, j int) float64 {
	if uint(i) >= uint(m.e.N) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(m.e.D) {
		panic(mat.ErrColAccess)
	}
	if !m.e.Sparse() {
		return float64(m.e.X[i*m.e.D+j])
	}
	columns, values := m.e.SparseRow(i)
	if k, there := slices.BinarySearch(columns, int32(j)); there {
		return float64(values[k])
	}
	return 0
}

func (m examplesMatrix) T() mat.Matrix { return mat.Transpose{Matrix: m} }
