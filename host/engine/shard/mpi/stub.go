//go:build !mpi || !cgo

package mpi

import "github.com/uma-gpu/uma-gpu/host/engine/shard"

// JoinFirst says that a rank has to join before anything can go wrong: the mpirun of some MPI
// would leave the others waiting.
const JoinFirst = false

// Built says whether this program is linked with MPI.
const Built = false

// World is all ranks; it cannot be joined without MPI.
type World struct{ shard.Reducer }

// Join returns ErrNotBuilt.
func Join(func(format string, args ...any)) (*World, error) { return nil, ErrNotBuilt }

// Exit does nothing.
func (*World) Exit(code int) {}

// Finish returns ErrNotBuilt.
func (*World) Finish() error { return ErrNotBuilt }
