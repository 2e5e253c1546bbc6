package file

import (
	"math"
	"runtime/debug"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/mapped"
)

// pile holds the values of examples: full segments, and those not yet in one, the unfinished
// example last, dense (x) or sparse (counts, columns, values). Segments are freed as they are
// joined, so reading takes little more memory than the result.
type pile struct {
	width  int // features: the largest so far, or what the reader set
	widest int // line of the largest index, 0 if the file says the width itself

	x       []float32 // nil if sparse
	counts  []int32   // values of each example
	columns []int32   // from 0
	values  []float32 // never +0
	begin   int       // of the unfinished example in x or values

	segments []segment
	stored   int // values in segments other than +0

	aside *mapped.Scratch // of segments and what they are joined to; nil if they are in memory
	moved int             // segments that are aside

	subnormals int // values that became +0
	flushed    int // the same before the unfinished example
}

// segment holds consecutive examples in the smaller form: dense (x) or sparse.
type segment struct {
	rows  int
	width int       // columns of x
	x     []float32 // nil if sparse

	counts, columns []int32
	values          []float32
}

const (
	// segmentValues is about how many values a segment holds, a mebibyte.
	segmentValues = 1 << 18
	// segmentRows bounds the rows of a segment whose rows are all but empty.
	segmentRows = 1 << 16
)

// drop leaves the unfinished example out.
func (p *pile) drop() {
	p.subnormals = p.flushed
	if p.x != nil {
		p.x = p.x[:p.begin]
	} else {
		p.columns, p.values = p.columns[:p.begin], p.values[:p.begin]
	}
}

// keep ends the unfinished example; it reports whether that filled a segment.
func (p *pile) keep() (full bool) {
	p.flushed = p.subnormals
	if p.x != nil {
		p.begin = len(p.x)
		full = len(p.x) >= segmentValues && len(p.x)+p.width > cap(p.x)
	} else {
		p.counts = append(p.counts, int32(len(p.values)-p.begin))
		p.begin = len(p.values)
		full = len(p.values) >= segmentValues || len(p.counts) >= segmentRows
	}
	if full {
		p.cut()
	}
	return full
}

// flush sets subnormal values to +0, if raw, and returns the first place that is not finite, or -1.
func (p *pile) flush(row []float32, raw bool) int {
	bad := -1
	for j, v := range row {
		switch bits := math.Float32bits(v); bits & 0x7f800000 {
		case 0x7f800000:
			if bad < 0 {
				bad = j
			}
		case 0:
			if bits<<1 != 0 && raw {
				row[j] = decimal.Flush(v, &p.subnormals)
			}
		}
	}
	return bad
}

// cut puts the finished examples into a segment.
func (p *pile) cut() {
	p.begin = 0
	if p.x != nil {
		if len(p.x) == 0 {
			return
		}
		kept := p.add(p.x, p.width)
		if p.x = p.x[:0]; kept { // as many whole rows as come close to the size of a segment
			p.x = make([]float32, 0, (segmentValues+p.width-1)/p.width*p.width)
		}
		return
	}
	if len(p.counts) == 0 {
		return
	}
	width := 0
	for _, j := range p.columns {
		width = max(width, int(j)+1)
	}
	s := segment{rows: len(p.counts), width: width}
	if sparseIsSmaller(len(p.values), s.rows, width) {
		s.counts, s.columns, s.values = tight(p.counts), tight(p.columns), tight(p.values)
	} else {
		s.x = make([]float32, s.rows*width)
		fill(s.x, width, p.counts, p.columns, p.values)
	}
	p.segments, p.stored = append(p.segments, s), p.stored+len(p.values)
	p.counts, p.columns, p.values = p.counts[:0], p.columns[:0], p.values[:0]
}

