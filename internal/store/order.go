package store

import (
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/ranks"
)

// InOrder makes sums of all examples in their order: add adds this rank's to sums from..to-1, which
// hold those before. Groups of sums, at multiples of step, go from rank to rank, so that all work
// at once. It asks all ranks; the error is the first rank's.
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

// AllRows returns rows of width numbers of all n examples; this rank made own, or met err.
// It asks all ranks.
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
