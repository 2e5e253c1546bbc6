package file

import (
	"math"
	"runtime/debug"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// pile holds the values of examples: full segments, and those not yet in one, the unfinished
// example last, dense (x) or sparse (starts, columns, values). Segments are freed as they are
// joined, so reading takes little more memory than the result.
type pile struct {
	width  int // features: the largest so far, or what the reader set
	widest int // line of the largest index, 0 if the file says the width itself

	x       []float32 // nil if sparse
	starts  []int64   // of the finished examples and the unfinished one in columns and values
	columns []int32   // from 0
	values  []float32 // never +0
	begin   int       // of the unfinished example in x or values

	segments []dataset.Examples // each in the smaller form; columns beyond its D are zero
	stored   int                // values in segments other than +0
	bytes    int                // of segments
	room     *osfile.Scratch    // of segments and what they are joined to; nil for memory

	subnormals int // values that became +0
	flushed    int // the same before the unfinished example
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
func (p *pile) keep() (full bool, err error) {
	p.flushed = p.subnormals
	if p.x != nil {
		p.begin = len(p.x)
		full = len(p.x) >= segmentValues && len(p.x)+p.width > cap(p.x)
	} else {
		if p.starts == nil {
			p.starts = []int64{0}
		}
		p.begin = len(p.values)
		p.starts = append(p.starts, int64(p.begin))
		full = len(p.values) >= segmentValues || len(p.starts) > segmentRows
	}
	if !full {
		return false, nil
	}
	if err = p.cut(); err == nil && p.x != nil && cap(p.x) == 0 {
		// A segment ends with a whole row.
		p.x, err = osfile.MakeScratch[float32](p.room, (segmentValues+p.width-1)/p.width*p.width)
		p.x = p.x[:0]
	}
	return true, err
}

// cut puts the finished examples into a segment.
func (p *pile) cut() (err error) {
	p.begin = 0
	var s dataset.Examples
	stored := len(p.values)
	if p.x != nil {
		s = dataset.Examples{N: len(p.x) / max(1, p.width), D: p.width, X: p.x}
		stored = lists.Count(p.x, func(v float32) bool { return math.Float32bits(v) != 0 })
	} else {
		s = dataset.Examples{N: max(0, len(p.starts)-1), Starts: p.starts, Columns: p.columns,
			Values: p.values}
		for _, j := range p.columns {
			s.D = max(s.D, int(j)+1)
		}
	}
	if s.N == 0 {
		return nil
	}
	smaller := 8*float64(stored)+8*float64(s.N) < 4*float64(s.N)*float64(s.D) // if it is sparse
	keep := dataset.Examples{N: s.N, D: s.D}
	switch {
	case !smaller && p.x != nil:
		keep.X, p.x = p.x, []float32{}
	case !smaller:
		if keep.X, err = osfile.MakeScratch[float32](p.room, s.N*s.D); err == nil {
			fill(keep.X, s.D, s)
		}
	default:
		if keep, err = p.compressed(s.N, s.D, stored); err == nil {
			appendRows(&keep, s)
		}
	}
	if p.x != nil {
		p.x = p.x[:0]
	}
	p.starts, p.columns, p.values = append(p.starts[:0], 0), p.columns[:0], p.values[:0]
	p.segments, p.stored = append(p.segments, keep), p.stored+stored
	p.bytes += 4*(len(keep.X)+len(keep.Columns)+len(keep.Values)) + 8*len(keep.Starts)
	return err
}

// seal puts the last examples into a segment.
func (p *pile) seal() error {
	err := p.cut()
	p.x, p.starts, p.columns, p.values = nil, nil, nil, nil
	return err
}

// appendRows appends the rows of s to sparse examples.
func appendRows(e *dataset.Examples, s dataset.Examples) {
	for i := range s.N {
		e.Columns, e.Values = dataset.AppendStored(e.Columns, e.Values, s, i)
		e.Starts = append(e.Starts, int64(len(e.Values)))
	}
}

// fill writes the rows of s into x, rows of d cells that are zero.
func fill(x []float32, d int, s dataset.Examples) {
	for i := range s.N {
		row := x[i*d:][:s.D]
		copy(row, s.DenseRow(row, i)) // which may be row
	}
}

// emptied frees a joined segment, and at times has the memory given back at once.
func (p *pile) emptied(k int) {
	const times, few = 8, 64 // of a mebibyte each
	p.segments[k] = dataset.Examples{}
	if every := len(p.segments) / times; len(p.segments) >= few && k%every == every-1 {
		debug.FreeOSMemory()
	}
}

// whole reports whether the one segment is dense and of full width, so that it is taken as it is.
func (p *pile) whole() bool {
	return len(p.segments) == 1 && p.segments[0].X != nil && p.segments[0].D == p.width
}

// dense joins the segments, n rows of d values, emptying them, with room for one more column.
func (p *pile) dense(n, d int) ([]float32, error) {
	if p.whole() {
		return p.segments[0].X[:n*d], nil
	}
	x, err := osfile.MakeScratch[float32](p.room, n*d+n)
	if err != nil {
		return nil, err
	}
	x = x[:n*d]
	row := 0
	for k, s := range p.segments {
		fill(x[row*d:], d, s)
		row += s.N
		p.emptied(k)
	}
	return x, nil
}

// sparse joins the segments of n rows of d features in compressed form, emptying them.
func (p *pile) sparse(n, d int) (e dataset.Examples, err error) {
	if e, err = p.compressed(n, d, p.stored); err != nil {
		return e, err
	}
	for k, s := range p.segments {
		appendRows(&e, s)
		p.emptied(k)
	}
	return e, nil
}

// compressed returns empty sparse examples with capacity for n rows and stored values.
func (p *pile) compressed(n, d, stored int) (e dataset.Examples, err error) {
	e = dataset.Examples{N: n, D: d, Starts: make([]int64, 1, n+1)}
	if e.Columns, err = osfile.MakeScratch[int32](p.room, stored); err != nil {
		return e, err
	}
	e.Values, err = osfile.MakeScratch[float32](p.room, stored)
	e.Columns, e.Values = e.Columns[:0], e.Values[:0]
	return e, err
}
