package simd

import "github.com/uma-gpu/uma-gpu/host/dataset"

const (
	columnsPerTask = 1024    // at most
	valuesPerTask  = 1 << 14 // at most, but for one column
)

// columns are the values of sparse examples column by column, in order of the examples.
type columns struct {
	starts []int64 // of each column in rows and values
	rows   []int32 // the example of each value
	values []float32
	cuts   []int // the first column of each task, and their number
}

func newColumns(x dataset.Examples) columns {
	c := columns{
		starts: make([]int64, x.D+1), rows: make([]int32, len(x.Values)), values: make([]float32,
			len(x.Values)),
	}
	for _, j := range x.Columns {
		c.starts[j+1]++
	}
	for j := range x.D {
		c.starts[j+1] += c.starts[j]
	}
	next := make([]int64, x.D)
	copy(next, c.starts)
	for i := range x.N {
		columns, values := x.SparseRow(i)
		for k, j := range columns {
			c.rows[next[j]], c.values[next[j]] = int32(i), values[k]
			next[j]++
		}
	}
	c.cuts = []int{0}
	for first, j := 0, 0; j < x.D; j++ {
		if j-first == columnsPerTask || j > first && c.starts[j+1]-c.starts[first] > valuesPerTask {
			c.cuts = append(c.cuts, j)
			first = j
		}
	}
	c.cuts = append(c.cuts, x.D)
	return c
}

func (c *columns) tasks() int { return len(c.cuts) - 1 }

// holdByExample keeps the coefficients of a span, 16 rows of each example side by side.
func (v *evaluator) holdByExample(at int, a []float32) {
	for r := range v.count {
		held := v.held[(r/lanes*v.x.N+at*span)*lanes+r%lanes:]
		for i := range v.examples(at) {
			held[i*lanes] = a[(i/lanes*v.count+r)*lanes+i%lanes]
		}
	}
}

// sumColumns computes the weighted sums of some columns for 16 rows of coefficients.
func (v *evaluator) sumColumns(task int, own *worker) {
	c := &v.columns
	from, to, group := c.cuts[task%c.tasks()], c.cuts[task%c.tasks()+1], task/c.tasks()
	sums := own.share.sums[:(to-from)*lanes]
	held := v.held[group*v.x.N*lanes : (group+1)*v.x.N*lanes]
	v.k.columnSums(c.starts[from:to+1], c.rows, c.values, held, v.fixed.Scale(), sums)
	for r := group * lanes; r < min((group+1)*lanes, v.count); r++ {
		for j, sum := 0, v.sums[r*v.x.D+from:r*v.x.D+to]; j < len(sum); j++ {
			sum[j] = sums[j*lanes+r%lanes]
		}
	}
}
