//go:build mpi && cgo && mpich

package main

import "strings"

// launcher starts ranks of MPICH.
var launcher = []string{"mpirun.mpich"}

// rankVariable has the number of a rank in its environment.
const rankVariable = "PMI_RANK"

// blames reports whether mpirun has said that a process was killed: it does not say which, but the
// first of the ranks that it has then ended itself.
func blames(out string, _, _ int) bool { return strings.Contains(out, "BAD TERMINATION") }
