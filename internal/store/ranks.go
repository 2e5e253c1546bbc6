package store

import (
	"context"
	"fmt"
	"io/fs"
	"math"

	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// MostRows is the multiple at which examples are cut for ranks.
const MostRows = 1024

// Ranks says which examples this rank has of shared ones. All values have addresses, but only this
// rank's have memory; others are a fault, which Guard makes an error. All ranks call what asks
// them, in the same order. Nil is one process.
type Ranks struct {
	ranks.Reducer
	Ctx      context.Context // of the calls of the Reducer
	From, To int             // the examples of this rank
	Ends     []int           // rank k has examples Ends[k]..Ends[k+1]-1

	memory [][]byte // that Span has taken for the examples
}

// NewRanks cuts n examples in parts of the same size.
func NewRanks(ctx context.Context, r ranks.Reducer, n int) *Ranks {
	_, all := r.Rank()
	ends := make([]int, all+1)
	blocks := (n + MostRows - 1) / MostRows
	for k := range ends {
		ends[k] = min(n, blocks*k/all*MostRows)
	}
	s := &Ranks{Reducer: r, Ctx: context.WithoutCancel(ctx)}
	return s.With(ends)
}

// With returns s for other memory, cut at ends.
func (s *Ranks) With(ends []int) *Ranks {
	rank, _ := s.Rank()
	return &Ranks{Reducer: s.Reducer, Ctx: s.Ctx, From: ends[rank], To: ends[rank+1], Ends: ends}
}

// Other returns s for other memory.
func (s *Ranks) Other() *Ranks { return s.With(s.Ends) }

// Agree returns the error of the first rank that has one; of a nil s it returns err.
func (s *Ranks) Agree(err error) error {
	if s == nil {
		return err
	}
	return ranks.Agree(s.Ctx, s.Reducer, err, memory.ErrBudget, fs.ErrNotExist, context.Canceled)
}

// Largest makes each of most, which are not negative, the largest of all ranks; s may be nil.
func (s *Ranks) Largest(most []float32) error {
	if s == nil {
		return nil
	}
	bits := make([]int64, len(most))
	for j, v := range most {
		bits[j] = int64(math.Float32bits(v))
	}
	if err := s.Max(s.Ctx, bits); err != nil {
		return err
	}
	for j, b := range bits {
		most[j] = math.Float32frombits(uint32(b))
	}
	return nil
}

// RowSums returns f(from, to) of every block of rows, a power of two up to MostRows, each made by
// the rank that has it. An error ends all ranks.
func (s *Ranks) RowSums(n, rows int, f func(from, to int) float64) []float64 {
	sums := make([]float64, (n+rows-1)/rows)
	first, last := 0, n
	if s != nil {
		first, last = s.From, s.To
	}
	parallel.Ranges((last-first+rows-1)/rows, MostRows/rows, func(from, to int) {
		for k := first/rows + from; k < first/rows+to; k++ {
			sums[k] = f(k*rows, min((k+1)*rows, n))
		}
	})
	if s == nil {
		return sums
	}
	if err := ranks.Gather(s.Ctx, s.Reducer, sums, 1, s.Blocks(rows)); err != nil {
		s.Abort(err)
	}
	return sums
}

// Blocks returns where each rank's blocks of rows begin, and the end.
func (s *Ranks) Blocks(rows int) []int {
	ends := make([]int, len(s.Ends))
	for rank, end := range s.Ends {
		ends[rank] = (end + rows - 1) / rows
	}
	return ends
}

// Span returns n·width elements; this rank's rows have memory until Close.
func Span[T Element](s *Ranks, n, width int) ([]T, error) {
	return SpanBetween[T](s, n*width, s.From*width, s.To*width)
}

// SpanBetween returns n elements; from..to-1 have memory until Close.
func SpanBetween[T Element](s *Ranks, n, from, to int) ([]T, error) {
	size := len(Bytes(make([]T, 1)))
	if n == 0 {
		return []T{}, nil
	}
	what := fmt.Sprintf("values of examples %d..%d", s.From, s.To-1)
	if err := memory.Check(memory.Product(to-from, size), what); err != nil {
		return nil, err
	}
	raw, err := Reserve(n*size, from*size, to*size)
	if err != nil {
		return nil, fmt.Errorf("addresses for %d bytes of all ranks' examples: %w; raise the limit "+
			"(ulimit -v)", n*size, err)
	}
	s.memory = append(s.memory, raw)
	Remember(raw, "examples that ranks share", true)
	return View[T](raw), nil
}

// Held reports whether s has memory.
func (s *Ranks) Held() bool { return s != nil && len(s.memory) > 0 }

// Close gives back the memory of s: the collector does not see who reads it.
func (s *Ranks) Close() {
	if s != nil {
		GiveBack(s.memory)
		s.memory = nil
	}
}

// SpanSparse returns room for values that begin at starts, and for columns if both.
func SpanSparse(r *Ranks, starts []int64, both bool) (columns []int32, values []float32,
	err error) {
	stored, from, to := int(starts[len(starts)-1]), int(starts[r.From]), int(starts[r.To])
	if both {
		columns, err = SpanBetween[int32](r, stored, from, to)
	}
	if err == nil {
		values, err = SpanBetween[float32](r, stored, from, to)
	}
	return columns, values, err
}
