package file

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/content"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// segment holds consecutive examples in the smaller form: dense (x) or sparse without +0. Segments
// are freed as they are copied, so reading takes little more memory than the result.
type segment struct {
	rows  int
	width int       // columns of x
	x     []float32 // dense: rows·width values

	counts  []int32 // sparse: stored values of each row
	columns []int32 // from 0
	values  []float32

	from   *os.File // where the values are that are not here; see scratch
	at     int64
	stored int
	dense  bool
}

// bytes returns the memory of g.
func (g segment) bytes() int {
	return 4 * (len(g.x) + len(g.counts) + len(g.columns) + len(g.values))
}

const (
	// segmentValues is about how many values a segment holds, a mebibyte.
	segmentValues = 1 << 18
	// segmentRows bounds the rows of a segment whose rows are all but empty.
	segmentRows = 1 << 16
)

// sparseIsSmaller reports whether the sparse form of stored values takes less memory.
func sparseIsSmaller(stored, rows, width int) bool {
	return 8*float64(stored)+4*float64(rows) < 4*float64(rows)*float64(width)
}

// newSegment copies examples from sparse scratch memory, which is used again.
func newSegment(counts, columns []int32, values []float32, width int) segment {
	if sparseIsSmaller(len(values), len(counts), width) {
		return segment{rows: len(counts), counts: tight(counts), columns: tight(columns),
			values: tight(values)}
	}
	s := segment{rows: len(counts), width: width, x: make([]float32, len(counts)*width)}
	fill(s.x, width, counts, columns, values)
	return s
}

// denseSegment takes x, which it keeps or frees.
func denseSegment(x []float32, width int) (s segment, stored int) {
	stored = countStored(x)
	rows := len(x) / width
	if !sparseIsSmaller(stored, rows, width) {
		return segment{rows: rows, width: width, x: x}, stored
	}
	s = segment{rows: rows, counts: make([]int32, rows), columns: make([]int32, 0, stored),
		values: make([]float32, 0, stored)}
	for i := range s.counts {
		before := len(s.values)
		s.columns, s.values = content.AppendStored(s.columns, s.values, x[i*width:(i+1)*width])
		s.counts[i] = int32(len(s.values) - before)
	}
	return s, stored
}

// countStored returns how many values are not +0.
func countStored(x []float32) int {
	return lists.Count(x, func(v float32) bool { return math.Float32bits(v) != 0 })
}

