package dataset

import (
	"encoding/json"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// shares reports whether ranks share the examples of what b reads.
func (b *builder) shares() bool {
	return b.o.Ranks != nil && b.src.shared(b.o) && !b.o.SkipBad && b.o.MaxErrors <= 1 && b.o.block == nil
}

// shared reports whether s can be read in parts.
func (s *source) shared(o Options) bool { return canShare && o.Ranks != nil && s.file != nil }

// take leaves this rank its part of n examples.
func (b *builder) take(n int) {
	b.share = newShare(b.src.ctx, b.o.Ranks, n)
	b.seen = b.share.From
}

// takeRows leaves this rank its part of an array of n examples whose elements have so many bytes, if what is left of
// the file is that and no more.
func (b *builder) takeRows(size int64, n, d int) bool {
	begin := b.src.passed()
	if !b.shares() || n < 1 || d < 1 || memory.Product(n, d, int(size)) != b.src.size-begin {
		return false
	}
	b.take(n)
	row := int64(d) * size
	b.src.section(begin+int64(b.share.From)*row, begin+int64(b.share.To)*row, 1)
	b.src.line = 0
	return true
}

// takeLines leaves this rank its part of the records of a text, from byte from on, which is in line line; unless
// there are none, or ok finds them not fit for that.
func (b *builder) takeLines(from, line int64, scan lineScan, ok func(*lineIndex) bool) error {
	if !b.shares() {
		return nil
	}
	x, err := newLineIndex(b.src.ctx, b.o.Ranks, b.src, from, line, scan)
	if err != nil {
		return wrapPath(b.src, err)
	}
	n := x.total()
	if n == 0 || n > int64(b.src.limits.rows) || ok != nil && !ok(x) {
		return nil
	}
	b.take(int(n))
	from, line, err = x.find(int64(b.share.From))
	to := from
	if err == nil {
		to, _, err = x.find(int64(b.share.To))
	}
	if err := b.share.agree(err); err != nil {
		return wrapPath(b.src, err)
	}
	if b.share.From == b.share.To {
		from = to
	}
	b.src.section(from, to, line)
	return nil
}

// found is what a rank tells of its part of a file.
type found struct {
	Classes    []string `json:"classes"` // in the order of their first examples
	Notes      []string `json:"notes"`
	Width      int      `json:"width"`
	Widest     int      `json:"widest"` // line of the largest column
	Stored     int      `json:"stored"`
	Subnormals int      `json:"subnormals"`
}

// meet makes what this rank has found in its part, until its end or err, that of all; it takes all ranks. The error
// is the first in the order of the file.
func (b *builder) meet(err error) error {
	s := b.share
	if s == nil {
		return err
	}
	if err == nil {
		err = b.end()
	}
	if err == nil && b.n != s.To-s.From {
		err = b.src.errorf("found %d examples where %d begin; did the file change?", b.n, s.To-s.From)
	}
	if err := s.agree(err); err != nil {
		return err
	}
	b.seal()
	mine := found{Notes: b.notes, Width: b.width, Widest: b.widest, Stored: b.stored, Subnormals: b.subnormals}
	if b.inline() {
		mine.Classes = b.labels.names
	}
	text, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	each, err := ranks.Exchange(s.ctx, s.ranks, text)
	if err != nil {
		return err
	}
	b.own, b.notes, b.stored, b.subnormals, b.width = b.stored, nil, 0, 0, 0
	for _, text := range each {
		var f found
		if err := json.Unmarshal(text, &f); err != nil {
			return err
		}
		if b.notes == nil { // what readers note of examples they note of the first
			b.notes = f.Notes
		}
		b.stored += f.Stored
		b.subnormals += f.Subnormals
		if f.Width > b.width {
			b.width, b.widest = f.Width, f.Widest
		}
		for _, name := range f.Classes {
			if fault := b.labels.set([]byte(name)); fault != "" {
				return b.src.errorf("%s", fault)
			}
		}
	}
	b.n, b.seen = s.Ends[len(s.Ends)-1], s.Ends[len(s.Ends)-1]
	b.src.text = b.src.size
	if b.labels != nil {
		return b.labels.gather(s)
	}
	return nil
}

// gather makes the labels of this rank's examples those of all; all ranks know the same names, each in its own
// order.
func (l *labels) gather(s *Share) error {
	names, y := slices.Clone(l.names), l.y.flatten()
	if !l.fixed {
		slices.Sort(names)
	}
	place := make([]int32, len(names))
	for k, name := range names {
		place[l.index[name]] = int32(k)
	}
	for k, name := range names {
		l.index[name] = int32(k)
	}
	all := make([]int32, s.Ends[len(s.Ends)-1])
	for i, k := range y {
		all[s.From+i] = place[k]
	}
	l.names, l.y.last = names, all
	return ranks.Gather(s.ctx, s.ranks, all, 1, s.Ends)
}
