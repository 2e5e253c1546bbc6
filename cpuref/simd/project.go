package simd

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

const (
	// projectRows are the examples of a task of Project. Their kernel values with one chunk
	// of landmarks stay in a second-level cache for the axes.
	projectRows = 10 * productRows
	// panelBytes bounds the panels in memory; there are more only if 256 landmarks take more.
	panelBytes = 256 << 20
)

// Project: clause 13. A chunk of landmarks is also a chunk of the dot products with the axes
// (clause 1), so each task goes through the landmarks chunk by chunk: dot products of its
// examples with the landmarks of one chunk, kernel values in their place, and their share
// of the products with all axes.
func (e *processor) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	j := &projection{k: e.k, dst: dst, x: x, p: p, group: productColumns}
	if x.Sparse() {
		j.group = e.k.sparseWidths[len(e.k.sparseWidths)-1]
	}
	per := max(1, panelBytes/(4*chunk*(x.D+p.Axes.Q))) * chunk
	side := panels(min(per, p.Landmarks.N), j.group) * j.group
	// Panels, and a row of each processor.
	if err := memory.Check(memory.Product(side+parallel.Workers(side, 1), x.D, 4), fmt.Sprintf(
		"a dense copy of %d landmarks × %d features", side, x.D)); err != nil {
		return err
	}
	for from := 0; from < p.Landmarks.N; from += per {
		j.first, j.last = from, min(from+per, p.Landmarks.N)
		j.pack()
		tasks := panels(x.N, projectRows)
		own := make([]*task, parallel.Workers(tasks, 1))
		parallel.Share(len(own), tasks, func(worker, at int) {
			if own[worker] == nil {
				own[worker] = j.newTask()
			}
			own[worker].project(at * projectRows)
		})
	}
	return nil
}

// projection is one call of Project.
type projection struct {
	k   *kernels
	dst []float32
	x   dataset.Examples
	p   engine.Projection

	// The landmarks under way.
	first, last int
	group       int         // landmarks of a panel
	landmarks   [][]float32 // a panel for each group: for each feature, the landmarks side by side
	// a panel for each chunk of landmarks and 32 axes: for each landmark, the axes side by side
	axes [][]float32
	yy   []float32 // ⟨y,y⟩ of each landmark, and 0 up to whole groups
}

// panels returns how many groups of count make n.
func panels(n, count int) int { return (n + count - 1) / count }

// chunks returns the number of chunks of n values.
func chunks(n int) int { return panels(n, chunk) }

// packWeights makes the panels of the landmarks under way; columns that fill up the last of them
// are 0, and their numbers not used.
func (j *projection) pack() {
	d, n := j.x.D, j.last-j.first
	j.landmarks = make([][]float32, panels(n, j.group))
	j.axes = make([][]float32, chunks(n)*panels(j.p.Axes.Q, productColumns))
	j.yy = make([]float32, panels(n, productColumns)*productColumns)
	parallel.Ranges(len(j.landmarks), 1, func(from, to int) {
		buffer := make([]float32, d)
		for g := from; g < to; g++ {
			panel := make([]float32, d*j.group)
			for l := g * j.group; l < min((g+1)*j.group, n); l++ {
				y := j.p.Landmarks.DenseRow(buffer, j.first+l)
				if j.p.Function.Kind == kernel.RBF {
					j.yy[l] = numerics.Dot(y, y)
				}
				for k, v := range y {
					panel[k*j.group+l%j.group] = v
				}
			}
			j.landmarks[g] = panel
		}
	})
	parallel.Tasks(len(j.axes), func(g int) {
		from, a := g%chunks(n)*chunk, g/chunks(n)*productColumns
		to := min(from+chunk, n)
		panel := make([]float32, (to-from)*productColumns)
		for c := range min(productColumns, j.p.Axes.Q-a) {
			for l, v := range j.p.Axes.Row(a + c)[j.first+from : j.first+to] {
				panel[l*productColumns+c] = v
			}
		}
		j.axes[g] = panel
	})
}

// task is what one processor works with. Rows of values and totals are whole blocks; those
// beyond the examples hold numbers that nobody uses.
type task struct {
	*projection
	values []float32 // of projectRows examples and one chunk of landmarks, 256 a row
	totals []float32 // of projectRows examples, whole panels a row
	step   int       // values in a row of totals
	xx     [projectRows]float32
	rest   []float32 // the rows after the last whole block, one chunk of their features
	few    []float32 // dot products with one group of landmarks, sparse examples
	row    []float32 // an example in dense form
}

