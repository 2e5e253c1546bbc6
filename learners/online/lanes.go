package online

import "slices"

// row is the stored values of an example in increasing columns: of a dense one all values.
type row struct {
	columns []int32
	values  []float32
}

// matrix is Q×D numbers by columns, the numbers of all classes side by side: classes are the lanes
// of vectors, so that a column takes few instructions.
type matrix[T float32 | float64] struct {
	q, lanes int // lanes of a column: a multiple of 8; idle ones stay 0
	v        []T // D × lanes
	line     []T // a number for each lane, of the example at hand
}

func newMatrix[T float32 | float64](q, d int) *matrix[T] {
	lanes := (q + 7) / 8 * 8
	return &matrix[T]{q, lanes, make([]T, d*lanes), make([]T, lanes)}
}

// packed returns the matrix of row-major numbers. A -0 becomes +0.
func packed[T float32 | float64](q int, numbers []T) *matrix[T] {
	m := newMatrix[T](q, len(numbers)/q)
	m.each(func(lane *T, at int) { *lane = numbers[at] + 0 })
	return m
}

// numbers returns the numbers, row-major.
func (m *matrix[T]) numbers() []T {
	numbers := make([]T, m.q*len(m.v)/m.lanes)
	m.each(func(lane *T, at int) { numbers[at] = *lane })
	return numbers
}

// each calls f for each number and its row-major index.
func (m *matrix[T]) each(f func(lane *T, at int)) {
	d := len(m.v) / m.lanes
	for j := range d {
		for r := range m.q {
			f(&m.v[j*m.lanes+r], r*d+j)
		}
	}
}

func (m *matrix[T]) clone() *matrix[T] {
	return &matrix[T]{m.q, m.lanes, slices.Clone(m.v), slices.Clone(m.line)}
}

// scores writes the Q scores of x by the weights w (clause 1).
func (k *kernels) scores(dst []float32, w *matrix[float32], x row) {
	k.dots(x.columns, x.values, w.v, w.line)
	copy(dst, w.line)
}

// addTo adds τ_r·x to the weights of each class r, by one fma each; a result of -0 becomes +0, so
// that zeros of x and of τ change nothing.
func (k *kernels) addTo(w *matrix[float32], tau []float32, x row) {
	copy(w.line, tau)
	clear(w.line[w.q:])
	k.add(x.columns, x.values, w.v, w.line)
}

// addLate adds t·τ_r·x to the sums of each class r, each product rounded before it is added.
func (k *kernels) addLate(sums *matrix[float64], t float64, tau []float32, x row) {
	for r, v := range tau {
		sums.line[r] = t * float64(v) // if 0 no sum changes: none is ever -0
	}
	k.late(x.columns, x.values, sums.v, sums.line)
}
