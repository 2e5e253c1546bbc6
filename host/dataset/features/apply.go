package features

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// overValues is about how many raw values are set aside while prepared ones replace them.
const overValues = 1 << 20

// hasRoom reports whether dense e can be prepared in its own memory.
func hasRoom(p *dataset.Preparation, e dataset.Examples) bool {
	return !e.Sparse() && cap(e.X) >= e.N*p.Width()
}

// applyOver is apply in the memory of dense e, from the last examples to the first, as prepared
// ones may be longer.
func applyOver(p *dataset.Preparation, e dataset.Examples) (dataset.Examples, error) {
	rows := overValues/max(1, e.D) + 1
	need := memory.Product(min(e.N, rows), e.D, 4)
	what := fmt.Sprintf("preparing %d examples × %d features by %s where they are", e.N, p.Width(),
		p.Steps)
	if err := memory.Check(need, what); err != nil {
		return dataset.Examples{}, err
	}
	out := dataset.Examples{N: e.N, D: p.Width(), X: e.X[:e.N*p.Width()]}
	aside := make([]float32, min(rows, e.N)*e.D)
	var err error
	for to := e.N; to > 0; to -= rows {
		from := max(0, to-rows)
		raw := aside[:copy(aside, e.X[from*e.D:to*e.D])]
		if found := applyRows(p, out.Part(from, to), raw, from); found != nil {
			err = found // the first examples come last
		}
	}
	return out, err
}

// refuseFilling refuses steps that make every zero of sparse examples another number.
func refuseFilling(s dataset.Steps, e dataset.Examples) error {
	if !s.Standardize || !e.Sparse() {
		return nil
	}
	return fmt.Errorf("normalization %s: standardize moves zero away from zero and so would fill "+
		"sparse examples: %d stored values would become %d; use maxabs or l2 instead, or ask for dense "+
		"storage ("+quote.Option("storage", "dense")+")", s, e.Size(), int64(e.N)*int64(e.D))
}

// filled returns the columns in which p makes another number of zero, in increasing order.
func filled(p *dataset.Preparation) (columns []int32) {
	for j, b := range p.B {
		if b != 0 {
			columns = append(columns, int32(j))
		}
	}
	if p.Steps.Bias {
		columns = append(columns, int32(p.D))
	}
	return columns
}

// applySparse is Apply of sparse examples: values not stored stay +0 except in columns with an
// offset, and a stored -0 stays stored.
func applySparse(p *dataset.Preparation, e dataset.Examples) (dataset.Examples, error) {
	if p.Steps.Bias && p.D >= math.MaxInt32 {
		return dataset.Examples{}, fmt.Errorf("normalization %s: found %d features, wanted one less to "+
			"leave room for the bias", p.Steps, p.D)
	}
	out := sparseShape(p, e)
	stored, grows := int(out.Starts[e.N]), len(filled(p)) > 0
	need := memory.Product(stored, 4)
	what := fmt.Sprintf("a sparse copy of %d examples, %d values", e.N, stored)
	if grows {
		need = memory.Product(stored, 8)
	}
	if err := memory.Check(need, what); err != nil {
		return dataset.Examples{}, err
	}
	if out.Values = make([]float32, stored); grows {
		out.Columns = make([]int32, stored)
	}
	return out, sparseRows(p, out, e)
}

// sparseShape returns the prepared examples without values, and with the columns of e if they have
// no others.
func sparseShape(p *dataset.Preparation, e dataset.Examples) dataset.Examples {
	out := dataset.Examples{N: e.N, D: p.Width(), Starts: e.Starts, Columns: e.Columns}
	fill := filled(p)
	if len(fill) == 0 {
		return out
	}
	out.Starts = slices.Clone(e.Starts)
	in := make([]bool, p.Width())
	for _, j := range fill {
		in[j] = true
	}
	for i := range e.N {
		count := int64(len(fill))
		for _, j := range e.Columns[e.Starts[i]:e.Starts[i+1]] {
			if !in[j] {
				count++
			}
		}
		out.Starts[i+1] = out.Starts[i] + count
	}
	return out
}

// sparseRows makes the values of out, and its columns if p fills any, of sparse e.
func sparseRows(p *dataset.Preparation, out, e dataset.Examples) error {
	parts := parallel.Workers(e.N, 64)
	bad := make([]int, parts) // per part: example + 1 of its first value that is not finite
	fill := filled(p)
	parallel.Cut(e.N, parts, func(part, from, to int) {
		for i := from; i < to && bad[part] == 0; i++ {
			columns, values := e.SparseRow(i)
			columnsOut, valuesOut := out.SparseRow(i)
			if len(fill) == 0 {
				mapSparse(p, valuesOut, columns, values)
			} else {
				fillSparse(p, fill, columnsOut, valuesOut, columns, values)
			}
			if p.Steps.L2 {
				unit(valuesOut)
			}
			if firstNotFinite(valuesOut) >= 0 {
				bad[part] = i + 1
			}
		}
	})
	for _, i := range bad { // parts are in the order of the examples
		if i > 0 {
			columns, values := out.SparseRow(i - 1)
			k := firstNotFinite(values)
			return &UnfiniteError{p.Steps, i - 1, int(columns[k]), values[k]}
		}
	}
	return nil
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

// fillSparse is mapSparse of an example that gets values in the columns fill, and its columns.
func fillSparse(p *dataset.Preparation, fill, to []int32, dst []float32, columns []int32,
	values []float32) {
	k, l := 0, 0
	for at := range dst {
		var v float32
		j := int32(p.Width())
		if l < len(fill) {
			j = fill[l]
		}
		stored := k < len(columns) && columns[k] <= j
		if stored && columns[k] == j || !stored {
			l++
		}
		if stored {
			j, v = columns[k], values[k]
			k++
		}
		switch {
		case int(j) == p.D:
			v = 1
		case p.A != nil:
			v = numerics.FMA(v, p.A[j], p.B[j])
		}
		to[at], dst[at] = j, v
	}
}

// rowsOf returns the prepared rows of dense examples as WriteOptions.Rows takes them.
func rowsOf(p *dataset.Preparation, e dataset.Examples) func(dst []float32, first int) error {
	return func(dst []float32, first int) error {
		n := len(dst) / p.Width()
		return applyRows(p, dataset.Examples{N: n, D: p.Width(), X: dst},
			e.Part(first, first+n).X, first)
	}
}

// applyRows makes out of raw, whose first example has number first.
func applyRows(p *dataset.Preparation, out dataset.Examples, raw []float32, first int) error {
	parts := parallel.Workers(out.N, 64)
	bad := make([]int, parts) // per part: index in X + 1 of its first value that is not finite
	parallel.Cut(out.N, parts, func(part, from, to int) {
		for i := from; i < to && bad[part] == 0; i++ {
			row := out.Row(i)
			mapColumns(p, row, raw[i*p.D:][:p.D])
			if p.Steps.L2 {
				unit(row)
			}
			if j := firstNotFinite(row); j >= 0 {
				bad[part] = i*out.D + j + 1
			}
		}
	})
	for _, at := range bad { // parts are in the order of the examples
		if at > 0 {
			return &UnfiniteError{p.Steps, first + (at-1)/out.D, (at - 1) % out.D, out.X[at-1]}
		}
	}
	return nil
}
