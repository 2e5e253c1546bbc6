package dataset

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// refuseFilling refuses steps that would make every zero of sparse examples
// another number.
func refuseFilling(s Steps, e Examples) error {
	if !s.Standardize || !e.Sparse() {
		return nil
	}
	return fmt.Errorf("normalization %s: standardize moves zero away from zero and so would fill sparse examples: "+
		"%d stored values would become %d; use maxabs or l2 instead, or ask for dense storage (--storage dense)",
		s, e.Stored(), int64(e.N)*int64(e.D))
}

// fitSparseMaxAbs is fitMaxAbs for sparse examples. What is not stored is zero
// and raises no maximum, and a maximum is free of order.
func (p *Preparation) fitSparseMaxAbs(e Examples) {
	most := make([]float32, e.D)
	for k, j := range e.Columns {
		most[j] = max(most[j], float32(math.Abs(float64(e.Values[k]))))
	}
	for j, m := range most {
		if m == 0 {
			m = 1
		}
		p.A[j] = float32(1 / float64(m))
	}
}

// applySparse is Apply for sparse examples of the right width. What is not
// stored stays so: fma(+0, a, +0) is +0 for every finite a, and +0 times a finite
// r is +0. A stored -0 stays stored, whatever it becomes.
func (p *Preparation) applySparse(e Examples) (Examples, error) {
	if err := refuseFilling(p.Steps, e); err != nil {
		return Examples{}, err
	}
	for j := range p.A {
		if !finite(p.A[j]) || math.Float32bits(p.B[j]) != 0 {
			return Examples{}, fmt.Errorf("normalization %s: column %d (counted from 1) is mapped by v·%v + %v, "+
				"wanted a finite factor and the offset 0; the model is damaged",
				p.Steps, j+1, p.A[j], p.B[j])
		}
	}
	out := Examples{N: e.N, D: p.Width(), Starts: e.Starts, Columns: e.Columns}
	extra := 0
	if p.Steps.Bias {
		if p.D >= math.MaxInt32 {
			return Examples{}, fmt.Errorf("normalization %s: found %d features, "+
				"wanted one less to leave room for the bias", p.Steps, p.D)
		}
		extra = 1
	}
	stored := len(e.Values) + extra*e.N
	need, what := memory.Product(stored, 4), fmt.Sprintf("a sparse copy of %d examples, %d values", e.N, stored)
	if extra > 0 {
		need = memory.Sum(need, memory.Product(stored, 4), memory.Product(e.N, 8))
	}
	if err := memory.Check(need, what); err != nil {
		return Examples{}, err
	}
	if extra > 0 {
		out.Starts, out.Columns = make([]int64, e.N+1), make([]int32, len(e.Columns)+e.N)
	}
	out.Values = make([]float32, stored)
	parts := parallel.Workers(e.N, 64)
	bad := make([]int, parts) // per part: example + 1 of its first value that is not finite
	parallel.Cut(e.N, parts, func(part, from, to int) {
		for i := from; i < to && bad[part] == 0; i++ {
			columns, values := e.SparseRow(i)
			at := int(e.Starts[i]) + extra*i
			dst := out.Values[at : at+len(values)+extra]
			p.mapSparse(dst, columns, values)
			if extra > 0 {
				dst[len(values)] = 1
				out.Starts[i+1] = int64(at + len(dst))
				copy(out.Columns[at:], columns)
				out.Columns[at+len(columns)] = int32(p.D)
			}
			if p.Steps.L2 {
				unit(dst)
			}
			if firstNotFinite(dst) >= 0 {
				bad[part] = i + 1
			}
		}
	})
	for _, i := range bad { // parts are in the order of the examples
		if i > 0 {
			columns, values := out.SparseRow(i - 1)
			k := firstNotFinite(values)
			return Examples{}, fmt.Errorf("normalization %s: example %d, column %d (counted from 1) becomes %v, "+
				"wanted a finite number; rescale the column or leave out a step",
				p.Steps, i, columns[k]+1, values[k])
		}
	}
	return out, nil
}

// mapSparse writes the stored values of one example, mapped if columns are.
func (p *Preparation) mapSparse(dst []float32, columns []int32, values []float32) {
	if p.A == nil {
		copy(dst, values)
		return
	}
	for k, j := range columns {
		dst[k] = numerics.FMA(values[k], p.A[j], p.B[j])
	}
}
