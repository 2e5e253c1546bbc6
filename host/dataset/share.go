package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Share says which of the examples this rank has, where several ranks have read a file together: Examples have the
// shape of the whole, and addresses for all of it, but memory for those of this rank alone; reading others is a
// fault, which Guard makes an error. Labels are those of all. Where this file says that a method takes all ranks,
// each of them calls it, in the same order.
type Share struct {
	From, To int   // the examples of this rank
	Ends     []int // rank k has examples Ends[k]..Ends[k+1]-1, cut at multiples of MostRows

	ranks  ranks.Reducer
	ctx    context.Context // of their calls
	memory [][]byte        // that reserve has returned for the examples
}

// newShare cuts n examples in parts of the same size.
func newShare(ctx context.Context, r ranks.Reducer, n int) *Share {
	rank, all := r.Rank()
	s := &Share{Ends: make([]int, all+1), ranks: r, ctx: context.WithoutCancel(ctx)}
	blocks := (n + MostRows - 1) / MostRows // and so at multiples of numerics.Block, as evaluations are
	for k := range s.Ends {
		s.Ends[k] = min(n, blocks*k/all*MostRows)
	}
	s.From, s.To = s.Ends[rank], s.Ends[rank+1]
	return s
}

// other returns s for other memory.
func (s *Share) other() *Share {
	return &Share{From: s.From, To: s.To, Ends: s.Ends, ranks: s.ranks, ctx: s.ctx}
}

// agree returns the error of the first rank that has one. It takes all ranks. A nil Share is of one process.
func (s *Share) agree(err error) error {
	if s == nil {
		return err
	}
	return ranks.Agree(s.ctx, s.ranks, err, memory.ErrBudget, fs.ErrNotExist, context.Canceled)
}

// own returns the examples of this rank: all of e if there is one.
func (e Examples) own() (from, to int) {
	if e.Share == nil {
		return 0, e.N
	}
	return e.Share.From, e.Share.To
}

// span returns n·width elements of which those of this rank's rows have memory, that of s.
func span[T element](s *Share, n, width int) ([]T, error) {
	return spanBetween[T](s, n*width, s.From*width, s.To*width)
}

// spanBetween returns n elements of which from..to-1 have memory, that of s.
func spanBetween[T element](s *Share, n, from, to int) ([]T, error) {
	size := len(bytesOf(make([]T, 1)))
	if n == 0 {
		return []T{}, nil
	}
	what := fmt.Sprintf("values of examples %d..%d", s.From, s.To-1)
	if err := memory.Check(memory.Product(to-from, size), what); err != nil {
		return nil, err
	}
	raw, err := reserve(n*size, from*size, to*size)
	if err != nil {
		return nil, fmt.Errorf("addresses for %d bytes of all ranks' examples: %w; raise the limit (ulimit -v)", n*size, err)
	}
	s.memory = append(s.memory, raw)
	rememberAway(raw, "examples that ranks share")
	return viewOf[T](raw), nil
}

// release gives back the memory that was taken for examples that ranks share. The collector cannot do it: it does not
// see who still reads such memory by a slice that somebody has lent him.
func (s *Share) release() {
	giveBack(s.memory)
	s.memory = nil
}

// denseOf makes examples of this rank's rows, which lie in segments. It takes all ranks.
func (s *Share) denseOf(segments []segment, n, d int) (Examples, error) {
	e, err := Examples{N: n, Share: s}.denseLike(d)
	if err == nil {
		joinDenseIn(e.X[s.From*d:s.To*d], segments, d)
	}
	return e, err
}

// sparseOf is denseOf for stored values, of which own are this rank's. It takes all ranks.
func (s *Share) sparseOf(segments []segment, n, d, own int) (Examples, error) {
	e := Examples{N: n, D: d}
	e.Starts, e.Columns, e.Values = joinSparse(segments, s.To-s.From, own)
	return s.spread(e)
}

// spread returns the examples of all ranks; own are those of this one, but for their number. It takes all ranks.
func (s *Share) spread(own Examples) (Examples, error) {
	e, err := s.sparse(own.N, own.D, own.Starts)
	if err != nil {
		return e, err
	}
	at := e.Starts[s.From]
	copy(e.Columns[at:], own.Columns)
	copy(e.Values[at:], own.Values)
	return e, nil
}

