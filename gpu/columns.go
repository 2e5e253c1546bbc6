//go:build cgo && !noopencl

package gpu

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

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
