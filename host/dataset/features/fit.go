// Package features makes features: it fits preparations and applies them to examples (clause 2),
// and learns from a table's columns of categories, texts and missing values what they become.
package features

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Fit returns the preparation by s of the examples. Means, variances and maxima are taken in
// float64 column by column in the order of the examples, each square rounded before it is added; a
// constant or zero column gets the divisor 1. Sparse examples cannot be standardized, but for the
// numbers of a table; see Prepare.
func Fit(s dataset.Steps, rows dataset.Examples) (*dataset.Preparation, error) {
	if err := refuseFilling(s, rows); err != nil {
		return nil, err
	}
	return fitTo(s, rows, nil)
}

// fitTo is Fit with column maps only for the features of numeric columns; nil numbers means all
// features. The others stay as they are: levels are 0 or 1, and texts have their own weights.
func fitTo(s dataset.Steps, e dataset.Examples, numbers []int32) (*dataset.Preparation, error) {
	p := &dataset.Preparation{Steps: s}
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	p.D = e.D
	if !s.Standardize && !s.MaxAbs {
		return p, nil
	}
	if e.N == 0 {
		return nil, fmt.Errorf("normalization %s: found no example to fit it to, wanted at least one", s)
	}
	if numbers != nil {
		return p, fitNumbers(p, e, numbers)
	}
	what := fmt.Sprintf("normalization %s of %d features", s, e.D)
	if err := memory.Check(memory.Product(e.D, 24), what); err != nil {
		return nil, err
	}
	p.A, p.B = make([]float32, e.D), make([]float32, e.D)
	if s.MaxAbs {
		fitMaxAbs(p, e)
	} else {
		fitStandardize(p, e)
	}
	return p, p.Check()
}

// columnStep is how many columns are summed together: a cache line holds that number.
const columnStep = 16

// columnSums returns each column's sum, or squared distances from mean, in the order of the
// examples.
func columnSums(e dataset.Examples, mean []float64) []float64 {
	sums := make([]float64, e.D)
	byColumns(e, func(first, last, from, to int) {
		sums := sums[from:to]
		for i := first; i < last; i++ {
			row := e.Row(i)[from:to][:len(sums)]
			if mean == nil {
				for j, v := range row {
					sums[j] += float64(v)
				}
				continue
			}
			mean := mean[from:to][:len(sums)]
			for j, v := range row {
				far := float64(v) - mean[j]
				sums[j] += float64(far * far)
			}
		}
	})
	return sums
}

// byColumns calls f for blocks of rows in order, and for columns in parallel: a column belongs to
// one goroutine, and a file larger than memory is read once.
func byColumns(e dataset.Examples, f func(first, last, from, to int)) {
	const bytes = 64 << 20
	rows := max(1, bytes/(4*max(1, e.D)))
	for first := 0; first < e.N; first += rows {
		parallel.Ranges(e.D, columnStep, func(from, to int) {
			f(first, min(first+rows, e.N), from, to)
		})
	}
}

func fitStandardize(p *dataset.Preparation, e dataset.Examples) {
	n := float64(e.N)
	mean := columnSums(e, nil)
	for j := range mean {
		mean[j] /= n
	}
	for j, square := range columnSums(e, mean) {
		sd := cmp.Or(math.Sqrt(square/n), 1)
		p.A[j] = float32(1 / sd)
		p.B[j] = float32(-mean[j] / sd)
	}
}

// fitMaxAbs: values not stored are zero and raise no maximum, and order does not change a maximum.
func fitMaxAbs(p *dataset.Preparation, e dataset.Examples) {
	most := make([]float32, e.D)
	if e.Sparse() {
		for k, j := range e.Columns {
			most[j] = max(most[j], float32(math.Abs(float64(e.Values[k]))))
		}
	} else {
		byColumns(e, func(first, last, from, to int) {
			for i := first; i < last; i++ {
				for j, v := range e.Row(i)[from:to] {
					most[from+j] = max(most[from+j], float32(math.Abs(float64(v))))
				}
			}
		})
	}
	for j, m := range most {
		m = cmp.Or(m, 1)
		p.A[j] = float32(1 / float64(m))
	}
}

