package simd

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// moveTask brings the class sums of some columns up to date (clauses 3 and 5).
func (r *resident) moveTask(task int, _ []float32) {
	from, to := task*moveColumns, min((task+1)*moveColumns, r.x.D)
	for _, m := range r.cells.moves {
		if r.x.Sparse() {
			r.moveSparse(m, from, to)
			continue
		}
		scale := r.fixed.Scale()
		x := r.x.Row(int(m.example))[from:to]
		if m.from != noCell {
			r.k.sub(r.sum(m.from)[from:to], x, scale)
		}
		if m.to != noCell {
			r.k.add(r.sum(m.to)[from:to], x, scale)
		}
	}
}

// sum returns the class sum of a cell.
func (r *resident) sum(cell int32) []int64 {
	at := int(cell) * r.x.D
	return r.cells.sums[at : at+r.x.D]
}

// moveSparse moves the stored values of an example in columns from..to-1.
func (r *resident) moveSparse(m move, from, to int) {
	columns, values := r.x.SparseRow(int(m.example))
	first, _ := slices.BinarySearch(columns, int32(from))
	end, _ := slices.BinarySearch(columns, int32(to))
	columns, values = columns[first:end], values[first:end]
	scale := r.fixed.Scale()
	if m.from != noCell {
		sum := r.sum(m.from)
		for i, j := range columns {
			sum[j] -= numerics.Quantize(values[i], scale)
		}
	}
	if m.to != noCell {
		sum := r.sum(m.to)
		for i, j := range columns {
			sum[j] += numerics.Quantize(values[i], scale)
		}
	}
}

func (r *resident) ClassSums(dst []int64, p int) error {
	const op = "class sums"
	if err := r.checkSums(op); err != nil {
		return err
	}
	if err := engine.CheckClass(op, p, r.q); err != nil {
		return err
	}
	if err := engine.CheckLen(op, "dst", len(dst), r.q*r.x.D); err != nil {
		return err
	}
	copy(dst, r.cells.sums[p*r.q*r.x.D:])
	return nil
}
