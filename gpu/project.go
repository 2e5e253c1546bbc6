//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// The endings of kernels/kernelvalue.cl.
const (
	endNothing = iota
	endPoly
	endRBF
	endOffset
)

const (
	// rows of a block of product on a CPU; its least number of rows
	productRows   = 6
	productBlocks = 16                              // blocks of a work-item of it
	valuesRows    = 8 * productRows * productBlocks // as many rows as that are worth a large tile
)

// Project: clause 13, for one tile of examples after the other. The device gets both factors
// and the examples of a tile.
func (e *deviceEngine) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	j := &projection{e: e, own: buffers{q: e.q}, dst: dst, x: x, p: p}
	err := j.begin()
	for from := 0; from < x.N && err == nil; {
		from, err = j.tile(from)
	}
	if err = errors.Join(err, e.q.settle(), j.own.free()); err != nil {
		return fmt.Errorf("%d examples of %d features by %d landmarks on %d axes on %s: %w",
			x.N, x.D, p.Landmarks.N, p.Axes.Q, e.info.ID(), err)
	}
	return nil
}

// projection is one call of Project.
type projection struct {
	e   *deviceEngine
	own buffers
	dst []float32
	x   dataset.Examples
	p   engine.Projection

	landmarks, axes *factor // axes is nil without axes
	ending          int     // of the first product

	rows            int              // of a tile; of the largest, if x is sparse
	examples        *buffer[float32] // a tile; dense only
	squares         *buffer[float32] // ⟨x,x⟩ of a tile
	lengths, offset *buffer[float32] // ⟨y,y⟩ of the landmarks; the offset; both up to whole panels
	// kernel values of a tile, m a row, and their products with the axes
	values, numbers *buffer[float32]
}

// begin brings both factors to the device and makes room for a tile.
func (j *projection) begin() error {
	q, d, o := j.e.q, j.x.D, &j.own
	m, axes := j.p.Landmarks.N, j.p.Axes
	j.landmarks = newFactor(o, "landmarks", m, d, j.e.maxAlloc, j.p.Landmarks.DenseRow)
	if axes.Q > 0 {
		j.axes = newFactor(o, "axes", axes.Q, axes.D, j.e.maxAlloc,
			func(_ []float32, i int) []float32 { return axes.Row(i) })
	}
	yy := make([]float32, j.landmarks.panels*panelColumns)
	switch j.p.Function.Kind {
	case kernel.Poly:
		j.ending = endPoly
	case kernel.RBF:
		j.ending = endRBF
		parallel.Ranges(j.p.Landmarks.N, 1, func(from, to int) {
			buffer := make([]float32, d)
			for l := from; l < to; l++ {
				y := j.p.Landmarks.DenseRow(buffer, l)
				yy[l] = numerics.Dot(y, y)
			}
		})
	}
	j.lengths = upload(o, "lengths of landmarks", yy)
	wide, row := max(m, axes.Q), 1+m+axes.Q // values in the widest buffer for an example, and in all
	if j.axes != nil {
		offset := make([]float32, j.axes.panels*panelColumns)
		copy(offset, j.p.Offset)
		j.offset = upload(o, "offset", offset)
	}
	if o.err != nil {
		return o.err
	}
	rest := q.memory - q.inUse
	if j.x.Sparse() {
		rest /= 2
	} else {
		wide, row = max(wide, d), row+d
	}
	most := min(j.e.maxAlloc/int64(wide), rest/int64(row)) / 4
	if most < productRows {
		return fmt.Errorf("%w: %d examples with their kernel values take %d bytes, the widest part %d; "+
			"%d are free, one allocation may have %d",
			engine.ErrMemory, productRows, 4*productRows*row, 4*productRows*wide, rest, j.e.maxAlloc)
	}
	// Kernel values that stay in a processor's last cache; more to do at once for a GPU.
	values := 64 << 20
	if j.e.cpu {
		values = 16 << 20
	}
	j.rows = min(j.x.N, int(min(most, 1<<24)), max(valuesRows, values/(4*m)))
	room := func(name string, columns int) *buffer[float32] {
		if j.rows < productRows { // which are read and, beyond the tile's, not used
			return filled[float32](o, name, productRows*columns, 0)
		}
		return alloc[float32](o, name, j.rows*columns)
	}
	j.squares, j.values = room("lengths of examples", 1), room("kernel values", m)
	if axes.Q > 0 {
		j.numbers = room("numbers", axes.Q)
	}
	if !j.x.Sparse() {
		j.examples = room("examples", d)
	}
	return o.err
}

