package features

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/setting"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// overValues is about how many raw values are set aside while prepared ones replace them.
const overValues = 1 << 20

// hasRoom reports whether the slices of e have room for what p makes of it.
func hasRoom(e dataset.Stored, p *dataset.Preparation) bool {
	more := extra(p) * e.N
	switch {
	case e.Sparse() && len(filled(p)) > extra(p): // whose rows get more values, some more than others
		return false
	case e.Sparse():
		return cap(e.Values)-len(e.Values) >= more && cap(e.Columns)-len(e.Columns) >= more
	}
	return cap(e.X)-len(e.X) >= more
}

// applyOver is apply in the memory of e, from the last examples to the first, as prepared ones may
// be longer.
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
		out.At = withCodes(p, e)
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
	if err := checkSparse(p); err != nil {
		return dataset.Examples{}, err
	}
	out := sparseShape(p, e)
	out.Values = e.Values[:out.Starts[e.N]]
	if p.Steps.Bias {
		out.Columns = e.Columns[:out.Starts[e.N]]
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

// refuseFilling refuses steps that make every zero of sparse examples another number.
func refuseFilling(s dataset.Steps, e dataset.Examples) error {
	if !s.Standardize || !e.Sparse() {
		return nil
	}
	return fmt.Errorf("normalization %s: standardize moves zero away from zero and so would fill "+
		"sparse examples: %d stored values would become %d; use maxabs or l2 instead, or ask for dense "+
		"storage ("+setting.Spell("storage", "dense")+")", s, e.Size(), int64(e.N)*int64(e.D))
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

// applySparse is Apply of sparse examples: what is not stored stays +0 but in columns with an
// offset, and a stored -0 stays stored.
func applySparse(p *dataset.Preparation, e dataset.Stored, lost bool) (dataset.Stored, error) {
	if err := checkSparse(p); err != nil {
		return dataset.Stored{}, err
	}
	out := sparseShape(p, e.Examples)
	stored, grows := int(out.Starts[e.N]), len(filled(p)) > 0
	need := memory.Product(stored, 4)
	what := fmt.Sprintf("a sparse copy of %d examples, %d values", e.N, stored)
	if grows {
		need = memory.Product(stored, 8)
	}
	if err := memory.Check(need, what); err != nil {
		return dataset.Stored{}, err
	}
	if out.Values = make([]float32, stored); grows {
		out.Columns = make([]int32, stored)
	}
	return out.Stored(), sparseRows(p, out, 0, e.N, e.Columns, e.Values, e.Starts, 0, lost)
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
	if len(fill) == extra(p) {
		for i := range out.Starts {
			out.Starts[i] += int64(i)
		}
		return out
	}
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

// checkSparse says why sparse examples of the right width cannot be prepared so.
func checkSparse(p *dataset.Preparation) error {
	for j := range p.A {
		if !decimal.Finite(p.A[j]) || !decimal.Finite(p.B[j]) {
			return fmt.Errorf("normalization %s: column %d (counted from 1) is mapped by v·%v + %v, wanted "+
				"finite numbers; the model is damaged", p.Steps, j+1, p.A[j], p.B[j])
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

// sparseRows makes examples from..to-1 of out of raw ones, which begin at starts[k]-skip, and gives
// their pages back as they are read.
func sparseRows(p *dataset.Preparation,
	out dataset.Examples, from, to int, columns []int32, values []float32, starts []int64, skip int64,
	lost bool) error {
	parts := parallel.Workers(to-from, 64)
	bad := make([]int, parts) // per part: example + 1 of its first value that is not finite
	fill := filled(p)
	parallel.Cut(to-from, parts, func(part, first, last int) {
		readValues := store.Once(values, int(starts[first]-skip), lost)
		readColumns := store.Once(columns, int(starts[first]-skip), lost) // which out may share
		for k := first; k < last && bad[part] == 0; k++ {
			begin, end := starts[k]-skip, starts[k+1]-skip
			columns, values := columns[begin:end], values[begin:end]
			at := int(out.Starts[from+k])
			dst := out.Values[at:int(out.Starts[from+k+1])]
			if len(fill) == 0 {
				mapSparse(p, dst, columns, values)
			} else {
				fillSparse(p, fill, out.Columns[at:at+len(dst)], dst, columns, values)
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
		return applyRows(p, dataset.Examples{N: n, D: p.Width(), X: dst}, nil,
			e.Part(first, first+n).X, first, false)
	}
}

// applyRows makes out, and enters codes unless nil, of raw, whose first example has number first;
// pages of raw are given back as they are read.
func applyRows(p *dataset.Preparation, out dataset.Examples, codes *store.Codes, raw []float32,
	first int, lost bool) error {
	parts := parallel.Workers(out.N, 64)
	bad := make([]int, parts) // per part: index in X + 1 of its first value that is not finite
	parallel.Cut(out.N, parts, func(part, from, to int) {
		read := store.Once(raw, from*p.D, lost)
		for i := from; i < to && bad[part] == 0; i++ {
			row, src, scale := out.Row(i), raw[i*p.D:][:p.D], float32(1)
			mapColumns(p, row, src)
			if p.Steps.L2 {
				scale = unit(row)
			}
			if j := firstNotFinite(row); j >= 0 {
				bad[part] = i*out.D + j + 1
			}
			if codes != nil {
				codes.Enter(first+i, out.D, src, scale)
			}
			read.UpTo((i + 1) * p.D)
		}
	})
	store.LetGo(store.Bytes(raw), lost) // what is less than a piece
	for _, at := range bad {            // parts are in the order of the examples
		if at > 0 {
			return unfinite(p, first+(at-1)/out.D, (at-1)%out.D, out.X[at-1])
		}
	}
	return nil
}

// integers is the largest absolute value of a code: sums of two are exact in float32.
const integers = 1 << 22

// newCodes returns codes for e, still without lengths; nil unless all values are integers of a
// small range and none is -0.
func newCodes(p *dataset.Preparation, e dataset.Stored) *store.Codes {
	if e.N*e.D == 0 {
		return nil
	}
	parts := parallel.Workers(e.N, 64)
	least, most := make([]float32, parts), make([]float32, parts)
	var other atomic.Bool
	parallel.Cut(e.N, parts, func(part, from, to int) {
		low, high := float32(integers), float32(-integers)
		for i := from; i < to && !other.Load(); i++ {
			for _, v := range e.Row(i) {
				low, high = min(low, v), max(high, v)
				if !(v >= -integers && v <= integers) || float32(int32(v)) != v ||
					math.Float32bits(v) == 1<<31 {
					other.Store(true)
					return
				}
			}
		}
		least[part], most[part] = low, high
	})
	if other.Load() {
		return nil
	}
	low, high := least[0], most[0]
	for k := range least {
		low, high = min(low, least[k]), max(high, most[k])
	}
	if p.Steps.Bias {
		low, high = min(low, 1), max(high, 1)
	}
	width := p.Width()
	w := &store.Codes{Least: low, Map: make([]float32, 2*width)}
	switch {
	case high-low <= math.MaxUint8:
		w.Bytes = make([]uint8, e.N*width)
	case high-low <= math.MaxUint16:
		w.Halves = make([]uint16, e.N*width)
	default:
		return nil
	}
	w.Unit = make([]float32, e.N)
	for j := range width {
		w.Map[j] = 1 // and offset 0: the same bits as no map, but for -0
	}
	copy(w.Map, p.A)
	copy(w.Map[width:], p.B)
	return w
}

// withCodes returns the store of the codes that p makes of e, if there are any.
func withCodes(p *dataset.Preparation, e dataset.Stored) *store.Store {
	codes := newCodes(p, e)
	if codes == nil {
		return nil
	}
	return &store.Store{Codes: codes}
}
