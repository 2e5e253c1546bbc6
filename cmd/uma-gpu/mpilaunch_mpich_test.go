//go:build mpi && cgo && mpich

package main

import (
	"fmt"
	"strings"
)

// launcher starts ranks of MPICH.
var launcher = []string{"mpirun.mpich"}

// rankVariable has the number of a rank in its environment.
const rankVariable = "PMI_RANK"

// blames reports whether mpirun has said which process was killed, and where: it does not say which rank that was.
func blames(out string, _, pid int) bool {
	return strings.Contains(out, fmt.Sprintf("PID %d RUNNING AT", pid))
}
