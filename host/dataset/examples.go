package dataset

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Examples are N feature vectors of D columns, dense or in compressed rows (CSR). Dense: value j of
// example i is X[i*D+j]. Sparse: example i has Values[Starts[i]:Starts[i+1]] in increasing Columns;
// others are +0. Slices are shared; functions never write to examples that they are given.
type Examples struct {
	N, D int
	X    []float32 // dense: N·D values

	Starts  []int64   // sparse: N+1 places in Columns and Values, from 0, not decreasing
	Columns []int32   // 0 ≤ column < D
	Values  []float32 // as many as Columns
}

// Sparse says which of the two forms e has.
func (e Examples) Sparse() bool { return e.Starts != nil }

// Row returns the features of example i of dense examples, sharing memory.
func (e Examples) Row(i int) []float32 { return e.X[i*e.D : (i+1)*e.D : (i+1)*e.D] }

// SparseRow returns the columns and values of sparse example i, sharing memory.
func (e Examples) SparseRow(i int) (columns []int32, values []float32) {
	from, to := e.Starts[i], e.Starts[i+1]
	return e.Columns[from:to:to], e.Values[from:to:to]
}

// Entries returns the stored values of example i, sharing memory, and their columns: nil if these
// are 0 … D-1.
func (e Examples) Entries(i int) (columns []int32, values []float32) {
	if !e.Sparse() {
		return nil, e.Row(i)
	}
	return e.SparseRow(i)
}

// DenseRow returns the features of example i: its row, or buffer, of D values, filled with them.
func (e Examples) DenseRow(buffer []float32, i int) []float32 {
	if !e.Sparse() {
		return e.Row(i)
	}
	clear(buffer)
	columns, values := e.SparseRow(i)
	for k, j := range columns {
		buffer[j] = values[k]
	}
	return buffer
}

// AppendStored appends the columns and values of example i of e that are not +0.
func AppendStored(columns []int32, values []float32, e Examples, i int) ([]int32, []float32) {
	at, row := e.Entries(i)
	for k, v := range row {
		if isPlusZero(v) {
			continue
		}
		if at != nil {
			k = int(at[k])
		}
		columns, values = append(columns, int32(k)), append(values, v)
	}
	return columns, values
}

// Part returns examples from..to-1 of e, sharing all but the Starts of sparse ones.
func (e Examples) Part(from, to int) Examples {
	if from == 0 && to == e.N {
		return e
	}
	p := Examples{N: to - from, D: e.D}
	if !e.Sparse() {
		p.X = e.X[from*e.D : to*e.D : to*e.D]
		return p
	}
	first, last := e.Starts[from], e.Starts[to]
	p.Columns, p.Values = e.Columns[first:last:last], e.Values[first:last:last]
	for _, start := range e.Starts[from : to+1] {
		p.Starts = append(p.Starts, start-first)
	}
	return p
}

// Pick returns the examples of e that which names, in that order, sharing nothing with it.
func (e Examples) Pick(which []int) Examples {
	const grain = 1 << 16 // values that it is worth a processor to copy
	p := Examples{N: len(which), D: e.D}
	if e.Sparse() {
		p.Starts = make([]int64, 1, p.N+1)
		for k, i := range which {
			p.Starts = append(p.Starts, p.Starts[k]+e.Starts[i+1]-e.Starts[i])
		}
		p.Columns, p.Values = make([]int32, p.Starts[p.N]), make([]float32, p.Starts[p.N])
	} else {
		p.X = make([]float32, p.N*p.D, p.N*(p.D+1)) // with room for a bias, where it is prepared
	}
	parallel.Ranges(p.N, 1+grain/max(1, p.Size()/max(1, p.N)), func(from, to int) {
		for k, i := range which[from:to] {
			columns, values := e.Entries(i)
			columnsOut, valuesOut := p.Entries(from + k)
			copy(columnsOut, columns)
			copy(valuesOut, values)
		}
	})
	return p
}

// Copy is Pick, or an error if memory does not hold the copy.
func (e Examples) Copy(which []int) (Examples, error) {
	values := len(which) * e.D
	if e.Sparse() {
		values = len(which)
		for _, i := range which {
			values += 2 * int(e.Starts[i+1]-e.Starts[i])
		}
	}
	what := fmt.Sprintf("a copy of %d of %d examples", len(which), e.N)
	if err := memory.Check(memory.Product(values, 4), what); err != nil {
		return Examples{}, err
	}
	return e.Pick(which), nil
}

// Size returns the number of values in memory: N·D if dense.
func (e Examples) Size() int {
	if e.Sparse() {
		return len(e.Values)
	}
	return len(e.X)
}

// Check returns an error unless the slices have the promised sizes and order.
func (e Examples) Check() error {
	if e.N < 0 || e.D < 0 || (e.D > 0 && e.N > math.MaxInt/e.D) {
		return fmt.Errorf("dataset: examples of shape %d×%d are negative or beyond the address space",
			e.N, e.D)
	}
	if !e.Sparse() {
		if len(e.X) != e.N*e.D || e.Columns != nil || e.Values != nil {
			return fmt.Errorf("dataset: dense examples of shape %d×%d hold %d values, wanted their product",
				e.N, e.D, len(e.X))
		}
		return nil
	}
	if e.X != nil || len(e.Starts) != e.N+1 || len(e.Columns) != len(e.Values) || e.Starts[0] != 0 ||
		e.Starts[e.N] != int64(len(e.Values)) {
		return fmt.Errorf("dataset: %d sparse examples have %d row starts, %d columns and %d values, "+
			"wanted one start more than examples, the last the number of values",
			e.N, len(e.Starts), len(e.Columns), len(e.Values))
	}
	for i := range e.N {
		if e.Starts[i] > e.Starts[i+1] || e.Starts[i+1] > int64(len(e.Values)) {
			return fmt.Errorf("dataset: sparse example %d ends at %d, before it begins or beyond the %d "+
				"values", i, e.Starts[i+1], len(e.Values))
		}
		last := int32(-1)
		for _, j := range e.Columns[e.Starts[i]:e.Starts[i+1]] {
			if j <= last || int(j) >= e.D {
				return fmt.Errorf("dataset: sparse example %d has column %d after %d, wanted increasing "+
					"columns below %d", i, j, last, e.D)
			}
			last = j
		}
	}
	return nil
}

// Dense returns e in dense form: itself, or a copy.
func (e Examples) Dense() Examples {
	if !e.Sparse() {
		return e
	}
	x := make([]float32, e.N*e.D)
	for i := range e.N {
		e.DenseRow(x[i*e.D:(i+1)*e.D], i)
	}
	return Examples{N: e.N, D: e.D, X: x}
}

// Compressed returns e in sparse form: itself, or a copy without values of +0.
func (e Examples) Compressed() Examples {
	if e.Sparse() {
		return e
	}
	s := Examples{N: e.N, D: e.D, Starts: make([]int64, 1, e.N+1), Columns: []int32{},
		Values: []float32{}}
	for i := range e.N {
		s.Columns, s.Values = AppendStored(s.Columns, s.Values, e, i)
		s.Starts = append(s.Starts, int64(len(s.Values)))
	}
	return s
}
