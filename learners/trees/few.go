package trees

import (
	"math/bits"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// fewRows is how many examples a node of a forest has at most whose labels the host counts: most
// bins of such nodes are empty, and a call of an engine takes longer.
const fewRows = 4096

// counter counts labels by bin in nodes of few examples.
type counter struct {
	binned dataset.Binned
	q      int
	labels []int32
	times  []uint8
	order  []int32 // the bag: each node has a range of it
	right  []int32 // as long

	sums  []int64 // 256×Q, 0 between calls
	some  []int64 // of the bins that have examples, bin 0 first
	which []uint8 // these bins
}

func newCounter(b dataset.Binned, q int) *counter {
	return &counter{binned: b, q: q, right: make([]int32, b.N), sums: make([]int64, 256*q)}
}

// start returns the examples in the bag.
func (c *counter) start(labels []int32, times []uint8) []int32 {
	c.labels, c.times, c.order = labels, times, c.order[:0]
	for i, m := range times {
		if m > 0 {
			c.order = append(c.order, int32(i))
		}
	}
	return c.order
}

// totals counts the labels of examples.
func (c *counter) totals(rows []int32) []int64 {
	totals := make([]int64, c.q)
	for _, i := range rows {
		totals[c.labels[i]] += int64(c.times[i])
	}
	return totals
}

// part moves the examples of a node that a split sends to the left to its front, the others behind
// them, both in their order.
func (c *counter) part(rows []int32, s *split) (left, right []int32) {
	column, at, rest := c.binned.Column(s.feature), 0, 0
	for _, i := range rows {
		b := column[i]
		side := int(s.left[b>>6] >> (b & 63) & 1)
		rows[at], c.right[rest] = i, i
		at, rest = at+side, rest+1-side
	}
	copy(rows[at:], c.right[:rest])
	return rows[:at], rows[at:]
}

// best returns the best split of examples by a feature, and the totals left of it.
func (c *counter) best(by *counts, rows []int32, totals []int64, feature int, category bool,
) (s split, inLeft []int64) {
	var filled engine.BinSet
	column, q := c.binned.Column(feature), c.q
	for _, i := range rows {
		b := column[i]
		filled[b>>6] |= 1 << (b & 63)
		c.sums[int(b)*q+int(c.labels[i])] += int64(c.times[i])
	}
	if category {
		sums := c.sums[:c.binned.Counts[feature]*q]
		if s = bestOf(by, sums, totals, true); s.gain > 0 {
			inLeft = sumOf(sums, q, &s.left)
		}
		clear(sums)
		return s, inLeft
	}
	filled[0] |= 1
	c.some, c.which = c.some[:0], c.which[:0]
	for w, set := range filled {
		for ; set != 0; set &= set - 1 {
			b := 64*w + bits.TrailingZeros64(set)
			sums := c.sums[b*q : (b+1)*q]
			c.some, c.which = append(c.some, sums...), append(c.which, uint8(b))
			clear(sums)
		}
	}
	if s = by.best(c.some, totals, false); s.gain == 0 {
		return s, nil
	}
	inLeft = sumOf(c.some, q, &s.left)
	missing, last := s.left.Has(0), 0
	for _, w := range s.left {
		last += bits.OnesCount64(w)
	}
	if missing {
		last--
	}
	s.left = upTo(int(c.which[last]), missing)
	return s, inLeft
}
