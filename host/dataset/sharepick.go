package dataset

import "slices"

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

// Whole returns e for a step that looks at all examples: e itself, or what all ranks that share it, which it takes,
// get together, each of them all.
func (e Examples) Whole() Examples {
	if e.Share == nil {
		return e
	}
	all := make([]int, e.N)
	for i := range all {
		all[i] = i
	}
	return e.Pick(all)
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
	return s.keepShared(e, which)
}

// keepShared is keep where what is kept is shared, however few they are.
func (s *Share) keepShared(e Examples, which []int) (Examples, func(), error) {
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
	if err := kept.Agree(err); err != nil {
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
