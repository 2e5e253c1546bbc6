package features

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// refuseFilling refuses steps that would make every zero of sparse examples
// another number.
func refuseFilling(s dataset.Steps, e dataset.Examples) error {
	if !s.Standardize || !e.Sparse() {
		return nil
	}
	return fmt.Errorf("normalization %s: standardize moves zero away from zero and so would fill "+
		"sparse examples: %d stored values would become %d; use maxabs or l2 instead, or ask for dense "+
		"storage (--storage dense)", s, e.Size(), int64(e.N)*int64(e.D))
}

// applySparse is Apply for sparse examples of the right width. What is not
// stored stays so: fma(+0, a, +0) is +0 for every finite a, and +0 times a finite
// r is +0. A stored -0 stays stored, whatever it becomes.
func applySparse(p *dataset.Preparation, e dataset.Stored, lost bool) (dataset.Stored, error) {
	if err := checkSparse(p, e.Examples); err != nil {
		return dataset.Stored{}, err
	}
	out := dataset.Examples{N: e.N, D: p.Width(), Starts: e.Starts, Columns: e.Columns}.Stored()
	extra := extra(p)
	first, last := e.Own()
	stored := len(e.Values) + extra*e.N
	here := int(e.Starts[last]-e.Starts[first]) + extra*(last-first) // of this rank
	need, what := memory.Product(here, 4), fmt.Sprintf("a sparse copy of %d examples, %d values", e.N,
		stored)
	if extra > 0 {
		need = memory.Sum(need, memory.Product(here, 4), memory.Product(e.N, 8))
	}
	if err := e.Agree(memory.Check(need, what)); err != nil {
		return dataset.Stored{}, err
	}
	err := sparseLike(p, &out, e, extra, stored)
	if err != nil {
		return dataset.Stored{}, err
	}
	return out, e.Agree(sparseRows(p, out.Examples, first, last, e.Columns, e.Values,
		e.Starts[first:last+1], 0, lost))
}

// checkSparse says why sparse examples of the right width cannot be prepared so.
func checkSparse(p *dataset.Preparation, e dataset.Examples) error {
	if err := refuseFilling(p.Steps, e); err != nil {
		return err
	}
	for j := range p.A {
		if !decimal.Finite(p.A[j]) || math.Float32bits(p.B[j]) != 0 {
			return fmt.Errorf("normalization %s: column %d (counted from 1) is mapped by v·%v + %v, wanted "+
				"a finite factor and the offset 0; the model is damaged", p.Steps, j+1, p.A[j], p.B[j])
		}
	}
	if p.Steps.Bias && p.D >= math.MaxInt32 {
		return fmt.Errorf("normalization %s: found %d features, wanted one less to leave room for the "+
			"bias", p.Steps, p.D)
	}
	return nil
}

// extra returns how many values more a prepared example stores.
func extra(p *dataset.Preparation) int { return p.Width() - p.D }

// sparseRows makes examples from..to-1 of out of raw ones: the one of example from+k has the
// columns and values from place starts[k]-skip to starts[k+1]-skip of these. As with rows, pages
// of these are given back as they are read.
func sparseRows(p *dataset.Preparation,
	out dataset.Examples, from, to int, columns []int32, values []float32, starts []int64, skip int64,
	lost bool) error {
	parts := parallel.Workers(to-from, 64)
	bad := make([]int, parts) // per part: example + 1 of its first value that is not finite
	parallel.Cut(to-from, parts, func(part, first, last int) {
		readValues := store.Once(values, int(starts[first]-skip), lost)
		readColumns := store.Once(columns, int(starts[first]-skip), lost) // which out may share
		for k := first; k < last && bad[part] == 0; k++ {
			begin, end := starts[k]-skip, starts[k+1]-skip
			columns, values := columns[begin:end], values[begin:end]
			at := int(out.Starts[from+k])
			dst := out.Values[at : at+len(values)+extra(p)]
			mapSparse(p, dst, columns, values)
			if p.Steps.Bias {
				dst[len(values)] = 1
				copy(out.Columns[at:], columns)
				out.Columns[at+len(columns)] = int32(p.D)
				readColumns.UpTo(int(end))
			}
			if p.Steps.L2 {
				unit(dst)
			}
			if firstNotFinite(dst) >= 0 {
				bad[part] = from + k + 1
			}
			readValues.UpTo(int(end))
		}
	})
	for _, i := range bad { // parts are in the order of the examples
		if i > 0 {
			columns, values := out.SparseRow(i - 1)
			k := firstNotFinite(values)
			return unfinite(p, i-1, int(columns[k]), values[k])
		}
	}
	return nil
}

// sparseLike gives out room for the stored values of e, and extra for each of its examples.
func sparseLike(p *dataset.Preparation, out *dataset.Stored, e dataset.Stored, extra,
	stored int) (err error) {
	if extra > 0 {
		out.Starts = make([]int64, e.N+1)
		for i, start := range e.Starts {
			out.Starts[i] = start + int64(extra*i)
		}
	}
	if e.At.Shared() == nil {
		if extra > 0 {
			out.Columns = make([]int32, stored)
		}
		out.Values = make([]float32, stored)
		return nil
	}
	*out = out.On(e.At.Shared().Other())
	columns, values, err := store.SpanSparse(out.At.Shared(), out.Starts, extra > 0)
	if out.Values = values; extra > 0 {
		out.Columns = columns
	}
	return e.Agree(err)
}

// mapSparse writes the stored values of one example, mapped if columns are.
func mapSparse(p *dataset.Preparation, dst []float32, columns []int32, values []float32) {
	if p.A == nil {
		copy(dst, values)
		return
	}
	for k, j := range columns {
		dst[k] = numerics.FMA(values[k], p.A[j], p.B[j])
	}
}
