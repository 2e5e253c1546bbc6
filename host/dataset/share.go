package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"math"

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

// Agree returns the error of the first rank that has one. It takes all ranks. A nil Share is of one process, here and
// in the other methods that say so.
func (s *Share) Agree(err error) error {
	if s == nil {
		return err
	}
	return ranks.Agree(s.ctx, s.ranks, err, memory.ErrBudget, fs.ErrNotExist, context.Canceled)
}

// Own returns which examples this rank has, from..to-1: all of e unless ranks share it.
func (e Examples) Own() (from, to int) {
	if e.Share == nil {
		return 0, e.N
	}
	return e.Share.From, e.Share.To
}

// Local returns the examples of this rank by themselves, sharing memory with e: e itself unless ranks share it.
func (e Examples) Local() Examples {
	if e.Share == nil {
		return e
	}
	return e.Part(e.Own())
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

// Release gives back the memory of examples that ranks share, and does nothing to others. Nobody may read them any
// more. The collector cannot do it: it does not see who still reads such memory by a slice that e has lent him.
func (e Examples) Release() {
	if e.Share != nil {
		e.Share.release()
	}
}

// release is Release of the examples that have s.
func (s *Share) release() {
	giveBack(s.memory)
	s.memory = nil
}

// denseOf makes examples of this rank's rows, which lie in segments. It takes all ranks.
func (s *Share) denseOf(segments []segment, n, d int) (Examples, error) {
	e, err := Examples{N: n, Share: s}.Like(d)
	if err == nil {
		err = joinDenseIn(e.X[s.From*d:s.To*d], segments, d)
	}
	return e, err
}

// sparseOf is denseOf for stored values, of which own are this rank's. It takes all ranks.
func (s *Share) sparseOf(segments []segment, n, d, own int) (Examples, error) {
	e := Examples{N: n, D: d}
	var err error
	if e.Starts, e.Columns, e.Values, err = joinSparse(nil, segments, s.To-s.From, own); err != nil {
		return e, err
	}
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

// Like returns room for as many dense examples as e has, of d columns, all 0, on the same ranks, which it takes all:
// of examples that ranks share each has room for its own, and gives it back by Release.
func (e Examples) Like(d int) (Examples, error) {
	out := Examples{N: e.N, D: d}
	if e.Share == nil {
		out.X = make([]float32, e.N*d)
		return out, nil
	}
	out.Share = e.Share.other()
	x, err := span[float32](out.Share, e.N, d)
	out.X = x
	return out, out.Share.Agree(err)
}

// Everywhere reports whether what holds on this rank does on all. It takes all ranks; a nil Share is of one process.
func (s *Share) Everywhere(holds bool) (bool, error) {
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
	return e, s.Agree(err)
}

// MostRows is the largest number of rows to ask RowSums for.
const MostRows = 1024

// RowSums returns f(from, to) for every so many rows of e and what is left of them, rows being a power of two up to
// MostRows: each is made by the rank that has these examples, and known on all, which it takes. As with Pick, after an
// error of the ranks nobody looks at what is returned.
func (e Examples) RowSums(rows int, f func(from, to int) float64) []float64 {
	sums := make([]float64, (e.N+rows-1)/rows)
	first, last := e.Own()
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
