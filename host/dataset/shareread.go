package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// shares reports whether ranks share the examples of what b reads.
func (b *builder) shares() bool { return b.src.shared(b.o) && b.o.block == nil }

// shared reports whether s can be read in parts.
func (s *source) shared(o Options) bool {
	return store.CanReserve && o.Ranks != nil &&
		s.file != nil
}

// take leaves this rank its part of n examples.
func (b *builder) take(n int) {
	b.share = store.NewRanks(b.src.ctx, b.o.Ranks, n)
	b.seen = b.share.From
}

// takeRows leaves this rank its part of an array of n examples whose elements have so many bytes,
// if what is left of the file is that and no more.
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

// takeLines leaves this rank its part of the records of a text, from byte from on, which is in
// line line; unless there are none, or ok finds them not fit for that.
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
	if err := b.share.Agree(err); err != nil {
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
	IDs        []string `json:"ids"`
	Width      int      `json:"width"`
	Widest     int      `json:"widest"` // line of the largest column
	Stored     int      `json:"stored"`
	Subnormals int      `json:"subnormals"`
	Good       int      `json:"good"`  // accepted examples
	At         []int    `json:"at"`    // where the skipped ones are
	First      []string `json:"first"` // what is wrong with the first of them
	Sum        uint32   `json:"sum"`   // of the bytes, if b.sum wants it
}

// meet makes what this rank has found in its part, until its end or err, that of all; it takes all
// ranks. The error is the first in the order of the file.
func (b *builder) meet(err error) error {
	s := b.share
	if s == nil {
		return err
	}
	// Others may have had some of the levels that are too many here, or have begun in the midst of a
	// record.
	alone := b.cells.broken() || b.torn && (b.skip || b.most > 1)
	if fine, err := s.Everywhere(!alone); err != nil || !fine {
		return cmp.Or(err, errAlone)
	}
	if err == nil {
		err = b.end()
	}
	if have := b.n + len(b.skipped.At); err == nil && have != s.To-s.From {
		err = b.src.errorf("found %d examples where %d begin; did the file change?", have, s.To-s.From)
	}
	if err := b.agreeErrors(err); err != nil {
		return err
	}
	b.seal()
	mine := found{Notes: b.notes, Width: b.width, Widest: b.widest, Stored: b.stored,
		Subnormals: b.subnormals, Good: b.n,
		At: b.skipped.At}
	for _, err := range b.skipped.First {
		mine.First = append(mine.First, err.Error())
	}
	if b.inline() {
		mine.Classes = b.labels.names
	}
	if b.ids != nil {
		mine.IDs = b.ids.texts.flatten()
	}
	if b.sum != nil {
		mine.Sum = b.sum.own.Sum32()
	}
	each, err := tell(s, mine)
	if err != nil {
		return err
	}
	b.own, b.notes, b.stored, b.subnormals, b.width, b.skipped = b.stored, nil, 0, 0, 0, Skipped{}
	for _, f := range each {
		if err := b.add(&f); err != nil {
			return err
		}
	}
	if err := b.sum.compare(s, each); err != nil {
		return err
	}
	b.n, b.seen = s.Ends[len(s.Ends)-1]-len(b.skipped.At), s.Ends[len(s.Ends)-1]
	b.src.text = b.src.size
	if len(b.skipped.At) > 0 {
		b.share = s.With(goods(each))
	}
	if b.labels != nil {
		return b.labels.gather(b.share)
	}
	return nil
}

// add enters what a rank has found, behind what the ranks before it have.
func (b *builder) add(f *found) error {
	if b.notes == nil { // what readers note of examples they note of the first
		b.notes = f.Notes
	}
	b.stored += f.Stored
	b.subnormals += f.Subnormals
	if f.Width > b.width {
		b.width, b.widest = f.Width, f.Widest
	}
	b.skipped.At = append(b.skipped.At, f.At...)
	for _, text := range f.First {
		if len(b.skipped.First) < b.listed() {
			b.skipped.First = append(b.skipped.First, errors.New(text))
		}
	}
	for _, id := range f.IDs {
		b.ids.texts.push(id)
	}
	for _, name := range f.Classes {
		if fault := b.labels.set([]byte(name)); fault != "" {
			return b.src.errorf("%s", fault)
		}
	}
	return nil
}

// tell returns what each rank says of itself.
func tell[T any](s *store.Ranks, mine T) (each []T, err error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	texts, err := ranks.Exchange(s.Ctx, s, text)
	if err != nil {
		return nil, err
	}
	each = make([]T, len(texts))
	for k := range texts {
		if err := json.Unmarshal(texts[k], &each[k]); err != nil {
			return nil, err
		}
	}
	return each, nil
}

// goods returns where the accepted examples of each rank begin, and the last ones end.
func goods(each []found) []int {
	ends := []int{0}
	for k, f := range each {
		ends = append(ends, ends[k]+f.Good)
	}
	return ends
}

// stopped is what a rank tells of the bad examples that it has.
type stopped struct {
	Texts []string `json:"texts"`
	Ended bool     `json:"ended"` // reading has ended at the last of them
}

// agreeErrors returns the errors of all ranks as one process has them, Options.MaxErrors at most.
// It takes all ranks.
func (b *builder) agreeErrors(err error) error {
	if b.skip || b.most == 1 {
		return b.share.Agree(err)
	}
	var mine stopped
	if bad := (*BadExamples)(nil); errors.As(err, &bad) {
		mine.Ended = bad.Stopped
		for _, err := range bad.Errs {
			mine.Texts = append(mine.Texts, err.Error())
		}
	} else if err != nil {
		mine = stopped{[]string{err.Error()}, len(b.errs) == 0}
	}
	each, e := tell(b.share, mine)
	if e != nil {
		return e
	}
	all := &BadExamples{}
	for _, one := range each {
		for _, text := range one.Texts {
			if len(all.Errs) < b.most {
				all.Errs = append(all.Errs, errors.New(text))
			}
		}
		if all.Stopped = one.Ended || len(all.Errs) == b.most; all.Stopped {
			break
		}
	}
	if len(all.Errs) < 2 {
		return b.share.Agree(err)
	}
	return all
}

// gather makes the labels of this rank's examples the labels of all; all ranks know the same
// names, each in its own order.
func (l *labels) gather(s *store.Ranks) error {
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
	return ranks.Gather(s.Ctx, s, all, 1, s.Ends)
}