// denseLike returns room for as many dense examples as e has, of d columns, on the same ranks, which it takes all.
func (e Examples) denseLike(d int) (Examples, error) {
	out := Examples{N: e.N, D: d}
	if e.Share == nil {
		out.X = make([]float32, e.N*d)
		return out, nil
	}
	out.Share = e.Share.other()
	x, err := span[float32](out.Share, e.N, d)
	out.X = x
	return out, out.Share.agree(err)
}

// everywhere reports whether what holds on this rank does on all. It takes all ranks.
func (s *Share) everywhere(holds bool) (bool, error) {
	if s == nil {
		return holds, nil
	}
	not := []int64{0}
	if !holds {
		not[0] = 1
	}
	err := s.ranks.Max(s.ctx, not)
	return not[0] == 0, err
}

// sparse returns n examples of d columns whose stored values are yet to be entered; starts are those of this rank's
// examples, the first of them 0. It takes all ranks.
func (s *Share) sparse(n, d int, starts []int64) (Examples, error) {
	e := Examples{N: n, D: d, Starts: make([]int64, n+1), Share: s}
	own := e.Starts[1:]
	for i, start := range starts[1:] {
		own[s.From+i] = start - starts[i] // the number of values, for now
	}
	err := ranks.Gather(s.ctx, s.ranks, own, 1, s.Ends)
	for i := range n {
		e.Starts[i+1] += e.Starts[i]
	}
	stored, first, last := int(e.Starts[n]), int(e.Starts[s.From]), int(e.Starts[s.To])
	if err == nil {
		e.Columns, err = spanBetween[int32](s, stored, first, last)
	}
	if err == nil {
		e.Values, err = spanBetween[float32](s, stored, first, last)
	}
	return e, s.agree(err)
}

// pick is Examples.Pick of examples that ranks share. It takes all ranks. An error ends all of them: what is
// returned then is never looked at.
func (s *Share) pick(e Examples, which []int) Examples {
	_, all := s.ranks.Rank()
	at := make([][]int, all) // places of each rank's examples in which
	for k, i := range which {
		of := s.owner(i)
		at[of] = append(at[of], k)
	}
	p := Examples{N: len(which), D: e.D}
	if !e.Sparse() {
		p.X = make([]float32, p.N*p.D)
	} else {
		p.Starts = e.startsOf(which)
		p.Columns, p.Values = make([]int32, p.Starts[p.N]), make([]float32, p.Starts[p.N])
	}
	s.sendAll(&p, e, which, at)
	return p
}

// owner returns the rank that has example i.
func (s *Share) owner(i int) int {
	k, _ := slices.BinarySearch(s.Ends, i+1)
	return k - 1
}

// startsOf returns where the stored values of the examples that which names begin, one behind the other.
func (e Examples) startsOf(which []int) []int64 {
	starts := make([]int64, 1, len(which)+1)
	for k, i := range which {
		starts = append(starts, starts[k]+e.Starts[i+1]-e.Starts[i])
	}
	return starts
}

// keep is Examples.Keep of examples that ranks share.
func (s *Share) keep(e Examples, which []int) (Examples, func(), error) {
	if len(which) < 4*MostRows*len(s.Ends) || !slices.IsSorted(which) {
		return e.Pick(which), func() {}, nil
	}
	rank, all := s.ranks.Rank()
	kept := s.other()
	kept.Ends = make([]int, all+1)
	for k, end := range s.Ends {
		at, _ := slices.BinarySearch(which, end)
		kept.Ends[k] = min(len(which), (at+MostRows/2)/MostRows*MostRows)
	}
	kept.Ends[all] = len(which)
	kept.From, kept.To = kept.Ends[rank], kept.Ends[rank+1]
	p := Examples{N: len(which), D: e.D, Share: kept}
	var err error
	if e.Sparse() {
		p.Starts = e.startsOf(which)
		from, to := int(p.Starts[kept.From]), int(p.Starts[kept.To])
		if p.Columns, err = spanBetween[int32](kept, int(p.Starts[p.N]), from, to); err == nil {
			p.Values, err = spanBetween[float32](kept, int(p.Starts[p.N]), from, to)
		}
	} else {
		p.X, err = span[float32](kept, p.N, p.D)
	}
	if err := kept.agree(err); err != nil {
		return p, kept.release, err
	}
	at := make([][]int, all) // places of each rank's examples that another gets
	for k, i := range which {
		switch from, to := s.owner(i), kept.owner(k); {
		case from != to:
			at[from] = append(at[from], k)
		case from == rank && e.Sparse():
			columns, values := e.SparseRow(i)
			copy(p.Columns[p.Starts[k]:], columns)
			copy(p.Values[p.Starts[k]:], values)
		case from == rank:
			copy(p.Row(k), e.Row(i))
		}
	}
	s.sendAll(&p, e, which, at)
	return p, kept.release, nil
}

