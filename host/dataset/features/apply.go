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
	fill := filled(p)
	starts, need := startsWith(fill, e), 4 // bytes of a value
	if len(fill) > 0 {
		need = 8 // with its column
	}
	stored := int(starts[e.N])
	what := fmt.Sprintf("a sparse copy of %d examples, %d values", e.N, stored)
	if err := memory.Check(memory.Product(stored, need), what); err != nil {
		return dataset.Examples{}, err
	}
	out := dataset.Examples{N: e.N, D: p.Width(), Starts: starts, Columns: e.Columns,
		Values: make([]float32, stored)}
	if len(fill) > 0 {
		out.Columns = make([]int32, stored)
	}
	return out, sparseRows(p, fill, out, e)
}

// startsWith returns where rows start that have the columns fill, increasing, besides their own.
func startsWith(fill []int32, e dataset.Examples) []int64 {
	if len(fill) == 0 {
		return e.Starts
	}
	starts := make([]int64, 1, e.N+1)
	for i := range e.N {
		count := len(fill)
		columns, _ := e.SparseRow(i)
		for _, j := range columns {
			if _, filled := slices.BinarySearch(fill, j); !filled {
				count++
			}
		}
		starts = append(starts, starts[i]+int64(count))
	}
	return starts
}

// sparseRows makes the values of out, and its columns if p fills any, of sparse e.
func sparseRows(p *dataset.Preparation, fill []int32, out, e dataset.Examples) error {
	parts := parallel.Workers(e.N, 64)
	bad := make([]int, parts) // per part: example + 1 of its first value that is not finite
	parallel.Cut(e.N, parts, func(part, from, to int) {
		for i := from; i < to && bad[part] == 0; i++ {
			columns, values := out.SparseRow(i)
			copy(values, fillRow(columns, values, fill, e, i))
			for k, j := range columns {
				switch {
				case int(j) == p.D:
					values[k] = 1
				case p.A != nil:
					values[k] = numerics.FMA(values[k], p.A[j], p.B[j])
				}
			}
			if p.Steps.L2 {
				unit(values)
			}
			if firstNotFinite(values) >= 0 {
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

// fillRow returns the values of example i of e, and 0 in the columns fill, whose columns it writes
// to columns if there are any.
func fillRow(columns []int32, values []float32, fill []int32, e dataset.Examples, i int) []float32 {
	stored, row := e.SparseRow(i)
	if len(fill) == 0 {
		return row
	}
	for at := range columns {
		switch {
		case len(fill) > 0 && (len(stored) == 0 || fill[0] < stored[0]):
			columns[at], values[at], fill = fill[0], 0, fill[1:]
			continue
		case len(fill) > 0 && fill[0] == stored[0]:
			fill = fill[1:]
		}
		columns[at], values[at], stored, row = stored[0], row[0], stored[1:], row[1:]
	}
	return values
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
