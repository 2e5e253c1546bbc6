//go:build mpi && cgo && mpich

package mpi

// #cgo pkg-config: mpich
import "C"

// JoinFirst says that a rank has to join before anything can go wrong: the mpirun of this MPI ends
// all when one ends with an error, but not before that one has joined, and the others would wait
// for it for ever.
const JoinFirst = true
