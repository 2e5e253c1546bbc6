package shard

import "context"

// Reducer joins ranks: processes, or goroutines, that run the same program on the same data.
// Each makes the same calls in the same order, with slices of the same length; a call returns
// when what all have given is there. The results are the same on all ranks.
//
// An error anywhere ends all: after one, the calls of each rank return errors, those under way
// included. A Reducer is used by one goroutine at a time, but for Abort.
type Reducer interface {
	// Rank returns the number of this rank, from 0, and how many there are.
	Rank() (rank, ranks int)

	// Sum makes each number of v the sum of those of all ranks, modulo 2^64.
	Sum(ctx context.Context, v []int64) error

	// Max makes each number of v the largest of those of all ranks.
	Max(ctx context.Context, v []int64) error

	// Broadcast makes b the bytes that rank root has in its own.
	Broadcast(ctx context.Context, b []byte, root int) error

	// Barrier returns when all ranks have called it.
	Barrier(ctx context.Context) error

	// Abort ends all ranks because of err. It may return, or end the process.
	Abort(err error)
}

// alone is the Reducer of a single rank.
type alone struct{}

func (alone) Rank() (rank, ranks int)                      { return 0, 1 }
func (alone) Sum(context.Context, []int64) error           { return nil }
func (alone) Max(context.Context, []int64) error           { return nil }
func (alone) Broadcast(context.Context, []byte, int) error { return nil }
func (alone) Barrier(context.Context) error                { return nil }
func (alone) Abort(error)                                  {}
