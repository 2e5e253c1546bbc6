package store

import (
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/ranks"
)

// InOrder makes sums, 0 at first, those of all examples, whose order matters: add adds what this
// rank's examples add to sums from..to-1, which it is handed as those of the examples before. It
// takes all ranks, on each of which add is called for ranges that make up all sums, one after the
// other; they are cut in groups at multiples of step, and a rank has one while the next ones have
// those before: so all of them work at the same time. The error is that of the first rank on which
// add has one. Plain examples have one group.
func InOrder[T float32 | float64](at *Store, sums []T, step int, add func(part []T, from,
	to int) error) error {
	s := at.Shared()
	if s == nil {
		return add(sums, 0, len(sums))
	}
	rank, all := s.Rank()
	const most = 8 // groups a rank: ranks wait for a ninth of the time
	width := max(step, (len(sums)/(most*all)+step-1)/step*step)
	groups := (len(sums) + width - 1) / width
	var one T
	per := 8 / int(unsafe.Sizeof(one))
	words := (width + per - 1) / per  // of 64 bits
	slots := make([]int64, all*words) // what each rank hands on
	slot := func(k int) []T { return View[T](Bytes(slots[k*words : (k+1)*words]))[:width] }
	var failed error
	for t := range groups + all - 1 {
		clear(slots)
		if g := t - rank; g >= 0 && g < groups {
			part := sums[g*width : min((g+1)*width, len(sums))]
			if failed == nil {
				failed = add(part, g*width, g*width+len(part))
			}
			copy(slot(rank), part)
		}
		if err := s.Sum(s.Ctx, slots); err != nil { // of bits: the others have zeros there
			return err
		}
		for k := range all { // the next rank goes on, and all know what the last one has
			if g := t - k; g >= 0 && g < groups && (k+1 == rank || k == all-1) {
				copy(sums[g*width:min((g+1)*width, len(sums))], slot(k))
			}
		}
	}
	return s.Agree(failed)
}

// AllRows returns the rows of all n examples, of width numbers each, of which this rank has made
// its own; err is what it met on the way. All ranks call it; plain examples get own and err. The
// error is that of the first rank that has one.
func AllRows[T int32 | int64 | float32 | float64](at *Store, n int, own []T, width int,
	err error) ([]T, error) {
	s := at.Shared()
	if err := s.Agree(err); err != nil || s == nil {
		return own, err
	}
	rows := make([]T, n*width)
	copy(rows[s.From*width:], own)
	return rows, ranks.Gather(s.Ctx, s.Reducer, rows, width, s.Ends)
}
