package dataset

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Rows are examples, plain or in a store: engines take both.
type Rows interface {
	// Stored returns the examples and the store that keeps them.
	Stored() Stored
}

// Stored are examples and the store that keeps them, nil if plain. Of examples that ranks share,
// each rank has its own; all ranks call what asks all ranks, in the same order.
type Stored struct {
	Examples
	At *store.Store
}

// Stored returns e, which no store keeps.
func (e Examples) Stored() Stored { return Stored{Examples: e} }

// Stored returns s.
func (s Stored) Stored() Stored { return s }

// Rows returns examples from..to-1 of s, which this rank has, sharing memory.
func (s Stored) Rows(from, to int) Stored {
	if from == 0 && to == s.N && !s.Shared() {
		return s
	}
	return Stored{Examples: s.Part(from, to), At: s.At.Rows(from, to, s.D)}
}

// Shared reports whether ranks share s: each then has its own examples alone.
func (s Stored) Shared() bool { return s.At.Shared() != nil }

// Check is Examples.Check of this rank's examples, and of codes.
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
	if !s.Shared() {
		return s.Examples
	}
	return s.Part(s.Own())
}

// Agree returns the error of the first rank that has one. It asks all ranks.
func (s Stored) Agree(err error) error { return s.At.Shared().Agree(err) }

// Like returns dense zeros of d columns for the same examples and ranks, which it asks; Close frees
// them.
func (s Stored) Like(d int) (Stored, error) {
	out := Examples{N: s.N, D: d}
	r := s.At.Shared()
	if r != nil {
		r = r.Other()
	}
	err := out.room(r)
	return Stored{out, store.Of(r)}, r.Agree(err)
}

// RowSums returns f(from, to) of every block of rows, a power of two up to 1024. It asks all ranks.
func (s Stored) RowSums(rows int, f func(from, to int) float64) []float64 {
	return s.At.Shared().RowSums(s.N, rows, f)
}

// Whole returns all examples, in the memory of each rank. It asks all ranks.
func (s Stored) Whole() Examples {
	if !s.Shared() {
		return s.Examples
	}
	all := lists.UpTo[int](s.N)
	return s.Pick(all)
}

// Pick is Examples.Pick; each rank gets all. It asks all ranks.
func (s Stored) Pick(which []int) Examples {
	if !s.Shared() {
		return s.Examples.Pick(which)
	}
	return s.pick(which)
}

// GatherCounts fills in counts, a number for each example: each rank knows the numbers of its own
// examples before, and all numbers afterwards. It asks all ranks.
func (s Stored) GatherCounts(counts []int64) error {
	r := s.At.Shared()
	if r == nil {
		return nil
	}
	return ranks.Gather(r.Ctx, r, counts, 1, r.Ends)
}

// Close gives back memory that ranks share.
func (s Stored) Close() { s.At.Shared().Close() }

// spreadOver returns all ranks' examples; own are this one's. It asks all ranks.
func spreadOver(r *store.Ranks, own Examples) (Stored, error) {
	e := Examples{N: own.N, D: own.D, Starts: make([]int64, own.N+1)}
	counts := e.Starts[1:]
	for i, start := range own.Starts[1:] {
		counts[r.From+i] = start - own.Starts[i]
	}
	err := Stored{e, store.Of(r)}.GatherCounts(counts)
	for i := range e.N {
		e.Starts[i+1] += e.Starts[i]
	}
	if err == nil {
		err = e.room(r)
	}
	if err = r.Agree(err); err == nil {
		e.put(r.From, r.To, own.Columns, own.Values)
	}
	return Stored{e, store.Of(r)}, err
}

// pick is Pick of shared examples. An error ends all ranks.
func (e Stored) pick(which []int) Examples {
	s := e.At.Shared()
	_, all := s.Rank()
	at := make([][]int, all) // places of each rank's examples in which
	for k, i := range which {
		of := owner(s, i)
		at[of] = append(at[of], k)
	}
	p := e.shapeOf(which)
	p.room(nil) // which fails for shared examples alone
	sendAll(s, p.Stored(), e, which, at)
	return p
}

// owner returns the rank that has example i.
func owner(s *store.Ranks, i int) int {
	k, _ := slices.BinarySearch(s.Ends, i+1)
	return k - 1
}

