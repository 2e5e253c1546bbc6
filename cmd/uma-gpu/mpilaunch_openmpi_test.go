//go:build mpi && cgo && !mpich

package main

// launcher starts ranks of Open MPI, more than there are processors, also as root.
var launcher = []string{"mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"}

// rankVariable has the number of a rank in its environment.
const rankVariable = "OMPI_COMM_WORLD_RANK"
