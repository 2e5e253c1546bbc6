//go:build cgo && !noopencl

package gpu

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// sparseTile is the stored values of a tile of sparse examples, in the lay-out of
// kernels/sparse.cl.
type sparseTile struct {
	order   []int32 // order[r] is the example, counted from the tile's first, in row r
	starts  []int32 // where each slice begins, in units of lanes
	stored  []int32 // stored values of row r
	padded  int     // places in columns and in values
	columns part[int32]
	values  part[float32]
	slices  *buffer[int32] // starts
	lengths *buffer[int32] // stored

	byColumn columnTile // empty but for evaluators
}

// fitSparse returns how many of the next rows examples fit into a tile of limit
// bytes in each of columns and values; the first may take up to most. Sorted by
// length, padding a slice costs at most what the slice before it is longer, so
// all padding together is below lanes times the longest example.
func fitSparse(x dataset.Examples, from, rows int, limit, most int64) (int, error) {
	limit = min(limit/4, 1<<30)
	stored, longest := int64(0), int64(0)
	for i := range rows {
		length := x.Starts[from+i+1] - x.Starts[from+i]
		stored, longest = stored+length, max(longest, length)
		switch bytes := 4 * (lanes + 1) * length; {
		case stored+lanes*longest <= limit:
		case i > 0:
			return i, nil
		case bytes > most:
			return 0, fmt.Errorf("%w: example %d has %d stored values, which take up to %d bytes, one "+
				"allocation may have %d", engine.ErrMemory, from, length, bytes, most)
		default:
			return 1, nil
		}
	}
	return rows, nil
}

// layOut sorts the examples of a tile and slices them.
func layOut(x dataset.Examples, from, rows int) *sparseTile {
	s := &sparseTile{order: make([]int32, rows)}
	length := func(i int32) int32 { return int32(x.Starts[from+int(i)+1] - x.Starts[from+int(i)]) }
	for i := range s.order {
		s.order[i] = int32(i)
	}
	slices.SortStableFunc(s.order, func(a, b int32) int { return cmp.Compare(length(b), length(a)) })
	s.stored = make([]int32, rows)
	for r, i := range s.order {
		s.stored[r] = length(i)
	}
	s.starts, s.padded = slice(s.stored)
	return s
}

// slice returns where the slices of rows of these falling lengths begin, in units
// of lanes, and how many values all of them take.
func slice(lengths []int32) (starts []int32, padded int) {
	total := int32(0)
	for r := 0; r < len(lengths); r += lanes {
		starts = append(starts, total)
		total += lengths[r] // the longest of its slice
	}
	return starts, int(total) * lanes
}

// place is where value k of row r lies.
func place(starts []int32, r, k int) int { return (int(starts[r/lanes])+k)*lanes + r%lanes }

// lay writes what of returns of each example, its columns or values, in device lay-out.
func lay[T element](t *tile, of func(i int) []T) func(dst []T) {
	return func(dst []T) {
		for r := range t.rows {
			for k, v := range of(t.example(r)) {
				dst[place(t.sparse.starts, r, k)] = v
			}
		}
	}
}

// columnsOf and valuesOf return those of a sparse example.
func columnsOf(x dataset.Examples) func(i int) []int32 {
	return func(i int) []int32 { columns, _ := x.SparseRow(i); return columns }
}

func valuesOf(x dataset.Examples) func(i int) []float32 {
	return func(i int) []float32 { _, values := x.SparseRow(i); return values }
}
