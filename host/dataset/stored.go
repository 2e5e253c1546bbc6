package dataset

import (
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Rows are examples, plain or in a store: engines take both.
type Rows interface {
	// Stored returns the examples and the store that keeps them.
	Stored() Stored
}

// Stored are examples and the store that keeps them, nil if they are plain. Where several ranks
// have read a file together, each has memory for its own examples alone; all of them call a method
// that says that it asks all ranks, in the same order.
type Stored struct {
	Examples
	At *store.Store
}

// Stored returns e, which no store keeps.
func (e Examples) Stored() Stored { return Stored{Examples: e} }

// Stored returns s.
func (s Stored) Stored() Stored { return s }

// On returns e, of which each rank of r has a part; r is nil if e is plain.
func (e Examples) On(r *store.Ranks) Stored {
	if r == nil {
		return e.Stored()
	}
	return Stored{Examples: e, At: &store.Store{Ranks: r}}
}

// Rows returns examples from..to-1 of s, all of which this rank has, sharing memory.
func (s Stored) Rows(from, to int) Stored {
	if from == 0 && to == s.N && s.At.Shared() == nil {
		return s
	}
	return Stored{Examples: s.Part(from, to), At: s.At.Rows(from, to, s.D)}
}

// Check returns an error unless the parts of s have the sizes and order that their types promise.
// Of the examples it looks at those of this rank.
func (s Stored) Check() error {
	if err := s.check(s.Own()); err != nil || s.At.Narrow() == nil {
		return err
	}
	return s.At.Narrow().Check(s.N, s.D)
}

// Own returns which examples this rank has, from..to-1.
func (s Stored) Own() (from, to int) {
	if r := s.At.Shared(); r != nil {
		return r.From, r.To
	}
	return 0, s.N
}

// Local returns the examples of this rank by themselves, sharing memory.
func (s Stored) Local() Examples {
	if s.At.Shared() == nil {
		return s.Examples
	}
	return s.Part(s.Own())
}

// Agree returns the error of the first rank that has one. It asks all ranks.
func (s Stored) Agree(err error) error { return s.At.Shared().Agree(err) }

// Like returns room for as many dense examples as s has, of d columns, all 0, on the same ranks,
// which it asks all. Close gives it back.
func (s Stored) Like(d int) (Stored, error) {
	out := Examples{N: s.N, D: d}
	if s.At.Shared() == nil {
		out.X = make([]float32, s.N*d)
		return out.Stored(), nil
	}
	r := s.At.Shared().Other()
	x, err := store.Span[float32](r, s.N, d)
	out.X = x
	return out.On(r), r.Agree(err)
}

// RowSums returns f(from, to) for every block of so many rows, a power of two up to 1024. It asks
// all ranks, each of which calls f for its own examples.
func (s Stored) RowSums(rows int, f func(from, to int) float64) []float64 {
	return s.At.Shared().RowSums(s.N, rows, f)
}

// Whole returns all examples, in the memory of each rank. It asks all ranks.
func (s Stored) Whole() Examples {
	if s.At.Shared() == nil {
		return s.Examples
	}
	all := make([]int, s.N)
	for i := range all {
		all[i] = i
	}
	return s.Pick(all)
}

// Pick returns the examples that which names, in that order, sharing nothing with s. It asks all
// ranks, each of which gets them all.
func (s Stored) Pick(which []int) Examples {
	if s.At.Shared() == nil {
		return s.Examples.Pick(which)
	}
	return s.pick(which)
}

// Close gives back memory that ranks share, and does nothing to other examples. Nobody may read
// them any more.
func (s Stored) Close() { s.At.Shared().Close() }

// spreadOver returns the examples of all ranks; own are those of this one, but for their number.
// It asks all ranks.
func spreadOver(r *store.Ranks, own Examples) (Stored, error) {
	e := Examples{N: own.N, D: own.D, Starts: make([]int64, own.N+1)}
	counts := e.Starts[1:]
	for i, start := range own.Starts[1:] {
		counts[r.From+i] = start - own.Starts[i]
	}
	err := ranks.Gather(r.Ctx, r, counts, 1, r.Ends)
	for i := range e.N {
		e.Starts[i+1] += e.Starts[i]
	}
	if err == nil {
		e.Columns, e.Values, err = store.SpanSparse(r, e.Starts, true)
	}
	if err = r.Agree(err); err == nil {
		at := e.Starts[r.From]
		copy(e.Columns[at:], own.Columns)
		copy(e.Values[at:], own.Values)
	}
	return e.On(r), err
}

// OwnOf returns e of r, which shares it: this rank's examples, copied into memory of r. Every rank
// has all of e. It asks all ranks.
func (e Examples) OwnOf(r *store.Ranks) (Stored, error) {
	own := Examples{N: e.N, D: e.D, Starts: e.Starts}
	var err error
	if e.Sparse() {
		from, to := e.Starts[r.From], e.Starts[r.To]
		if own.Columns, own.Values, err = store.SpanSparse(r, e.Starts, true); err == nil {
			copy(own.Columns[from:to], e.Columns[from:to])
			copy(own.Values[from:to], e.Values[from:to])
		}
	} else if own.X, err = store.Span[float32](r, e.N, e.D); err == nil {
		from, to := r.From*e.D, r.To*e.D
		copy(own.X[from:to], e.X[from:to])
	}
	if err = r.Agree(err); err != nil {
		r.Close()
	}
	return own.On(r), err
}
