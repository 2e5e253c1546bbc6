package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Examples are n feature vectors of d columns in float32, dense or sparse.
//
// Dense: the value of example i in column j is X[i*D+j], and Starts is nil.
// Sparse, in compressed rows (CSR): the stored values of example i are
// Values[Starts[i]:Starts[i+1]], in the columns of the same range of Columns,
// which increase within a row; what is not stored is +0, and X is nil.
//
// Whoever holds an Examples shares its slices; no function of this project
// writes to examples it was handed.
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

// SparseRow returns the stored columns and values of example i of sparse
// examples, sharing memory.
func (e Examples) SparseRow(i int) (columns []int32, values []float32) {
	from, to := e.Starts[i], e.Starts[i+1]
	return e.Columns[from:to:to], e.Values[from:to:to]
}

// DenseRow returns the features of example i in dense form: its row if e is
// dense, else buffer, of D values, filled with them.
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

// Part returns examples from..to-1 of e, sharing all but the Starts of sparse ones.
func (e Examples) Part(from, to int) Examples {
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
	p := Examples{N: len(which), D: e.D}
	if !e.Sparse() {
		p.X = make([]float32, p.N*p.D)
		e.pickInto(p, which)
		return p
	}
	p.Starts = make([]int64, 1, p.N+1)
	for k, i := range which {
		p.Starts = append(p.Starts, p.Starts[k]+e.Starts[i+1]-e.Starts[i])
	}
	p.Columns, p.Values = make([]int32, p.Starts[p.N]), make([]float32, p.Starts[p.N])
	parallel.Ranges(p.N, 1+pickGrain/max(1, len(p.Values)/max(1, p.N)), func(from, to int) {
		for k, i := range which[from:to] {
			columns, values := e.SparseRow(i)
			copy(p.Columns[p.Starts[from+k]:], columns)
			copy(p.Values[p.Starts[from+k]:], values)
		}
	})
	return p
}

// pickGrain is how many values it is worth a processor to copy.
const pickGrain = 1 << 16

// pickInto copies the dense examples that which names to p, and lets go of those of a mapped file
// if they are copied in their order.
func (e Examples) pickInto(p Examples, which []int) {
	sorted := slices.IsSorted(which)
	parallel.Ranges(p.N, 1+pickGrain/max(1, p.D), func(from, to int) {
		if from == to {
			return
		}
		read := store.Once(e.X, which[from]*e.D, false)
		for k, i := range which[from:to] {
			if sorted {
				read.UpTo(i * e.D)
			}
			copy(p.Row(from+k), e.Row(i))
		}
	})
}

// Pages returns the values of dense examples as pages, which may lie in a file.
func (e Examples) Pages() store.Pages { return store.Pages{X: e.X, D: e.D} }

// Size returns the number of values in memory: N·D if dense.
func (e Examples) Size() int {
	if e.Sparse() {
		return len(e.Values)
	}
	return len(e.X)
}

// Check returns an error unless the parts of e have the sizes and order that the
// type promises. It does not look at the values.
func (e Examples) Check() error { return e.check(0, e.N) }

// check is Check, which looks at examples from..to-1.
func (e Examples) check(from, to int) error {
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
		if i < from || i >= to {
			continue
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

// Dense returns e in dense form: e itself if it is dense, else a copy of N·D
// values.
func (e Examples) Dense() Examples {
	if !e.Sparse() {
		return e
	}
	x := make([]float32, e.N*e.D)
	for i := range e.N {
		columns, values := e.SparseRow(i)
		for k, j := range columns {
			x[i*e.D+int(j)] = values[k]
		}
	}
	return Examples{N: e.N, D: e.D, X: x}
}

// Compressed returns e in sparse form: e itself if it is sparse, else a copy of
// the values whose bits are not those of +0.
func (e Examples) Compressed() Examples {
	if e.Sparse() {
		return e
	}
	s := Examples{N: e.N, D: e.D, Starts: make([]int64, 1, e.N+1), Columns: []int32{},
		Values: []float32{}}
	for i := range e.N {
		for j, v := range e.Row(i) {
			if math.Float32bits(v) != 0 {
				s.Columns, s.Values = append(s.Columns, int32(j)), append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, int64(len(s.Values)))
	}
	return s
}

// Join returns the examples of e and then those of other, sharing nothing with either.
// Examples of different widths, or of which some are sparse and some dense, are an
// error.
func (e Examples) Join(other Examples) (Examples, error) {
	if e.D != other.D || e.Sparse() != other.Sparse() {
		return Examples{}, fmt.Errorf("joining examples: found %d features (sparse %v) and %d (sparse "+
			"%v), wanted the same", e.D, e.Sparse(), other.D, other.Sparse())
	}
	j := Examples{N: e.N + other.N, D: e.D}
	if !e.Sparse() {
		j.X = append(append(make([]float32, 0, j.N*j.D), e.X[:e.N*e.D]...), other.X[:other.N*other.D]...)
		return j, nil
	}
	stored := e.Starts[e.N]
	j.Columns = append(append([]int32{}, e.Columns[:stored]...), other.Columns...)
	j.Values = append(append([]float32{}, e.Values[:stored]...), other.Values...)
	j.Starts = append(make([]int64, 0, j.N+1), e.Starts...)
	for _, start := range other.Starts[1:] {
		j.Starts = append(j.Starts, stored+start)
	}
	return j, nil
}