// tile projects a tile of examples from the given one on and returns where the next begins. A
// last tile of dense examples ends with them and begins among examples that are done, since a
// CPU wants a few rows at least.
func (j *projection) tile(from int) (next int, err error) {
	var rows int
	if j.x.Sparse() {
		rows, err = j.sparseTile(from)
	} else {
		rows, from = j.rows, min(from, j.x.N-j.rows)
		err = j.denseTile(from)
	}
	if err != nil {
		return 0, err
	}
	out := j.values
	if j.axes != nil {
		out = j.numbers
		ending := endNothing
		if j.p.Offset != nil {
			ending = endOffset
		}
		if err := j.multiply(j.axes, j.values, rows, ending, j.numbers, j.offset); err != nil {
			return 0, err
		}
	}
	width := j.p.Width()
	dst := j.dst[from*width : (from+rows)*width]
	return from + rows, out.read(dst, 0)
}

// denseTile computes the kernel values of a tile of dense examples.
func (j *projection) denseTile(from int) error {
	d := j.x.D
	err := j.examples.write(0, j.x.X[from*d:(from+j.rows)*d])
	if err == nil && j.ending == endRBF {
		err = j.e.squares.launch(j.rows, 1, squaresArgs{j.examples, j.squares, j.rows, d})
	}
	if err != nil {
		return err
	}
	return j.multiply(j.landmarks, j.examples, j.rows, j.ending, j.values, j.lengths)
}

// end returns what becomes of a product, with what belongs to its columns.
func (j *projection) end(more *buffer[float32]) ending {
	k := j.p.Function
	return ending{j.squares, more, k.Gamma, k.Coef0, k.Degree}
}

// multiply enqueues the product of rows rows of a with a factor.
func (j *projection) multiply(
	f *factor, a *buffer[float32], rows, ending int, out, more *buffer[float32]) error {
	width, height := f.panels, (rows+productRows*productBlocks-1)/(productRows*productBlocks)
	if !j.e.cpu {
		items, tall, broad := j.e.tile(panelColumns)
		width, height = f.panels*panelColumns/broad*items, (rows+tall-1)/tall
	}
	return j.e.product.launch(width, height, productArgs{a, f.columns, f.packed, out, f.rows, rows,
		ending, j.end(more)})
}

// sparseTile lays the next sparse examples out, computes their kernel values and returns how
// many they are.
func (j *projection) sparseTile(from int) (rows int, err error) {
	q := j.e.q
	// for columns and for values, and for what else there is
	room := min(j.e.maxAlloc, (q.memory-q.inUse)/3)
	if rows, err = fitSparse(j.x, from, min(j.rows, j.x.N-from), room, room); err != nil {
		return 0, err
	}
	t := &tile{from: from, rows: rows, sparse: layOut(j.x, from, rows)}
	columns, values := make([]int32, t.sparse.padded), make([]float32, t.sparse.padded)
	lay(t, columnsOf(j.x))(columns)
	lay(t, valuesOf(j.x))(values)
	o := buffers{q: q}
	defer func() { err = errors.Join(err, q.settle(), o.free()) }()
	const name = "sparse examples"
	examples := sparseRows{upload(&o, name, columns), upload(&o, name, values),
		upload(&o, name, t.sparse.starts), upload(&o, name, t.sparse.stored)}
	order := upload(&o, name, t.sparse.order)
	if o.err != nil {
		return 0, o.err
	}
	if j.ending == endRBF {
		if err := j.e.squaresSparse.launch(rows, 1, squaresSparseArgs{examples, order, j.squares,
			rows}); err != nil {
			return 0, err
		}
	}
	f := j.landmarks
	return rows, j.e.productSparse.launch(rows, f.panels*panelColumns/j.e.vector, productSparseArgs{
		examples, order, f.packed, f.columns, j.values, f.rows, rows, j.ending, j.end(j.lengths)})
}

// panelColumns is the number of rows of the second factor side by side in a panel of
// kernels/project.cl, COLUMNS there.
const panelColumns = 64

// factor is the second factor of a product on the device: landmarks or axes.
type factor struct {
	rows, columns, panels int
	packed                *buffer[float32] // in the lay-out of kernels/project.cl
}

// newFactor brings a factor to the device, whose rows row returns.
func newFactor(o *buffers, what string, rows, columns int, maxAlloc int64,
	row func(buffer []float32, i int) []float32) *factor {
	f := &factor{rows: rows, columns: columns, panels: (rows + panelColumns - 1) / panelColumns}
	_, err := fit(what, f.panels*panelColumns, 4*columns, min(maxAlloc, o.q.memory-o.q.inUse))
	if o.note(err); o.err != nil {
		return f
	}
	packed := make([]float32, f.panels*panelColumns*columns)
	parallel.Ranges(f.panels, 1, func(from, to int) {
		buffer := make([]float32, columns)
		for first := from * panelColumns; first < min(to*panelColumns, rows); first += panelColumns {
			panel := packed[first*columns:]
			for c := range min(panelColumns, rows-first) {
				for k, v := range row(buffer, first+c) {
					panel[k*panelColumns+c] = v
				}
			}
		}
	})
	f.packed = upload(o, what, packed)
	return f
}
