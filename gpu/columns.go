//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// columnTile is the second copy that a tile of sparse examples has for weighted sums: by columns
// (see kernels/weightedsparse.cl).
type columnTile struct {
	starts   []int32     // where each column begins, and where the last ends
	cuts     []int32     // the segments, by column
	examples part[int32] // of each value, counted from the tile's first
	values   part[float32]

	segments *buffer[int32] // cuts
	order    *buffer[int32] // which example is in row r of the scores
}

// stored is the number of values; 0 for nil.
func (c *columnTile) stored() int {
	if c == nil {
		return 0
	}
	return int(c.starts[len(c.starts)-1])
}

func (c *columnTile) free() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.examples.free(), c.values.free(), c.segments.free(), c.order.free())
}

// short is the number of values that are not worth cutting a column for.
const short = 4 * numerics.Block

// layOutColumns finds where the columns of some examples begin, and cuts long ones where the
// ranges begin: range u has the u-th of so many equal shares of the blocks. The first segment of a
// column counts for range 0 whatever examples it has, and so do all of a short one.
func layOutColumns(x dataset.Examples, from, rows, ranges int) *columnTile {
	c := &columnTile{starts: make([]int32, x.D+1)}
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

// fill writes the values of a tile column by column.
func (c *columnTile) fill(x dataset.Examples, t *tile, examples []int32, values []float32) {
	next := slices.Clone(c.starts)
	for i := range t.rows {
		columns, v := x.SparseRow(t.from + i)
		for k, j := range columns {
			examples[next[j]], values[next[j]] = int32(i), v[k]
			next[j]++
		}
	}
}

// load brings the segments to the device, and fills the copy there or aside in host memory.
func (c *columnTile) load(r *resident, t *tile, aside bool) (err error) {
	q, n := r.e.q, c.stored()
	if !aside {
		examples, values := make([]int32, n), make([]float32, n)
		c.fill(r.x.Examples, t, examples, values)
		if c.examples.dev, err = upload(q, "examples by column", examples); err != nil {
			return err
		}
		c.values.dev, err = upload(q, "values by column", values)
		return err
	}
	c.examples.owned, c.values.owned = true, true
	if c.examples.host, err = newHost[int32](n); err != nil {
		return err
	}
	if c.values.host, err = newHost[float32](n); err != nil {
		return err
	}
	c.fill(r.x.Examples, t, c.examples.host, c.values.host)
	if !r.e.shares {
		return nil
	}
	if c.examples.dev, err = share(q, "examples by column", c.examples.host); err != nil {
		return err
	}
	c.values.dev, err = share(q, "values by column", c.values.host)
	return err
}

// mostSparse returns how many places and, of the copies by columns, how many values a slot needs
// for any of the tiles of sparse examples.
func mostSparse(tiles []*tile) (padded, stored int) {
	for _, t := range tiles {
		padded, stored = max(padded, t.sparse.padded), max(stored, t.sparse.byColumn.stored())
	}
	return padded, stored
}