// sendAll enters examples at places of p, those of each rank at at[rank], as far as this rank has room for them: those
// of e that which has there. It takes all ranks, and ends them after an error.
func (s *Share) sendAll(p *Examples, e Examples, which []int, at [][]int) {
	const most = 1 << 20 // values to send at once, of examples that have fewer
	rows := max(1, most/max(1, len(p.X)/max(1, p.N), len(p.Values)/max(1, p.N)))
	for rank, places := range at {
		for some := range slices.Chunk(places, rows) {
			if err := s.send(p, e, which, rank, some); err != nil {
				s.ranks.Abort(err)
				return
			}
		}
	}
}

// send is sendAll for some of one rank's examples.
func (s *Share) send(p *Examples, e Examples, which []int, rank int, places []int) error {
	own, _ := s.ranks.Rank()
	var columns []int32
	var values []float32
	for _, k := range places {
		switch {
		case own == rank && e.Sparse():
			c, v := e.SparseRow(which[k])
			columns, values = append(columns, c...), append(values, v...)
		case own == rank:
			values = append(values, e.Row(which[k])...)
		case e.Sparse():
			size := int(p.Starts[k+1] - p.Starts[k])
			columns, values = append(columns, make([]int32, size)...), append(values, make([]float32, size)...)
		default:
			values = append(values, make([]float32, p.D)...)
		}
	}
	if len(values) == 0 {
		return nil
	}
	if err := s.ranks.Broadcast(s.ctx, bytesOf(values), rank); err != nil {
		return err
	}
	if e.Sparse() {
		if err := s.ranks.Broadcast(s.ctx, bytesOf(columns), rank); err != nil {
			return err
		}
	}
	first, last := p.own()
	at := 0
	for _, k := range places {
		size := p.D
		if e.Sparse() {
			size = int(p.Starts[k+1] - p.Starts[k])
		}
		switch mine := first <= k && k < last; {
		case mine && e.Sparse():
			copy(p.Columns[p.Starts[k]:], columns[at:at+size])
			copy(p.Values[p.Starts[k]:], values[at:at+size])
		case mine:
			copy(p.Row(k), values[at:at+size])
		}
		at += size
	}
	return nil
}

// MostRows is the largest number of rows to ask RowSums for.
const MostRows = 1024

// RowSums returns f(from, to) for every so many rows of e and what is left of them, rows being a power of two up to
// MostRows: each is made by the rank that has these examples, and known on all, which it takes. As with Pick, after an
// error of the ranks nobody looks at what is returned.
func (e Examples) RowSums(rows int, f func(from, to int) float64) []float64 {
	sums := make([]float64, (e.N+rows-1)/rows)
	first, last := e.own()
	parallel.Ranges((last-first+rows-1)/rows, MostRows/rows, func(from, to int) {
		for k := first/rows + from; k < first/rows+to; k++ {
			sums[k] = f(k*rows, min((k+1)*rows, e.N))
		}
	})
	if e.Share == nil {
		return sums
	}
	ends := make([]int, len(e.Share.Ends))
	for rank, end := range e.Share.Ends {
		ends[rank] = (end + rows - 1) / rows
	}
	if err := ranks.Gather(e.Share.ctx, e.Share.ranks, sums, 1, ends); err != nil {
		e.Share.ranks.Abort(err)
	}
	return sums
}

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

// inTurn calls step on one rank after the other, in the order of the examples, and hands the state that it leaves
// to the next; all ranks have the last. It takes all ranks. step must leave as many bytes as there were.
func (s *Share) inTurn(state []byte, step func(state []byte)) error {
	if s == nil {
		step(state)
		return nil
	}
	rank, all := s.ranks.Rank()
	for k := range all {
		if k == rank {
			step(state)
		}
		if err := s.ranks.Broadcast(s.ctx, state, k); err != nil {
			return err
		}
	}
	return nil
}

// largest makes each of most, which are not negative, the largest of all ranks.
func (s *Share) largest(most []float32) error {
	if s == nil {
		return nil
	}
	bits := make([]int64, len(most))
	for j, v := range most {
		bits[j] = int64(math.Float32bits(v))
	}
	if err := s.ranks.Max(s.ctx, bits); err != nil {
		return err
	}
	for j, b := range bits {
		most[j] = math.Float32frombits(uint32(b))
	}
	return nil
}
