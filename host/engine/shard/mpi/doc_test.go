package mpi

import "testing"

// TestLaunched: each launcher tells ranks in words of its own; what is not whole is no launcher.
func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Launch
	}{
		{nil, Launch{Ranks: 1}},
		{map[string]string{"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8",
			"OMPI_COMM_WORLD_LOCAL_RANK": "1"}, Launch{3, 8, 1}},
		{map[string]string{"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0"}, Launch{1, 2, 0}},
		{map[string]string{"PMI_RANK": "1", "PMI_SIZE": "2", "SLURM_LOCALID": "1"}, Launch{1, 2, 1}},
		{map[string]string{"PMIX_RANK": "5", "SLURM_NTASKS": "6", "SLURM_LOCALID": "2"}, Launch{5, 6, 2}},
		{map[string]string{"SLURM_NTASKS": "6", "SLURM_LOCALID": "2"}, Launch{Ranks: 1}},
		{map[string]string{"PMI_RANK": "2", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0"}, Launch{Ranks: 1}},
		{map[string]string{"PMI_RANK": "x", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0"}, Launch{Ranks: 1}},
	} {
		if got := launched(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: found %+v, want %+v", c.env, got, c.want)
		}
	}
}
