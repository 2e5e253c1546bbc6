//go:build mpi && cgo && !mpich

package mpi

// #cgo pkg-config: ompi-c
import "C"

// JoinFirst says that a rank has to join before anything can go wrong: the mpirun of some MPI
// would leave the others waiting.
const JoinFirst = false
