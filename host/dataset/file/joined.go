package file

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// examples joins the segments in the form that Options.Storage asks for.
func (b *builder) examples() (dataset.Stored, error) {
	e := dataset.Examples{N: b.n, D: b.width}
	if b.Encoder != nil {
		return b.encoded()
	}
	b.roomy(4 * min(2*b.stored, b.n*b.width))
	if b.wantsSparse(b.stored, b.width) {
		var err error
		e.Starts, e.Columns, e.Values, err = joinSparse(b.scratch, b.segments, b.n, b.stored)
		return e.Stored(), err
	}
	if err := b.checkDense(); err != nil {
		return dataset.Stored{}, err
	}
	// One segment is taken as it is, if it has the width.
	if len(b.segments) > 1 || b.segments[0].x == nil || b.segments[0].width != b.width {
		if err := b.checkRoom(b.n, b.width); err != nil {
			return dataset.Stored{}, err
		}
	}
	var err error
	e.X, err = joinDense(b.scratch, b.segments, b.n, b.width)
	return e.Stored(), err
}

// checkRoom refuses a dense copy of n examples of d features that does not fit in memory, if it is
// to lie there.
func (b *builder) checkRoom(n, d int) error {
	if b.scratch != nil {
		return nil
	}
	return checkDenseMemory(b.src.path, n, d)
}

// encoded is examples for rows of marks.
func (b *builder) encoded() (dataset.Stored, error) {
	marks := dataset.Examples{N: b.n, D: b.Encoder.Width()}
	var err error
	marks.Starts, marks.Columns, marks.Values, err = joinSparse(b.scratch, b.segments, b.n, b.stored)
	if err != nil {
		return dataset.Stored{}, err
	}
	x, err := b.Encoder.Encode(b.src.ctx, b.scratch, marks)
	if err != nil {
		return dataset.Stored{}, err
	}
	text := b.Encoder.Encoding().HasText() && (b.o.Storage == "" || b.o.Storage == "auto")
	sparse := text || b.wantsSparse(len(x.Values), x.D)
	if sparse {
		return x.Stored(), nil
	}
	b.width = x.D
	if err := b.checkDense(); err != nil {
		return dataset.Stored{}, err
	}
	if err := b.checkRoom(x.N, x.D); err != nil {
		return dataset.Stored{}, err
	}
	y := dataset.Examples{N: x.N, D: x.D}
	if y.X, err = store.RoomOf[float32](b.scratch, x.N*x.D); err != nil {
		return dataset.Stored{}, err
	}
	for i := range x.N {
		columns, values := x.SparseRow(i)
		for k, j := range columns {
			y.X[i*x.D+int(j)] = values[k]
		}
	}
	return y.Stored(), nil
}

// wantsSparse says in which form Options.Storage wants the examples.
func (b *builder) wantsSparse(stored, width int) bool {
	if b.o.Storage == "" || b.o.Storage == "auto" {
		return sparseIsBetter(stored, b.n, width)
	}
	return b.o.Storage == "sparse"
}

// sparseIsBetter is the rule of Options.Storage for "auto".
func sparseIsBetter(stored, n, d int) bool { return 8*float64(stored) < float64(n)*float64(d) }

// checkDense refuses dense storage that takes memory out of all proportion to
// the file.
func (b *builder) checkDense() error {
	limit := b.src.limits.dense
	if size := b.passed + b.src.text; size <= math.MaxInt64/b.src.limits.perByte {
		limit = max(limit, b.src.limits.perByte*size)
	}
	if float64(b.n)*float64(b.width)*4 > float64(limit) || b.width > math.MaxInt/4/b.n {
		where := ""
		if b.widest > 0 {
			where = fmt.Sprintf(" (is the index in line %d right?)", b.widest)
		}
		return fmt.Errorf("%s: dense storage of %d examples × %d features%s would need %.0f bytes for a "+
			"file of %d bytes, wanted at most %d; ask for sparse storage",
			b.src.path, b.n, b.width, where, float64(b.n)*float64(b.width)*4, b.passed+b.src.text, limit)
	}
	return nil
}

// checkDenseMemory refuses a dense copy of n examples of d features that does not fit.
func checkDenseMemory(path string, n, d int) error {
	err := memory.Check(memory.Product(n, d, 4),
		fmt.Sprintf("dense storage of %d examples × %d features", n, d))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