// keep is Keep of examples that ranks share.
func (e Stored) keep(which []int) (Stored, func(), error) {
	s := e.At.Shared()
	if len(which) < 4*store.MostRows*len(s.Ends) || !slices.IsSorted(which) {
		return e.Pick(which).Stored(), func() {}, nil
	}
	rank, all := s.Rank()
	ends := make([]int, all+1)
	for k, end := range s.Ends {
		at, _ := slices.BinarySearch(which, end)
		ends[k] = min(len(which), (at+store.MostRows/2)/store.MostRows*store.MostRows)
	}
	ends[all] = len(which)
	kept := s.With(ends)
	shape := e.shapeOf(which)
	err := shape.room(kept)
	p := Stored{shape, store.Of(kept)}
	if err := kept.Agree(err); err != nil {
		return p, kept.Close, err
	}
	at := make([][]int, all) // places of each rank's examples that another gets
	for k, i := range which {
		if from := owner(s, i); from != owner(kept, k) {
			at[from] = append(at[from], k)
		} else if from == rank {
			columns, values := e.part(i, i+1)
			p.put(k, k+1, columns, values)
		}
	}
	sendAll(s, p, e, which, at)
	return p, kept.Close, nil
}

// sendAll enters examples that ranks have at places at[rank] of p where this rank has room. It asks
// all ranks, and ends them after an error.
func sendAll(s *store.Ranks, p, e Stored, which []int, at [][]int) {
	const most = 1 << 20 // values to send at once, of examples that have fewer
	rows := max(1, most/max(1, p.Size()/max(1, p.N)))
	for rank, places := range at {
		for some := range slices.Chunk(places, rows) {
			if err := send(s, p, e, which, rank, some); err != nil {
				s.Abort(err)
				return
			}
		}
	}
}

// send is sendAll for some of one rank's examples.
func send(s *store.Ranks, p, e Stored, which []int, rank int, places []int) error {
	some := lists.At(which, places)
	sent := e.shapeOf(some)
	sent.room(nil) // which fails for shared examples alone
	if own, _ := s.Rank(); own == rank {
		e.Examples.pickInto(sent, some)
	}
	if sent.Size() == 0 {
		return nil
	}
	columns, values := sent.part(0, sent.N)
	if err := s.Broadcast(s.Ctx, store.Bytes(values), rank); err != nil {
		return err
	}
	if e.Sparse() {
		if err := s.Broadcast(s.Ctx, store.Bytes(columns), rank); err != nil {
			return err
		}
	}
	first, last := p.Own()
	for k, at := range places {
		if first <= at && at < last {
			columns, values := sent.part(k, k+1)
			p.put(at, at+1, columns, values)
		}
	}
	return nil
}

// Keep is Pick of examples that may not fit in memory: then they lie in a mapped file without a
// name, in $TMPDIR or /var/tmp, until release, which the caller calls also after an error. Ranks
// share a long increasing list. It asks all ranks.
func (e Stored) Keep(which []int) (kept Stored, release func(), err error) {
	release = func() {}
	if e.Shared() {
		return e.keep(which)
	}
	what := fmt.Sprintf("a copy of %d of %d examples", len(which), e.N)
	need := memory.Product(len(which), e.D, 4)
	if e.Sparse() {
		starts := e.shapeOf(which).Starts
		need = memory.Sum(memory.Product(len(starts), 8), memory.Product(int(starts[len(which)]), 8))
	}
	// to be read in the order of the file
	mapped := !e.Sparse() && store.CanReserve && len(which) > 0 && slices.IsSorted(which)
	full := memory.Check(need, what)
	if full == nil && mapped {
		// What follows needs memory too, as do the pages of a file.
		const share = 4
		full = memory.Check(memory.Product(share, len(which), e.D, 4), fmt.Sprintf("%d times %s", share,
			what))
	}
	if full == nil {
		if p, release, ok := e.pickAside(which); ok {
			return p.Stored(), release, nil
		}
		return e.Pick(which).Stored(), release, nil
	}
	if !mapped {
		return kept, release, full
	}
	room := store.Mappings(what)
	all := Examples{N: len(which), D: e.D}
	if all.X, err = store.RoomOf[float32](room, all.N*all.D); err != nil {
		return kept, release, fmt.Errorf("%w, and %w", full, err)
	}
	for k, i := range which {
		copy(all.Row(k), e.Row(i))
	}
	return all.Stored(), room.Close, nil
}

// asideBytes is the least size that is given back at release, small enough for tests.
const asideBytes = 1 << 16

// pickAside is Pick into memory that release gives back at once, which the collector would not,
// with room for one more column; not ok where that does not pay.
func (e Examples) pickAside(which []int) (p Examples, release func(), ok bool) {
	p = Examples{N: len(which), D: e.D}
	size := memory.Product(p.N, e.D+1, 4)
	if !store.CanReserve || e.Sparse() || size < asideBytes {
		return p, nil, false
	}
	raw, err := store.Reserve(int(size), 0, int(size))
	if err != nil {
		return p, nil, false
	}
	p.X = store.View[float32](raw)[:p.N*p.D]
	e.pickInto(p, which)
	return p, func() { store.GiveBack([][]byte{raw}) }, true
}
