package file

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// segment holds some consecutive examples in whichever form takes less memory:
// dense (x), or sparse (counts, columns, values; +0 is not stored). Examples are
// collected in segments, which are freed as they are copied, so that reading needs
// little more memory than the result, whatever the data are like.
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
	// segmentValues is about how many values a segment holds, a mebibyte of them;
	// one row may have more.
	segmentValues = 1 << 18
	// segmentRows bounds the rows of a segment whose rows are all but empty.
	segmentRows = 1 << 16
)

// sparseIsSmaller reports whether the sparse form of so many values in
// rows·width cells takes less memory than the dense one.
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
		s.columns, s.values = dataset.AppendStored(s.columns, s.values, x[i*width:(i+1)*width])
		s.counts[i] = int32(len(s.values) - before)
	}
	return s, stored
}

// countStored returns how many values are not +0.
func countStored(x []float32) (stored int) {
	for _, v := range x {
		if math.Float32bits(v) != 0 {
			stored++
		}
	}
	return stored
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

// emptied is called when segment k has been copied. Once in a while it has the memory of those
// before it given back, for the collector would wait until as much again has been asked for.
func emptied(segments []segment, k int) {
	const times, few = 8, 64 // of a mebibyte each
	segments[k] = segment{}
	if every := len(segments) / times; len(segments) >= few && k%every == every-1 {
		debug.FreeOSMemory()
	}
}

// joinDense returns the rows of segments as one dense array of d columns, with room behind it for
// one more (see Preparation.applyOver), and empties them one by one.
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

// joinSparse returns the rows of segments, which hold stored values, in
// compressed form, with room for one more value a row, and empties them one by one.
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
				columns, values = dataset.AppendStored(columns, values, s.x[i*s.width:(i+1)*s.width])
				starts = append(starts, int64(len(values)))
			}
		}
		emptied(segments, k)
	}
	return starts, columns, values, nil
}
