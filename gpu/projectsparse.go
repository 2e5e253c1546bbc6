//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"slices"
)

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
	examples := []any{upload(&o, name, columns), upload(&o, name, values),
		upload(&o, name, t.sparse.starts), upload(&o, name, t.sparse.stored),
		upload(&o, name, t.sparse.order)}
	if o.err != nil {
		return 0, o.err
	}
	if j.ending == endRBF {
		if err := j.e.squaresSparse.launch(rows, 1,
			append(slices.Clip(examples), j.squares, int32(rows))...); err != nil {
			return 0, err
		}
	}
	k := j.p.Function
	j.e.q.work.ExampleBytes += t.bytes(j.x.D)
	return rows, j.landmarks.each(j.ending, func(b *buffer[float32], p piece, ending int32) error {
		return j.e.productSparse.launch(rows, p.panels*panelColumns/j.e.vector,
			append(slices.Clip(examples), b, int32(p.panel), int32(p.from), int32(p.to), j.values,
				int32(j.landmarks.rows), int32(rows), ending, j.squares, j.lengths, k.Gamma, k.Coef0,
				int32(k.Degree))...)
	})
}