func (j *projection) newTask() *task {
	t := &task{projection: j, step: panels(j.p.Axes.Q, productColumns) * productColumns}
	t.values = make([]float32, projectRows*chunk)
	t.totals = make([]float32, projectRows*t.step)
	t.rest = make([]float32, productRows*chunk)
	t.few = make([]float32, projectRows*j.group)
	t.row = make([]float32, j.x.D)
	return t
}

// project takes the examples from first on through the landmarks under way. With axes, dst
// has the totals so far in between.
func (t *task) project(first int) {
	rows, width := min(projectRows, t.x.N-first), t.p.Width()
	dst := t.dst[first*width : (first+rows)*width]
	if t.p.Function.Kind == kernel.RBF {
		for i := range rows {
			row := t.x.DenseRow(t.row, first+i)
			t.xx[i] = numerics.Dot(row, row)
		}
	}
	if t.first > 0 && t.step > 0 {
		for i := range rows {
			copy(t.totals[i*t.step:], dst[i*width:(i+1)*width])
		}
	}
	for from := 0; from < t.last-t.first; from += chunk {
		n := min(chunk, t.last-t.first-from)
		if t.x.Sparse() {
			t.sparseDots(first, rows, from, n)
		} else {
			t.denseDots(first, rows, from, n)
		}
		t.kernelValues(rows, from, n)
		if t.step == 0 {
			for i := range rows {
				copy(dst[i*width+t.first+from:], t.values[i*chunk:i*chunk+n])
			}
		}
		for a := 0; a < t.step; a += productColumns {
			panel := t.axes[a/productColumns*chunks(t.last-t.first)+from/chunk]
			t.k.product(t.values, chunk, panels(rows, productRows), n, panel, t.totals[a:], t.step,
				t.first+from == 0)
		}
	}
	if t.step == 0 {
		return
	}
	for i := range rows {
		numbers := dst[i*width : (i+1)*width]
		copy(numbers, t.totals[i*t.step:])
		if t.last == t.p.Landmarks.N && t.p.Offset != nil {
			for a, v := range t.p.Offset {
				numbers[a] += v
			}
		}
	}
}

// denseDots computes the dot products of examples with landmarks from..from+n-1 of those
// under way, one chunk.
func (t *task) denseDots(first, rows, from, n int) {
	d, whole := t.x.D, rows/productRows
	for j := 0; j < d; j += chunk {
		columns := min(chunk, d-j)
		for i := whole * productRows; i < rows; i++ {
			copy(t.rest[i%productRows*chunk:], t.x.Row(first + i)[j:j+columns])
		}
		for l := 0; l < n; l += productColumns {
			panel := t.landmarks[(from+l)/productColumns][j*productColumns:]
			t.k.product(t.x.X[first*d+j:], d, whole, columns, panel, t.values[l:], chunk, j == 0)
			if whole*productRows < rows {
				t.k.product(t.rest, chunk, 1, columns, panel, t.values[whole*productRows*chunk+l:], chunk,
					j == 0)
			}
		}
	}
}

// sparseDots is denseDots for sparse examples.
func (t *task) sparseDots(first, rows, from, n int) {
	few := t.few[:rows*t.group]
	dots := t.k.sparse[len(t.k.sparse)-1]
	for l := 0; l < n; l += t.group {
		dots(t.x.Starts[first:first+rows+1], t.x.Columns, t.x.Values, t.landmarks[(from+l)/t.group],
			t.group, few)
		for i := range rows {
			copy(t.values[i*chunk+l:], few[i*t.group:(i+1)*t.group])
		}
	}
}

// kernelValues turns the dot products of one chunk into kernel values.
func (t *task) kernelValues(rows, from, n int) {
	for i := range rows {
		values := t.values[i*chunk : i*chunk+panels(n, lanes)*lanes]
		switch f := t.p.Function; f.Kind {
		case kernel.RBF:
			t.k.rbf(values, t.xx[i], f.Gamma, t.yy[from:])
		case kernel.Poly:
			for l, v := range values {
				values[l] = f.Value(v, 0, 0)
			}
		}
	}
}