// tight returns a copy without room to grow.
func tight[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

// fill writes sparse rows into x, rows of d cells that are zero.
func fill(x []float32, d int, counts, columns []int32, values []float32) {
	at := 0
	for i, count := range counts {
		row := x[i*d : (i+1)*d]
		for k := at; k < at+int(count); k++ {
			row[columns[k]] = values[k]
		}
		at += int(count)
	}
}

// emptied frees a copied segment, and at times has the memory given back at once.
func emptied(segments []segment, k int) {
	const times, few = 8, 64 // of a mebibyte each
	segments[k] = segment{}
	if every := len(segments) / times; len(segments) >= few && k%every == every-1 {
		debug.FreeOSMemory()
	}
}

// joinDense returns the rows as one dense array with room for one more column, emptying segments.
func joinDense(s *store.Scratch, segments []segment, n, d int) ([]float32, error) {
	if len(segments) == 1 && segments[0].x != nil && segments[0].width == d {
		return segments[0].x[:n*d], nil
	}
	x, err := store.RoomOf[float32](s, n*d+n)
	if err != nil {
		return nil, err
	}
	return x[:n*d], joinDenseIn(x[:n*d], segments, d)
}

// joinDenseIn is joinDense to memory of zeros.
func joinDenseIn(x []float32, segments []segment, d int) error {
	row := 0
	for k, s := range segments {
		s, err := s.back()
		if err != nil {
			return err
		}
		part := x[row*d : (row+s.rows)*d]
		if s.x == nil {
			fill(part, d, s.counts, s.columns, s.values)
		} else {
			for i := range s.rows {
				copy(part[i*d:], s.x[i*s.width:(i+1)*s.width])
			}
		}
		row += s.rows
		emptied(segments, k)
	}
	return nil
}

// joinSparse returns the rows in compressed form with room for one more value a row, emptying
// segments.
func joinSparse(room *store.Scratch, segments []segment, n, stored int) (
	starts []int64, columns []int32, values []float32, err error) {
	starts = make([]int64, 1, n+1)
	if columns, err = store.RoomOf[int32](room, stored+n); err != nil {
		return nil, nil, nil, err
	}
	if values, err = store.RoomOf[float32](room, stored+n); err != nil {
		return nil, nil, nil, err
	}
	columns, values = columns[:0], values[:0]
	for k, s := range segments {
		s, err := s.back()
		if err != nil {
			return nil, nil, nil, err
		}
		if s.x == nil {
			at := starts[len(starts)-1]
			for _, count := range s.counts {
				at += int64(count)
				starts = append(starts, at)
			}
			columns, values = append(columns, s.columns...), append(values, s.values...)
		} else {
			for i := range s.rows {
				columns, values = content.AppendStored(columns, values, s.x[i*s.width:(i+1)*s.width])
				starts = append(starts, int64(len(values)))
			}
		}
		emptied(segments, k)
	}
	return starts, columns, values, nil
}

// examples joins the segments in the form that Options.Storage asks for.
func (b *builder) examples() (dataset.Examples, error) {
	e := dataset.Examples{N: b.n, D: b.width}
	if b.Encoder != nil {
		return b.encoded()
	}
	if b.home != nil {
		e.X = b.segments[0].x
		return e, nil
	}
	b.roomy(4 * min(2*b.stored, b.n*b.width))
	if b.wantsSparse(b.stored, b.width) {
		var err error
		e.Starts, e.Columns, e.Values, err = joinSparse(b.scratch, b.segments, b.n, b.stored)
		return e, err
	}
	if err := b.checkDense(); err != nil {
		return dataset.Examples{}, err
	}
	// One segment is taken as it is, if it has the width.
	if len(b.segments) > 1 || b.segments[0].x == nil || b.segments[0].width != b.width {
		if err := b.checkRoom(b.n, b.width); err != nil {
			return dataset.Examples{}, err
		}
	}
	var err error
	e.X, err = joinDense(b.scratch, b.segments, b.n, b.width)
	return e, err
}

// checkRoom refuses a dense copy that does not fit, if it is to lie in memory.
func (b *builder) checkRoom(n, d int) error {
	if b.scratch != nil {
		return nil
	}
	return checkDenseMemory(b.src.path, n, d)
}

// encoded is examples for rows of marks.
func (b *builder) encoded() (dataset.Examples, error) {
	marks := dataset.Examples{N: b.n, D: b.Encoder.Width()}
	var err error
	marks.Starts, marks.Columns, marks.Values, err = joinSparse(b.scratch, b.segments, b.n, b.stored)
	if err != nil {
		return dataset.Examples{}, err
	}
	x, err := b.Encoder.Encode(b.src.ctx, b.scratch, marks)
	if err != nil {
		return dataset.Examples{}, err
	}
	text := b.Encoder.HasText() && (b.o.Storage == "" || b.o.Storage == "auto")
	sparse := text || b.wantsSparse(len(x.Values), x.D)
	if sparse {
		return x, nil
	}
	b.width = x.D
	if err := b.checkDense(); err != nil {
		return dataset.Examples{}, err
	}
	if err := b.checkRoom(x.N, x.D); err != nil {
		return dataset.Examples{}, err
	}
	y := dataset.Examples{N: x.N, D: x.D}
	if y.X, err = store.RoomOf[float32](b.scratch, x.N*x.D); err != nil {
		return dataset.Examples{}, err
	}
	for i := range x.N {
		columns, values := x.SparseRow(i)
		for k, j := range columns {
			y.X[i*x.D+int(j)] = values[k]
		}
	}
	return y, nil
}

// wantsSparse says in which form Options.Storage wants the examples.
func (b *builder) wantsSparse(stored, width int) bool {
	if b.o.Storage == "" || b.o.Storage == "auto" {
		return b.home == nil && b.prepared == nil && sparseIsBetter(stored, b.n, width)
	}
	return b.o.Storage == "sparse"
}

// sparseIsBetter is the rule of Options.Storage for "auto".
func sparseIsBetter(stored, n, d int) bool { return 8*float64(stored) < float64(n)*float64(d) }

// checkDense refuses dense storage out of all proportion to the file.
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

// spillFrom is how many bytes of segments are kept in memory before they go to a file.
var spillFrom = 64 << 20

// spill puts segments into a file, once they are worth it, if Options.Spill says so.
func (b *builder) spill() error {
	held := 0
	for _, g := range b.segments[b.here:] {
		held += g.bytes()
	}
	if held < spillFrom || !b.spills() {
		return nil
	}
	b.needScratch()
	for k := b.here; k < len(b.segments) && b.scratch != nil; k++ {
		var err error
		if b.segments[k], err = b.segments[k].away(b.scratch); err != nil {
			return b.fatal(err)
		}
	}
	b.here = len(b.segments)
	return nil
}

// spilled is the Home of examples in files without names.
type spilled struct{ *store.Scratch }

// Close gives the files back.
func (s spilled) Close() error {
	s.Scratch.Close()
	return nil
}

// ReadOnly is false.
func (spilled) ReadOnly() bool { return false }

func (b *builder) spills() bool {
	return b.o.Spill && store.CanReserve && b.o.block == nil
}

// needScratch makes the scratch. Where no file can be made, memory is asked, which may be enough.
func (b *builder) needScratch() {
	if b.scratch == nil {
		s, err := store.NewScratch(b.src.path)
		if err != nil {
			b.o.Spill = false
			return
		}
		b.scratch = s
	}
}

// roomy makes a file for that number of bytes, if they are worth it, so that memory is not asked.
func (b *builder) roomy(bytes int) {
	if bytes >= spillFrom && b.spills() {
		b.needScratch()
	}
}

// away returns a segment whose values are in the file of s, where those of g were written.
func (g segment) away(s *store.Scratch) (segment, error) {
	at, err := s.Away(store.Bytes(g.x), store.Bytes(g.counts), store.Bytes(g.columns),
		store.Bytes(g.values))
	if err != nil {
		return g, err
	}
	return segment{rows: g.rows, width: g.width, stored: len(g.values), dense: g.x != nil,
		from: s.File, at: at}, nil
}

// back returns a segment with its values in memory.
func (g segment) back() (segment, error) {
	if g.from == nil {
		return g, nil
	}
	b := segment{rows: g.rows, width: g.width}
	var parts [][]byte
	if g.dense {
		b.x = make([]float32, g.rows*g.width)
		parts = [][]byte{store.Bytes(b.x)}
	} else {
		b.counts, b.columns, b.values = make([]int32, g.rows), make([]int32, g.stored), make([]float32,
			g.stored)
		parts = [][]byte{store.Bytes(b.counts), store.Bytes(b.columns), store.Bytes(b.values)}
	}
	at := g.at
	for _, part := range parts {
		if _, err := g.from.ReadAt(part, at); err != nil {
			return g, fmt.Errorf("temporary file: %w", fileerr.Cause(err))
		}
		at += int64(len(part))
	}
	return b, nil
}
