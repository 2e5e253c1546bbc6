package app

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/engine/shard/mpi"
)

var (
	// Launch is the place of this process among the processes of mpirun or srun.
	Launch = mpi.Launched()
	// World is all ranks, once they have met; nil before, and for a process by itself.
	World *mpi.World
	// Scratch is the folder for the outputs of ranks but the first, to be deleted; "" for rank 0.
	Scratch string
)

// ofRanks are the commands that several ranks may run together.
var ofRanks = []string{"train", "eval", "cv", "predict"}

// forRank has a rank but the first write to files of its own, once the files that the flags name
// are found to be writable.
func forRank(c *cli.Context) error {
	if Launch.Ranks == 1 {
		return nil
	}
	if !slices.Contains(ofRanks, c.Command.Name) {
		return Usage("this is rank %d of %d; several ranks run %s, and nothing else", Launch.Rank,
			Launch.Ranks, OrList(ofRanks))
	}
	if Scratch == "" {
		return nil
	}
	for _, f := range c.Command.Flags {
		if f, ok := f.(FileFlag); ok && f.Written && c.String(f.Name) != "" && c.String(f.Name) != "-" {
			mine := filepath.Join(Scratch, f.Name+filepath.Ext(c.String(f.Name)))
			if err := c.Set(f.Name, mine); err != nil {
				return err
			}
		}
	}
	return nil
}

// JoinWorld begins MPI, unless it has begun.
func JoinWorld() error {
	if World != nil {
		return nil
	}
	var err error
	World, err = mpi.Join(func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "uma-gpu: "+format+"\n", args...)
	})
	if err != nil {
		return fmt.Errorf("rank %d of %d: %w", Launch.Rank, Launch.Ranks, err)
	}
	if rank, all := World.Rank(); rank != Launch.Rank || all != Launch.Ranks {
		return fmt.Errorf("rank %d of %d: MPI says rank %d of %d; start the program by the mpirun of "+
			"the MPI that it is built with", Launch.Rank, Launch.Ranks, rank, all)
	}
	return nil
}

// agree returns an error unless all ranks run the same program on the same data.
func agree(data string) error {
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program's file, to compare it with other ranks': %w", err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return compareIdentities(World, identity{hash64(program), contract.Version, hash64([]byte(data))})
}

// identity is what all ranks have to agree on: hashes of the program and of the data, with what is
// to be done with them, and between them the version of the contract.
type identity [3]int64

// compareIdentities returns an error that names the first rank whose identity differs from rank
// 0's.
func compareIdentities(r shard.Reducer, mine identity) error {
	rank, all := r.Rank()
	table := make([]int64, all*len(mine))
	copy(table[rank*len(mine):], mine[:])
	if err := r.Sum(context.Background(), table); err != nil {
		return err
	}
	what := [len(mine)]string{"another program", "another version of the contract", "other data"}
	for i := range table {
		if rank := i / len(mine); table[i] != table[i%len(mine)] {
			return fmt.Errorf("rank %d has %s than rank 0, wanted the same: %w", rank, what[i%len(mine)],
				shard.ErrDiffers)
		}
	}
	return nil
}

func hash64(data []byte) int64 {
	sum := sha256.Sum256(data)
	return int64(binary.LittleEndian.Uint64(sum[:]))
}
