//go:build linux && cgo && !noopencl

package gpu

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// tile is a range of consecutive examples that fits into single buffers, in the
// lay-out that kernels/contract.cl or, for sparse examples, kernels/sparse.cl
// describes.
type tile struct {
	from, rows int
	stride     int // rows rounded up to a multiple of lanes

	dense  part[float32] // the values of dense examples, row by row
	sparse *sparseTile   // nil for dense examples

	scores *buffer[float32]
	place  *buffer[int32] // nil without labels

	targets *buffer[float32] // of an evaluator, as scores lie
	weight  *buffer[float32] // of its examples, in the order of the scores
}

// part is a large array of a tile: on the device, or in host memory from where it is streamed.
type part[T element] struct {
	dev  *buffer[T] // nil if streamed
	host []T        // nil if on the device
}

// arrays are the examples of a tile where a kernel can read them: dense ones, or the others.
type arrays struct {
	dense *buffer[float32]

	sparseRows

	examples *buffer[int32] // see columnTile
	byColumn *buffer[float32]
}

// arrays are the examples as they lie on the device.
func (t *tile) arrays() arrays {
	s := t.sparse
	if s == nil {
		return arrays{dense: t.dense.dev}
	}
	return arrays{sparseRows: sparseRows{s.columns.dev, s.values.dev, s.slices, s.lengths},
		examples: s.byColumn.examples.dev, byColumn: s.byColumn.values.dev}
}

// example returns which example is in row r of the tile's scores and places.
func (t *tile) example(r int) int {
	if t.sparse != nil {
		r = int(t.sparse.order[r])
	}
	return t.from + r
}

// streamed says whether the examples have to be brought to the device for each use.
func (t *tile) streamed() bool {
	if t.sparse != nil {
		return t.sparse.values.dev == nil
	}
	return t.dense.dev == nil
}

// bytes is what the tile's examples take.
func (t *tile) bytes(d int) int64 {
	if t.sparse != nil {
		return 8 * int64(t.sparse.padded+t.sparse.byColumn.stored())
	}
	return 4 * int64(t.rows) * int64(d)
}

// fit returns how many groups of count things of size bytes fit into limit bytes.
func fit(what string, count, size int, limit int64) (int, error) {
	n := limit / (int64(count) * int64(size))
	if n < 1 {
		return 0, fmt.Errorf("%w: %s takes %d bytes, one allocation may have %d",
			engine.ErrMemory, what, int64(count)*int64(size), limit)
	}
	return int(n), nil
}

// cutTiles divides examples into tiles, without their buffers: as large as one
// allocation may be, or small ones where not all will find room and some have to
// be streamed. Those of an evaluator begin at multiples of a block.
func cutTiles(e *deviceEngine, x dataset.Examples, classes int, use engine.Use,
) (tiles []*tile, err error) {
	limit := e.maxAlloc
	room, need := e.q.memory-e.q.inUse, 5*int64(x.Size())+8*int64(x.N)*int64(classes)
	if use == engine.UseEvaluator {
		need += 8 * int64(x.N) * int64(classes)
		if x.Sparse() {
			need += 8 * int64(x.Size())
		}
	}
	if need > room || e.build.stream {
		limit = min(limit, max(room/16, 1<<16))
	}
	// Lines of scores, or triples of moved examples.
	most, err := fit("an example", 1, 4*max(classes, 3), e.maxAlloc)
	if err == nil && most <= lanes {
		_, err = fit("a line of scores for each class", lanes+1, 4*classes, e.maxAlloc)
	}
	if err != nil {
		return nil, err
	}
	most = min(most-lanes, 1<<29)
	wanted := most // that a tile should have, and most that it may
	if !x.Sparse() {
		can, err := fit("an example", x.D, 4, e.maxAlloc)
		if err != nil {
			return nil, err
		}
		most = min(most, can)
		wanted = min(most, max(1, int(limit/(4*int64(x.D)))))
	}
	for from := 0; from < x.N; {
		t := &tile{from: from, rows: min(wanted, x.N-from)}
		if x.Sparse() {
			if t.rows, err = fitSparse(x, from, t.rows, limit, e.maxAlloc); err != nil {
				return nil, err
			}
		}
		if use == engine.UseEvaluator {
			if err := t.endAtBlock(x, most, e.maxAlloc); err != nil {
				return nil, err
			}
		}
		if x.Sparse() {
			t.sparse = layOut(x, from, t.rows)
			if use == engine.UseEvaluator {
				t.sparse.byColumn = layOutColumns(x, from, t.rows, e.ranges(x.D, classes, x.N))
			}
		}
		t.stride = (t.rows + lanes - 1) / lanes * lanes
		tiles = append(tiles, t)
		from += t.rows
	}
	return tiles, nil
}

