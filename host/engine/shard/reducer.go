package shard

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// Reducer joins ranks: processes, or goroutines, that run the same program on the same data.
// Each makes the same calls in the same order, with slices of the same length; a call returns
// when what all have given is there. The results are the same on all ranks.
//
// An error anywhere ends all: after one, the calls of each rank return errors, those under way
// included. A Reducer is used by one goroutine at a time, but for Abort.
type Reducer interface {
	// Rank returns the number of this rank, from 0, and how many there are.
	Rank() (rank, ranks int)

	// Sum replaces each number of v by its sum over all ranks, modulo 2^64.
	Sum(ctx context.Context, v []int64) error

	// Max replaces each number of v by its maximum over all ranks.
	Max(ctx context.Context, v []int64) error

	// Broadcast makes b the bytes that rank root has in its own.
	Broadcast(ctx context.Context, b []byte, root int) error

	// Barrier returns when all ranks have called it.
	Barrier(ctx context.Context) error

	// Abort ends all ranks because of err. It may return, or end the process.
	Abort(err error)
}

// Alone is the Reducer of a single rank.
var Alone Reducer = alone{}

type alone struct{}

func (alone) Rank() (rank, ranks int)                      { return 0, 1 }
func (alone) Sum(context.Context, []int64) error           { return nil }
func (alone) Max(context.Context, []int64) error           { return nil }
func (alone) Broadcast(context.Context, []byte, int) error { return nil }
func (alone) Barrier(context.Context) error                { return nil }
func (alone) Abort(error)                                  {}

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
	t := &remoteError{text: string(b)}
	if about[1] > 0 {
		t.kind = kinds[about[1]-1]
	}
	return fmt.Errorf("rank %d: %w", root, t)
}

// remoteError is the error of another rank.
type remoteError struct {
	text string
	kind error // nil if none of those known
}

func (t *remoteError) Error() string { return t.text }

func (t *remoteError) Unwrap() error { return t.kind }

// Gather fills rows of width numbers with the rows of each rank: rank k has rows
// ends[k]..ends[k+1]-1.
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
		len(list)*int(unsafe.Sizeof(*new(T))))
}
