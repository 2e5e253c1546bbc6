// Package mpi joins ranks that mpirun, or srun, has started, on one machine or many: it has a
// shard.Reducer of Open MPI or MPICH. It is thin on purpose: three collectives of MPI, errors that
// come back as errors, and a word when ranks do not do the same, or one of them does not come.
//
// Only a program built with -tags mpi is linked with MPI (-tags mpi,mpich with MPICH in the place
// of Open MPI); in others [Built] is false, and [Join] returns an error, never a Reducer that sums
// nothing.
package mpi

import (
	"errors"
	"os"
	"strconv"
)

// ErrNotBuilt is what Join returns in a program that was built without MPI.
var ErrNotBuilt = errors.New("this program was built without MPI; build it with -tags mpi")

// Launch is what the launcher has told a process of its place among the ranks.
type Launch struct {
	Rank, Ranks int
	Local       int // rank within its machine, by which it takes its own device
}

// launchers are the names in the environment of rank, ranks and local rank: of Open MPI, of
// MPICH's hydra, and of Slurm's PMI-2 and PMIx.
var launchers = [][3]string{
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
	{"PMI_RANK", "PMI_SIZE", "SLURM_LOCALID"},
	{"PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID"},
}

// Launched returns the place of this process, before MPI is begun: devices are chosen earlier,
// since MPI may open some by itself. Without a launcher it is the one rank.
func Launched() Launch { return launched(os.Getenv) }

func launched(get func(string) string) Launch {
	for _, names := range launchers {
		var n [3]int
		known := true
		for i, name := range names {
			v, err := strconv.Atoi(get(name))
			n[i], known = v, known && err == nil && v >= 0
		}
		if known && n[0] < n[1] {
			return Launch{Rank: n[0], Ranks: n[1], Local: n[2]}
		}
	}
	return Launch{Ranks: 1}
}