// add makes a segment of rows of width values; it reports whether that keeps x.
func (p *pile) add(x []float32, width int) (kept bool) {
	stored := lists.Count(x, func(v float32) bool { return math.Float32bits(v) != 0 })
	s := segment{rows: len(x) / width, width: width, x: x}
	if kept = !sparseIsSmaller(stored, s.rows, width); !kept {
		s.x, s.counts = nil, make([]int32, s.rows)
		s.columns, s.values = make([]int32, 0, stored), make([]float32, 0, stored)
		for i := range s.counts {
			before := len(s.values)
			s.columns, s.values = dataset.AppendStored(s.columns, s.values, x[i*width:(i+1)*width])
			s.counts[i] = int32(len(s.values) - before)
		}
	}
	p.segments, p.stored = append(p.segments, s), p.stored+stored
	return kept
}

// seal puts the last examples into a segment.
func (p *pile) seal() {
	p.cut()
	p.x, p.counts, p.columns, p.values = nil, nil, nil, nil
}

// asideBytes is how much is kept in memory before it is moved aside; tests take less.
var asideBytes = 64 << 20

// moveAside moves segments to temporary files, once they are worth it. path is for messages.
func (p *pile) moveAside(path string) (err error) {
	held := 0
	for _, s := range p.segments[p.moved:] {
		held += 4 * (len(s.x) + len(s.counts) + len(s.columns) + len(s.values))
	}
	if held < asideBytes {
		return nil
	}
	if p.aside == nil {
		if p.aside, err = mapped.NewScratch(path); err != nil {
			return err
		}
	}
	room, err := mapped.Make[uint8](p.aside, held)
	if err != nil {
		return err
	}
	for k := range p.segments[p.moved:] {
		s := &p.segments[p.moved+k]
		s.x, room = shifted(room, s.x)
		s.counts, room = shifted(room, s.counts)
		s.columns, room = shifted(room, s.columns)
		s.values, room = shifted(room, s.values)
	}
	p.moved = len(p.segments)
	return nil
}

// shifted returns a copy of list in the first bytes of room, and the rest of room.
func shifted[T mapped.Element](room []byte, list []T) ([]T, []byte) {
	if list == nil {
		return nil, room
	}
	n := copy(room, mapped.Bytes(list))
	return mapped.View[T](room[:n:n]), room[n:]
}

// sparseIsSmaller reports whether the sparse form of stored values takes less memory.
func sparseIsSmaller(stored, rows, width int) bool {
	return 8*float64(stored)+4*float64(rows) < 4*float64(rows)*float64(width)
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

// emptied frees a joined segment, and at times has the memory given back at once.
func (p *pile) emptied(k int) {
	const times, few = 8, 64 // of a mebibyte each
	p.segments[k] = segment{}
	if every := len(p.segments) / times; len(p.segments) >= few && k%every == every-1 {
		debug.FreeOSMemory()
	}
}

// whole reports whether the one segment is dense and of full width, so that it is taken as it is.
func (p *pile) whole() bool {
	return len(p.segments) == 1 && p.segments[0].x != nil && p.segments[0].width == p.width
}

// dense joins the segments, n rows of d values, emptying them, with room for one more column.
func (p *pile) dense(n, d int) ([]float32, error) {
	if p.whole() {
		return p.segments[0].x[:n*d], nil
	}
	x, err := mapped.Make[float32](p.aside, n*d+n)
	if err != nil {
		return nil, err
	}
	x = x[:n*d]
	row := 0
	for k, s := range p.segments {
		part := x[row*d : (row+s.rows)*d]
		if s.x == nil {
			fill(part, d, s.counts, s.columns, s.values)
		} else {
			for i := range s.rows {
				copy(part[i*d:], s.x[i*s.width:(i+1)*s.width])
			}
		}
		row += s.rows
		p.emptied(k)
	}
	return x, nil
}

// sparse joins the segments of n rows in compressed form, emptying them.
func (p *pile) sparse(n int) (starts []int64, columns []int32, values []float32, err error) {
	starts = make([]int64, 1, n+1)
	if columns, err = mapped.Make[int32](p.aside, p.stored); err != nil {
		return nil, nil, nil, err
	}
	if values, err = mapped.Make[float32](p.aside, p.stored); err != nil {
		return nil, nil, nil, err
	}
	columns, values = columns[:0], values[:0]
	for k, s := range p.segments {
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
		p.emptied(k)
	}
	return starts, columns, values, nil
}
