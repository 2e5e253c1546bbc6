//go:build mpi && cgo && mpich

package main

// launcher starts ranks of MPICH.
var launcher = []string{"mpirun.mpich"}

// rankVariable has the number of a rank in its environment.
const rankVariable = "PMI_RANK"
