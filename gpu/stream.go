//go:build linux && cgo && !noopencl

package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// loadExamples brings the examples to the device as far as there is room. The rest stays in host
// memory and is streamed through a slot.
func loadExamples(r *resident) {
	o, need := &r.own, int64(0)
	for _, t := range r.tiles {
		need += t.bytes(r.d)
		if s := t.sparse; s != nil {
			s.slices = upload(o, "slices", s.starts)
			s.lengths = upload(o, "row lengths", s.stored)
			if c := &s.byColumn; c.starts != nil {
				c.segments = upload(o, "segments of columns", c.cuts)
				c.order = upload(o, "order of rows", s.order)
			}
		}
	}
	stream := r.e.build.stream || need > r.e.q.memory-r.e.q.inUse
	if stream {
		r.slot = newSlot(r)
	}
	for _, t := range r.tiles {
		aside := stream && (r.e.build.stream || t.bytes(r.d) > r.e.q.memory-r.e.q.inUse)
		dense := r.x.X
		switch {
		case t.sparse != nil:
			loadSparse(r, t, aside)
		case aside:
			t.dense.host = dense[t.from*r.d : (t.from+t.rows)*r.d]
		default:
			t.dense.dev = upload(o, "examples", dense[t.from*r.d:(t.from+t.rows)*r.d])
		}
	}
}

// loadSparse lays sparse examples out, whose order on the device is another.
func loadSparse(r *resident, t *tile, aside bool) {
	s, x := t.sparse, r.x
	bring(r, &s.columns, aside, s.padded, lay(t, columnsOf(x)))
	bring(r, &s.values, aside, s.padded, lay(t, valuesOf(x)))
	if c := &s.byColumn; c.starts != nil {
		bring(r, &c.examples, aside, c.stored(),
			layByColumn(t, x, func(i int, _ float32) int32 { return int32(i) }))
		bring(r, &c.values, aside, c.stored(),
			layByColumn(t, x, func(_ int, v float32) float32 { return v }))
	}
}

// bring has n values that fill writes on the device, or aside in host memory.
func bring[T element](r *resident, p *part[T], aside bool, n int, fill func([]T)) {
	const name = "examples"
	if r.own.err != nil {
		return
	}
	v := make([]T, n)
	if fill(v); aside {
		p.host = v
	} else {
		p.dev = upload(&r.own, name, v)
	}
}

// newSlot makes room on the device for the largest tile.
func newSlot(r *resident) (s arrays) {
	const name = "slot"
	o := &r.own
	if !r.x.Sparse() {
		s.dense = alloc[float32](o, name, r.mostRows*r.d)
		return s
	}
	padded, stored := 0, 0
	for _, t := range r.tiles {
		padded, stored = max(padded, t.sparse.padded), max(stored, t.sparse.byColumn.stored())
	}
	s.Values, s.Columns = alloc[float32](o, name, padded), alloc[int32](o, name, padded)
	if r.sumBuffers != nil {
		s.byColumn, s.examples = alloc[float32](o, name, stored), alloc[int32](o, name, stored)
	}
	return s
}

// onDevice calls f with the examples of a tile where a kernel can read them; f
// enqueues kernels.
func (r *resident) onDevice(t *tile, f func(arrays) error) error {
	if !t.streamed() {
		return f(t.arrays())
	}
	s, x := r.slot, t.sparse
	err := error(nil)
	if x == nil {
		err = s.dense.write(0, t.dense.host)
	} else {
		s.Slices, s.Lengths = x.slices, x.lengths
		err = errors.Join(s.Columns.write(0, x.columns.host), s.Values.write(0, x.values.host),
			s.byColumn.write(0, x.byColumn.values.host), s.examples.write(0, x.byColumn.examples.host))
	}
	if err != nil {
		return err
	}
	return f(s)
}

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

// columnsOf and valuesOf return the columns and values of a sparse example.
func columnsOf(x dataset.Examples) func(i int) []int32 {
	return func(i int) []int32 { columns, _ := x.SparseRow(i); return columns }
}

func valuesOf(x dataset.Examples) func(i int) []float32 {
	return func(i int) []float32 { _, values := x.SparseRow(i); return values }
}
