//go:build unix && (!mpi || !cgo)

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

// TestRanksWithoutMPI: a program that mpirun starts but that knows no MPI trains nothing, where it
// would train the same model on each rank, all into one file.
func TestRanksWithoutMPI(t *testing.T) {
	dir := t.TempDir()
	c := processOf(t, "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1",
		"train", "--data", synthetic(t, dir), "--model", filepath.Join(dir, "m.npz"))
	out, err := c.CombinedOutput()
	if exitOf(t, err) != app.ExitFailure || !strings.Contains(string(out), "rank 1 of 2") ||
		!strings.Contains(string(out), "build it with -tags mpi") {
		t.Errorf("%v: %s", err, out)
	}
	if found := names(t, dir); len(found) != 1 {
		t.Errorf("found the files %v", found)
	}
}
