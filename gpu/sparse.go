//go:build cgo && !noopencl

package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// sparseTile is a tile of sparse examples in the lay-out that kernels/sparse.cl
// describes.
type sparseTile struct {
	order   []int32 // order[r] is the example, counted from the tile's first, in row r
	columns *buffer[int32]
	values  *buffer[float32]
	slices  *buffer[int32]
	lengths *buffer[int32]
}

func (s *sparseTile) free() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.columns.free(), s.values.free(), s.slices.free(), s.lengths.free())
}

// fitSparse returns how many of the next rows examples fit into one tile. Sorted
// by length, padding a slice costs at most what the slice before it is longer, so
// all padding together is below lanes times the longest example.
func (e *gpuEngine) fitSparse(x dataset.Examples, from, rows int) (int, error) {
	limit := min(e.maxAlloc/4, 1<<30)
	stored, longest := int64(0), int64(0)
	for i := range rows {
		length := x.Starts[from+i+1] - x.Starts[from+i]
		stored, longest = stored+length, max(longest, length)
		if stored+lanes*longest > limit {
			if i == 0 {
				return 0, fmt.Errorf("%w: example %d has %d stored values, which take up to %d bytes, one allocation may have %d", engine.ErrMemory, from, length, 4*(lanes+1)*length, e.maxAlloc)
			}
			return i, nil
		}
	}
	return rows, nil
}

// loadSparse sorts, slices and uploads a tile. What it has allocated is in the
// result also when it fails.
func loadSparse(e *gpuEngine, x dataset.Examples, from, rows int) (*sparseTile, error) {
	s := &sparseTile{order: make([]int32, rows)}
	length := func(i int32) int { return int(x.Starts[from+int(i)+1] - x.Starts[from+int(i)]) }
	for i := range s.order {
		s.order[i] = int32(i)
	}
	slices.SortStableFunc(s.order, func(a, b int32) int { return cmp.Compare(length(b), length(a)) })

	lengths := make([]int32, rows)
	starts := make([]int32, (rows+lanes-1)/lanes)
	total := 0 // in units of lanes
	for r, i := range s.order {
		lengths[r] = int32(length(i))
		if r%lanes == 0 {
			starts[r/lanes] = int32(total)
			total += length(i) // the longest of its slice
		}
	}
	columns, values := make([]int32, total*lanes), make([]float32, total*lanes)
	for r, i := range s.order {
		at := int(starts[r/lanes])*lanes + r%lanes
		c, v := x.SparseRow(from + int(i))
		for k := range c {
			columns[at+k*lanes], values[at+k*lanes] = c[k], v[k]
		}
	}
	var err error
	if s.columns, err = upload(e.q, "columns", columns); err != nil {
		return s, err
	}
	if s.values, err = upload(e.q, "values", values); err != nil {
		return s, err
	}
	if s.slices, err = upload(e.q, "slices", starts); err != nil {
		return s, err
	}
	s.lengths, err = upload(e.q, "row lengths", lengths)
	return s, err
}

// upload allocates a buffer for v and writes v to it.
func upload[T element](q *queue, name string, v []T) (*buffer[T], error) {
	b, err := alloc[T](q, name, len(v))
	if err != nil {
		return nil, err
	}
	return b, b.write(0, v)
}
