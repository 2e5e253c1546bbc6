package features

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// overValues is about how many raw values are set aside at a time while prepared ones are written
// over them.
const overValues = 1 << 20

// hasRoom reports whether the slices of e have room for what p makes of it, as those have that
// Read returns.
func hasRoom(e dataset.Stored, p *dataset.Preparation) bool {
	extra := extra(p) * e.N
	switch {
	case e.At.Shared() != nil: // whose memory is cut to what a rank has
		return false
	case e.Sparse():
		return cap(e.Values)-len(e.Values) >= extra && cap(e.Columns)-len(e.Columns) >= extra
	}
	return cap(e.X)-len(e.X) >= extra
}

// applyOver is apply in the memory of e, which has room: the bits of a copy. It goes from the last
// examples to the first, since prepared ones may be longer: they are written where raw ones were
// that have been read.
func applyOver(p *dataset.Preparation, e dataset.Stored, narrow bool) (dataset.Stored, error) {
	need := memory.Product(min(e.N, overValues/max(1, e.D)+1), e.D, 8)
	if e.Sparse() {
		need = memory.Product(e.N, 8)
	} else if narrow {
		need = memory.Sum(need, memory.Product(e.N, p.Width(), 2))
	}
	what := fmt.Sprintf("preparing %d examples × %d features by %s where they are", e.N, p.Width(),
		p.Steps)
	if err := memory.Check(need, what); err != nil {
		return dataset.Stored{}, err
	}
	if e.Sparse() {
		x, err := sparseOver(p, e.Examples)
		return x.Stored(), err
	}
	out := dataset.Examples{N: e.N, D: p.Width(), X: e.X[:e.N*p.Width()]}.Stored()
	if narrow {
		var err error
		if out.At, err = withCodes(p, e, nil); err != nil {
			return dataset.Stored{}, err
		}
	}
	rows := overValues/max(1, e.D) + 1
	aside := make([]float32, min(rows, e.N)*e.D)
	var err error
	for to := e.N; to > 0; to -= rows {
		from := max(0, to-rows)
		raw := aside[:copy(aside, e.X[from*e.D:to*e.D])]
		some := dataset.Examples{N: to - from, D: out.D, X: out.X[from*out.D : to*out.D]}
		if found := applyRows(p, some, out.At.Narrow(), raw, from, false); found != nil {
			err = found // that of the first examples comes last
		}
	}
	return out, err
}

// sparseOver is applyOver of sparse examples.
func sparseOver(p *dataset.Preparation, e dataset.Examples) (dataset.Examples, error) {
	if err := checkSparse(p, e); err != nil {
		return dataset.Examples{}, err
	}
	out := dataset.Examples{N: e.N, D: p.Width(), Starts: e.Starts, Columns: e.Columns}
	stored := len(e.Values) + extra(p)*e.N
	out.Values = e.Values[:stored]
	if p.Steps.Bias {
		out.Columns = e.Columns[:stored]
		out.Starts = slices.Clone(e.Starts)
		for i := range out.Starts {
			out.Starts[i] += int64(i)
		}
	}
	var columns []int32
	var values []float32
	var err error
	for to := e.N; to > 0; {
		// As many examples as have overValues, or one.
		least, _ := slices.BinarySearch(e.Starts[:to], e.Starts[to]-overValues)
		from := min(to-1, least)
		first, last := e.Starts[from], e.Starts[to]
		columns = append(columns[:0], e.Columns[first:last]...)
		values = append(values[:0], e.Values[first:last]...)
		if found := sparseRows(p, out, from, to, columns, values, e.Starts[from:to+1], first,
			false); found != nil {
			err = found // that of the first examples comes last
		}
		to = from
	}
	return out, err
}
