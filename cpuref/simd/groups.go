package simd

// groups are sums of examples that go from one cell to another. A worker adds an example
// to one while it has it in its cache; moveSums brings the sums to their cells.
type groups struct {
	pairs [][2]int32 // the cells
	sums  []int64    // one after the other
}

const (
	mostGroups = 64        // of a worker
	groupBytes = 512 << 10 // of their sums, about what a second-level cache can spare
)

// sum returns the sum of d columns of the examples that go from one cell to another, nil if there is no room.
func (s *groups) sum(from, to int32, d int) []int64 {
	pair := [2]int32{from, to}
	for g, p := range s.pairs {
		if p == pair {
			return s.of(g, d)
		}
	}
	if room := min(mostGroups, groupBytes/(8*d)); len(s.pairs) >= room {
		return nil
	} else if s.sums == nil {
		s.sums = make([]int64, room*d)
	}
	s.pairs = append(s.pairs, pair)
	sum := s.of(len(s.pairs)-1, d)
	clear(sum)
	return sum
}

// of returns the sum of group g.
func (s *groups) of(g, d int) []int64 { return s.sums[g*d : (g+1)*d] }