// endAtBlock makes a tile end where a block of weighted sums does (clause 14), one block later
// than it begins at least. most and bytes limit its rows and the size of one array.
func (t *tile) endAtBlock(x dataset.Examples, most int, bytes int64) error {
	left := x.N - t.from
	if t.rows == left {
		return nil
	}
	if t.rows >= numerics.Block {
		t.rows = t.rows / numerics.Block * numerics.Block
		return nil
	}
	t.rows = min(numerics.Block, left)
	if t.rows > most || x.Sparse() && 4*int64(layOut(x, t.from, t.rows).padded) > bytes {
		return fmt.Errorf("%w: weighted sums want %d examples of %d features and their scores in one "+
			"piece, which do not fit into one allocation of %d bytes", engine.ErrMemory, t.rows, x.D, bytes)
	}
	return nil
}

// columnTile is the second copy that a tile of sparse examples has for weighted sums: by columns
// (see kernels/weightedsparse.cl).
type columnTile struct {
	starts   []int32     // where each column begins, and where the last ends; nil if there is no copy
	cuts     []int32     // the segments, by column
	examples part[int32] // of each value, counted from the tile's first
	values   part[float32]

	segments *buffer[int32] // cuts
	order    *buffer[int32] // which example is in row r of the scores
}

// stored is the number of values.
func (c *columnTile) stored() int {
	if c.starts == nil {
		return 0
	}
	return int(c.starts[len(c.starts)-1])
}

// short is the number of values that are not worth cutting a column for.
const short = 4 * numerics.Block

// layOutColumns finds where the columns of some examples begin, and cuts long ones where the
// ranges begin, which are equal shares of the blocks. The first segment of a column counts for
// range 0 whatever examples it has, and so do all of a short one.
func layOutColumns(x dataset.Examples, from, rows, ranges int) columnTile {
	c := columnTile{starts: make([]int32, x.D+1)}
	for _, j := range x.Columns[x.Starts[from]:x.Starts[from+rows]] {
		c.starts[j+1]++
	}
	for j := range x.D {
		c.starts[j+1] += c.starts[j]
	}
	blocks := (rows + numerics.Block - 1) / numerics.Block
	share := (blocks + ranges - 1) / ranges * numerics.Block // examples of a range
	type cut struct{ column, from, of int32 }
	var cuts []cut
	next, last := slices.Clone(c.starts), make([]int, x.D)
	for i := range rows {
		columns, _ := x.SparseRow(from + i)
		for _, j := range columns {
			first := next[j] == c.starts[j]
			if first || i/share != last[j] && c.starts[j+1]-c.starts[j] > short {
				of := int32(i / share)
				if first {
					of = 0
				}
				cuts = append(cuts, cut{j, next[j], of})
				last[j] = i / share
			}
			next[j]++
		}
	}
	slices.SortFunc(cuts, func(a, b cut) int { return int(a.from) - int(b.from) })
	for k, v := range cuts {
		to := c.starts[v.column+1]
		if k+1 < len(cuts) && cuts[k+1].column == v.column {
			to = cuts[k+1].from
		}
		c.cuts = append(c.cuts, v.column, v.from, to, v.of)
	}
	return c
}

// layByColumn writes what of returns for each value of an example, column by column.
func layByColumn[T element](t *tile, x dataset.Examples, of func(i int, v float32) T) func([]T) {
	return func(dst []T) {
		next := slices.Clone(t.sparse.byColumn.starts)
		for i := range t.rows {
			columns, values := x.SparseRow(t.from + i)
			for k, j := range columns {
				dst[next[j]] = of(i, values[k])
				next[j]++
			}
		}
	}
}
