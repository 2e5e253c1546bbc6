// Package ranks joins ranks: processes, or goroutines, that run the same program on the same data,
// mostly one for each machine. [Reducer] is what joins them, such as MPI (package mpi below this
// one); [NewGroup] joins goroutines.
package ranks

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

// Alone is the Reducer of a single rank.
type Alone struct{}

// Rank returns 0 of 1.
func (Alone) Rank() (rank, ranks int) { return 0, 1 }

// Sum leaves v as it is.
func (Alone) Sum(context.Context, []int64) error { return nil }

// Max leaves v as it is.
func (Alone) Max(context.Context, []int64) error { return nil }

// Broadcast leaves b as it is.
func (Alone) Broadcast(context.Context, []byte, int) error { return nil }

// Barrier returns at once.
func (Alone) Barrier(context.Context) error { return nil }

// Abort does nothing.
func (Alone) Abort(error) {}
