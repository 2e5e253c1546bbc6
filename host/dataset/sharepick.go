package dataset

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/store"
)

// pick is Pick of examples that ranks share. An error ends all ranks: what is returned then is
// never looked at.
func (e Stored) pick(which []int) Examples {
	s := e.At.Shared()
	_, all := s.Rank()
	at := make([][]int, all) // places of each rank's examples in which
	for k, i := range which {
		of := owner(s, i)
		at[of] = append(at[of], k)
	}
	p := Examples{N: len(which), D: e.D}
	if !e.Sparse() {
		p.X = make([]float32, p.N*p.D)
	} else {
		p.Starts = e.startsOf(which)
		p.Columns, p.Values = make([]int32, p.Starts[p.N]), make([]float32, p.Starts[p.N])
	}
	sendAll(s, p.Stored(), e, which, at)
	return p
}

// owner returns the rank that has example i.
func owner(s *store.Ranks, i int) int {
	k, _ := slices.BinarySearch(s.Ends, i+1)
	return k - 1
}

// startsOf returns where the stored values of the examples that which names begin, one behind the
// other.
func (e Examples) startsOf(which []int) []int64 {
	starts := make([]int64, 1, len(which)+1)
	for k, i := range which {
		starts = append(starts, starts[k]+e.Starts[i+1]-e.Starts[i])
	}
	return starts
}

// keep is Keep of examples that ranks share.
func (e Stored) keep(which []int) (Stored, func(), error) {
	if len(which) < 4*store.MostRows*len(e.At.Shared().Ends) || !slices.IsSorted(which) {
		return e.Pick(which).Stored(), func() {}, nil
	}
	return e.keepShared(which)
}

// keepShared is keep where what is kept is shared, however few they are.
func (e Stored) keepShared(which []int) (Stored, func(), error) {
	s := e.At.Shared()
	rank, all := s.Rank()
	ends := make([]int, all+1)
	for k, end := range s.Ends {
		at, _ := slices.BinarySearch(which, end)
		ends[k] = min(len(which), (at+store.MostRows/2)/store.MostRows*store.MostRows)
	}
	ends[all] = len(which)
	kept := s.With(ends)
	p := Examples{N: len(which), D: e.D}.On(kept)
	var err error
	if e.Sparse() {
		p.Starts = e.startsOf(which)
		p.Columns, p.Values, err = store.SpanSparse(kept, p.Starts, true)
	} else {
		p.X, err = store.Span[float32](kept, p.N, p.D)
	}
	if err := kept.Agree(err); err != nil {
		return p, kept.Close, err
	}
	at := make([][]int, all) // places of each rank's examples that another gets
	for k, i := range which {
		switch from, to := owner(s, i), owner(kept, k); {
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
	sendAll(s, p, e, which, at)
	return p, kept.Close, nil
}

// sendAll enters examples at places of p, those of each rank at at[rank], as far as this rank has
// room for them: those of e that which has there. It takes all ranks, and ends them after an
// error.
func sendAll(s *store.Ranks, p, e Stored, which []int, at [][]int) {
	const most = 1 << 20 // values to send at once, of examples that have fewer
	rows := max(1, most/max(1, len(p.X)/max(1, p.N), len(p.Values)/max(1, p.N)))
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
	own, _ := s.Rank()
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
			columns, values = append(columns, make([]int32, size)...), append(values,
				make([]float32, size)...)
		default:
			values = append(values, make([]float32, p.D)...)
		}
	}
	if len(values) == 0 {
		return nil
	}
	if err := s.Broadcast(s.Ctx, store.Bytes(values), rank); err != nil {
		return err
	}
	if e.Sparse() {
		if err := s.Broadcast(s.Ctx, store.Bytes(columns), rank); err != nil {
			return err
		}
	}
	first, last := p.Own()
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
