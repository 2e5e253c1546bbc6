package ranks

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// ErrDiffers is what operations return whose ranks do not work on the same: another program, other
// data, other options.
var ErrDiffers = errors.New("ranks work with different numbers")

// Agree returns nil if err is nil on all ranks, else the error of the first rank that has one: its
// own on that rank, and on the others one with its number and its text, which wraps the first of
// kinds that it wraps. All ranks give the same kinds.
func Agree(ctx context.Context, r Reducer, err error, kinds ...error) error {
	rank, all := r.Rank()
	if all == 1 {
		return err
	}
	first := []int64{-int64(all)}
	if err != nil {
		first[0] = -int64(rank)
	}
	if e := r.Max(ctx, first); e != nil {
		return errors.Join(err, e)
	}
	root := int(-first[0])
	if root == all {
		return nil
	}
	about, text := []int64{0, 0}, "" // the text's length, and 1 + the index of the kind or 0
	if root == rank {
		text = err.Error()
		about[0] = int64(len(text))
		for k := len(kinds) - 1; k >= 0; k-- {
			if errors.Is(err, kinds[k]) {
				about[1] = int64(k) + 1
			}
		}
	}
	if e := r.Sum(ctx, about); e != nil {
		return errors.Join(err, e)
	}
	b := make([]byte, about[0])
	copy(b, text)
	if e := r.Broadcast(ctx, b, root); e != nil {
		return errors.Join(err, e)
	}
	if root == rank {
		return err
	}
	t := &told{text: string(b)}
	if about[1] > 0 {
		t.kind = kinds[about[1]-1]
	}
	return fmt.Errorf("rank %d: %w", root, t)
}

// told is the error of another rank.
type told struct {
	text string
	kind error // nil if none of those known
}

func (t *told) Error() string { return t.text }

func (t *told) Unwrap() error { return t.kind }

// Gather fills rows of width numbers with those of each rank: rank k has rows ends[k]..ends[k+1]-1.
func Gather[T int32 | int64 | float32 | float64](
	ctx context.Context, r Reducer, rows []T, width int, ends []int) error {
	_, all := r.Rank()
	if all == 1 {
		return nil
	}
	for rank := range all {
		part := rows[ends[rank]*width : ends[rank+1]*width]
		if len(part) == 0 {
			continue
		}
		if err := r.Broadcast(ctx, bytesOf(part), rank); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf returns the memory of list.
func bytesOf[T int32 | int64 | float32 | float64](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))),
		len(list)*int(unsafe.Sizeof(list[0])))
}
