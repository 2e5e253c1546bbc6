package umagpu

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// learn enters the numbers in set, and what a model keeps of its columns.
func (m *Matrix) learn(ctx context.Context, set *dataset.Dataset) error {
	if m.Starts != nil {
		return m.sparse(set)
	}
	if m.gaps() {
		return m.table().learn(ctx, set)
	}
	var spans []features.Span
	if m.Float64 != nil {
		spans = features.SpansOf(m.Columns)
		watched := lists.UpTo[int](m.Columns)
		for row := range slices.Chunk(m.Float64, m.Columns) {
			watched = slices.DeleteFunc(watched, func(j int) bool { return !spans[j].Add(row[j]) })
		}
	}
	origins := features.Origins(spans)
	describe := func(j int) string { return dataset.ColumnText(j+1, m.name(j)) }
	set.Notes = append(set.Notes, features.OriginNotes(spans, origins, describe)...)
	var known *dataset.Encoding
	if origins != nil {
		known = features.Plain(m.Names, origins, nil)
	}
	if err := m.fill(set, nil, known); err != nil {
		return err
	}
	if set.Features = m.Names; m.Names != nil || origins != nil {
		set.Encoding = features.Plain(m.Names, origins, features.Means(set.Examples))
	}
	store(&set.Examples)
	return nil
}

// store changes the form of examples to the one that a file of them is read in.
func store(e *dataset.Examples) {
	stored := len(e.Values) + lists.Count(e.X, func(v float32) bool {
		return math.Float32bits(v) != 0
	})
	if features.SparseIsBetter(stored, e.N, e.D) {
		*e = e.Compressed()
	} else {
		*e = e.Dense()
	}
}

// encode enters the features that known makes of the numbers in set, or the numbers that are count
// features already.
func (m *Matrix) encode(ctx context.Context, set *dataset.Dataset, known *dataset.Encoding,
	count int) error {
	if m.Columns == count && len(known.Columns) != count && m.Starts == nil {
		return m.fill(set, nil, nil)
	}
	if m.Starts == nil && (!known.Plain() || known.Missing == dataset.MissingMean && m.gaps()) {
		return m.table().encode(ctx, set, known)
	}
	at, err := order(set, m.Names, m.Columns, known)
	if err != nil {
		return err
	}
	same := slices.Equal(at, lists.UpTo[int](m.Columns))
	if same {
		at = nil
	}
	switch {
	case m.Starts != nil && known.Plain() && known.Origins() == nil: // zeros stay zeros
		if err := m.sparse(set); err != nil || same {
			return err
		}
		if err := set.MatchFeatures(known.ColumnNames()); err != nil {
			return &Fault{Kind: Unfit, Option: "data", Cause: err}
		}
		return nil
	case m.Starts != nil:
		dense, err := m.dense()
		if err != nil {
			return err
		}
		return dense.encode(ctx, set, known, count)
	}
	return m.fill(set, at, known)
}

// gaps reports whether numbers are missing.
func (m *Matrix) gaps() bool {
	return slices.ContainsFunc(m.Float64, func(v float64) bool { return v != v }) ||
		slices.ContainsFunc(m.Float32, func(v float32) bool { return v != v })
}

// table returns the columns of a dense matrix.
func (m *Matrix) table() *Table {
	t := &Table{Columns: make([]Column, m.Columns)}
	for j := range t.Columns {
		t.Columns[j] = NewNumbers(m.name(j), make([]float64, m.Rows))
		for i := range m.Rows {
			t.Columns[j].Numbers[i] = m.value(i*m.Columns + j)
		}
	}
	return t
}

// dense returns a dense copy of a sparse matrix.
func (m *Matrix) dense() (*Matrix, error) {
	what := fmt.Sprintf("a dense copy of %d examples × %d features", m.Rows, m.Columns)
	if err := memory.Check(memory.Product(m.Rows, m.Columns, 8), what); err != nil {
		return nil, err
	}
	x := make([]float64, m.Rows*m.Columns)
	for i := range m.Rows {
		for k := m.Starts[i]; k < m.Starts[i+1]; k++ {
			x[i*m.Columns+int(m.Indices[k])] = m.value(int(k))
		}
	}
	return &Matrix{Rows: m.Rows, Columns: m.Columns, Names: m.Names, Float64: x}, nil
}

// value returns element i of the numbers.
func (m *Matrix) value(i int) float64 {
	switch {
	case m.Float64 != nil:
		return m.Float64[i]
	case m.Float32 != nil:
		return float64(m.Float32[i])
	}
	return float64(m.Uint8[i])
}

func (m *Matrix) name(j int) string {
	if m.Names == nil {
		return ""
	}
	return m.Names[j]
}

// fill enters the numbers of a dense matrix in set: of the columns at, nil for all, behind the
// origins of known, a plain encoding or nil.
func (m *Matrix) fill(set *dataset.Dataset, at []int, known *dataset.Encoding) error {
	origins := known.Origins()
	if at == nil && origins == nil && m.Float32 != nil && !slices.ContainsFunc(m.Float32, odd) {
		set.Examples = dataset.Examples{N: m.Rows, D: m.Columns, X: m.Float32}
		set.Features, set.Encoding = m.Names, known
		return nil
	}
	width := m.Columns
	if at != nil {
		width = len(at)
	}
	x := make([]float32, m.Rows*width)
	rows := m.Rows
	if at == nil && origins == nil && (narrowed(x, m.Float64) || narrowed(x, m.Float32) ||
		narrowed(x, m.Uint8)) {
		rows = 0 // are left
	}
	for i := range rows {
		for k := range width {
			j := k
			if at != nil {
				j = at[k]
			}
			v := m.value(i*m.Columns + j)
			origin := 0.0
			if origins != nil {
				origin = origins[k]
			}
			f := features.Rounded(v, origin)
			if odd(f) {
				return m.fault(i, j, v)
			}
			x[i*width+k] = f
		}
	}
	set.Examples = dataset.Examples{N: m.Rows, D: width, X: x}
	if set.Features, set.Encoding = m.Names, known; known != nil {
		set.Features = known.FeatureNames()
	}
	return nil
}

// odd reports whether no engine computes with v: it is not finite, or subnormal.
func odd(v float32) bool {
	bits := math.Float32bits(v) & 0x7fffffff
	return bits >= 0x7f800000 || bits != 0 && bits < 0x00800000
}

// fault is what is wrong with a number that is not finite.
func (m *Matrix) fault(row, column int, v float64) error {
	where := fmt.Sprintf("column %d", column)
	if m.Names != nil {
		where = "column " + strconv.Quote(m.Names[column])
	}
	return &Fault{Kind: Invalid, Option: "data", Row: &row, Where: where, Got: fmt.Sprint(v),
		Want: "a finite number within the range of float32"}
}

// sparse enters a sparse matrix in set.
func (m *Matrix) sparse(set *dataset.Dataset) error {
	x := m.Float32
	if x == nil || slices.ContainsFunc(x, odd) {
		x = make([]float32, len(m.Indices))
		for i := range x {
			v := m.value(i)
			if x[i] = features.Rounded(v, 0); odd(x[i]) {
				row, _ := slices.BinarySearch(m.Starts[1:], int64(i+1))
				return m.fault(row, int(m.Indices[i]), v)
			}
		}
	}
	set.Features = m.Names
	set.Examples = dataset.Examples{N: m.Rows, D: m.Columns, Starts: m.Starts, Columns: m.Indices,
		Values: x}
	if err := set.Examples.Check(); err != nil {
		return &Fault{Kind: Invalid, Option: "data", Cause: err}
	}
	store(&set.Examples)
	return nil
}