// fitNumbers fits the column maps of these features, and leaves the others.
func fitNumbers(p *dataset.Preparation, e dataset.Examples, numbers []int32) error {
	p.A, p.B = slices.Repeat([]float32{1}, e.D), make([]float32, e.D)
	if len(numbers) == 0 {
		return nil
	}
	need := memory.Product(e.N, len(numbers), 4)
	if err := memory.Check(need, "the numbers of a table"); err != nil {
		return err
	}
	some := dataset.Examples{N: e.N, D: len(numbers), X: make([]float32, e.N*len(numbers))}
	for i := range e.N {
		columns, values := e.Entries(i)
		row, k := some.Row(i), 0
		for l, j := range numbers {
			if columns == nil {
				row[l] = values[j]
				continue
			}
			for k < len(columns) && columns[k] < j {
				k++
			}
			if k < len(columns) && columns[k] == j {
				row[l] = values[k]
			}
		}
	}
	of, err := fitTo(p.Steps, some, nil)
	if err != nil {
		return err
	}
	for l, j := range numbers {
		p.A[j], p.B[j] = of.A[l], of.B[l]
	}
	return nil
}

// numbersOf returns which features the numbers of a table are; nil if all are, as without e.
func numbersOf(e *dataset.Encoding) []int32 {
	if e.Plain() {
		return nil
	}
	numbers, at := []int32{}, 0
	for k := range e.Columns {
		c := &e.Columns[k]
		if c.Kind == dataset.KindNumber {
			for k := range 1 + len(c.Knots) {
				numbers = append(numbers, int32(at+k))
			}
		}
		at += c.Width()
	}
	return numbers
}

// Apply returns prepared examples of Width() columns in the form of e. Per row: v = fma(v, A[j],
// B[j]), then the bias 1, then v·r with r = float32(1/sqrt(Σ v²)) in float64, 1 for a zero
// row. Sparse and dense give the same bits. A value that is not finite is an error. InPlace
// allows to write over dense examples with room, which are lost then, whatever it returns.
func Apply(p *dataset.Preparation, e dataset.Examples, how ...dataset.Memory) (dataset.Examples,
	error) {
	if err := checkFor(p, e); err != nil {
		return dataset.Examples{}, err
	}
	width, over := p.Width(), slices.Contains(how, dataset.InPlace)
	if over && hasRoom(p, e) {
		return applyOver(p, e)
	}
	if e.Sparse() {
		return applySparse(p, e)
	}
	what := fmt.Sprintf("a copy of %d examples × %d features that is prepared by %s", e.N, width,
		p.Steps)
	if err := memory.Check(memory.Product(e.N, width, 4), what); err != nil {
		return dataset.Examples{}, err
	}
	out := dataset.Examples{N: e.N, D: width, X: make([]float32, e.N*width)}
	return out, applyRows(p, out, e.X, 0)
}

// checkFor refuses what p cannot prepare.
func checkFor(p *dataset.Preparation, e dataset.Examples) error {
	if err := p.Check(); err != nil {
		return err
	}
	if err := e.Check(); err != nil {
		return err
	}
	if e.D != p.D {
		return fmt.Errorf("normalization %s: found examples of %d features, wanted %d as it was fitted "+
			"to", p.Steps, e.D, p.D)
	}
	if width := p.Width(); width > 0 && e.N > math.MaxInt/4/width {
		return fmt.Errorf("normalization %s: %d examples × %d columns are beyond the address space",
			p.Steps, e.N, width)
	}
	return nil
}

// UnfiniteError is a value that a preparation takes beyond float32. PrepareBy counts rows as the
// input has them.
type UnfiniteError struct {
	Steps       dataset.Steps
	Row, Column int // from 0
	Value       float32
}

// Error counts from 1.
func (e *UnfiniteError) Error() string {
	return fmt.Sprintf("normalization %s: row %d, column %d (counted from 1) becomes %v, wanted a "+
		"finite number; rescale the column or leave out a step", e.Steps, e.Row+1, e.Column+1, e.Value)
}

// mapColumns writes a raw row to dst as the steps but L2 make it.
func mapColumns(p *dataset.Preparation, dst, src []float32) {
	if p.A == nil {
		copy(dst, src)
	} else {
		a, b, dst := p.A[:len(src)], p.B[:len(src)], dst[:len(src)]
		for j, v := range src {
			dst[j] = numerics.FMA(v, a[j], b[j])
		}
	}
	if p.Steps.Bias {
		dst[len(src)] = 1
	}
}

// unit scales a row, or a sparse row's values, to length 1 and returns by what.
func unit(row []float32) (r float32) {
	var sum float64
	for _, v := range row {
		sum += float64(float64(v) * float64(v))
	}
	r = 1
	if sum != 0 {
		r = float32(1 / math.Sqrt(sum))
	}
	for j, v := range row {
		row[j] = v * r
	}
	return r
}

// firstNotFinite returns the place of the first value that is not finite, -1 if all are.
func firstNotFinite(row []float32) int {
	for j, v := range row {
		if !decimal.Finite(v) {
			return j
		}
	}
	return -1
}
