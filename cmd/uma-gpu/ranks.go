package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/host/ranks/mpi"
)

var (
	// launch is the place of this process among those that mpirun or srun has started.
	launch = mpi.Launched()
	// world is all ranks, once they have met; nil before, and for a process by itself.
	world *mpi.World
	// traffic counts what goes through it.
	traffic *ranks.Meter
	// scratch is the folder for what ranks but the first write, which nobody wants; "" for rank 0.
	scratch string
)

// start is run, or what becomes of it for a rank of several: all compute, rank 0 speaks and writes,
// and one that fails ends all. Signals are not waited for: ranks that each finished their step would
// not all finish the same.
func start(args []string, stdout, stderr io.Writer) int {
	if launch.Ranks == 1 {
		return run(args, stdout, stderr)
	}
	stderr = noTerminal{stderr} // or what is done for a terminal would be done by some ranks
	said := stderr
	if launch.Rank > 0 {
		folder, err := os.MkdirTemp("", "uma-gpu-rank-")
		if err != nil {
			fmt.Fprintf(stderr, "uma-gpu: rank %d: %v\n", launch.Rank, err)
			return exitFailure
		}
		defer os.RemoveAll(folder) // as far as it goes
		scratch, stdout, said = folder, io.Discard, io.Discard
	}
	var err error
	if mpi.JoinFirst {
		err = joinWorld()
	}
	if err == nil {
		err = execute(context.Background(), args, stdout, said)
	}
	if err == nil && world != nil {
		err = world.Finish()
	}
	if err != nil && launch.Rank > 0 {
		time.Sleep(300 * time.Millisecond) // what all have found out rank 0 says, and ends them
	}
	if err != nil {
		fmt.Fprintf(stderr, "uma-gpu: rank %d of %d ends all: %v\n", launch.Rank, launch.Ranks, err)
		if world != nil {
			if mpi.JoinFirst {
				time.Sleep(100 * time.Millisecond) // its mpirun drops what it has not read when it ends all
			}
			os.RemoveAll(scratch)
			world.Exit(exitCode(err))
		}
	}
	return exitCode(err)
}

// noTerminal is a writer that is not seen to be a terminal.
type noTerminal struct{ io.Writer }

// ofRanks are the commands that several ranks may run together.
var ofRanks = []string{"train", "eval", "cv", "predict"}

// forRank has a rank but the first write to files of its own, once the files that the flags name are
// found to be writable.
func forRank(c *cli.Context) error {
	if launch.Ranks == 1 {
		return nil
	}
	if !slices.Contains(ofRanks, c.Command.Name) {
		return usagef(c, "this is rank %d of %d; several ranks run %s, and nothing else", launch.Rank, launch.Ranks,
			orList(ofRanks))
	}
	if scratch == "" {
		return nil
	}
	for _, f := range c.Command.Flags {
		if f, ok := f.(outputFlag); ok && c.String(f.Name) != "" && c.String(f.Name) != "-" {
			if err := c.Set(f.Name, filepath.Join(scratch, f.Name+filepath.Ext(c.String(f.Name)))); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofThisRank puts the number of this rank on its machine in the place of {rank} in the name of a
// device. Of the devices that auto tries, each rank of a machine has one, and those beyond them the
// processor: two ranks would each take all of a device's memory.
func (s *selection) ofThisRank() {
	if s.auto && launch.Ranks > 1 {
		s.try = s.try[min(launch.Local, len(s.try)):min(launch.Local+1, len(s.try))]
	}
}

func deviceOfRank(name string) string {
	return strings.ReplaceAll(name, "{rank}", strconv.Itoa(launch.Local))
}

// joinWorld begins MPI, unless it has begun.
func joinWorld() error {
	if world != nil {
		return nil
	}
	var err error
	world, err = mpi.Join(func(format string, args ...any) { fmt.Fprintf(os.Stderr, "uma-gpu: "+format+"\n", args...) })
	if err != nil {
		return fmt.Errorf("rank %d of %d: %w", launch.Rank, launch.Ranks, err)
	}
	if rank, all := world.Rank(); rank != launch.Rank || all != launch.Ranks {
		return fmt.Errorf("rank %d of %d: MPI says rank %d of %d; start the program by the mpirun of the MPI that it "+
			"is built with", launch.Rank, launch.Ranks, rank, all)
	}
	traffic = ranks.NewMeter(world)
	return nil
}

// trafficOfRanks is what rank 0 has had added up and sent so far, nil for a process by itself.
func trafficOfRanks() *ranks.Traffic {
	if traffic == nil {
		return nil
	}
	t := traffic.Traffic()
	return &t
}

// shareReading has all ranks, if there are several, read path together by o, each its own examples.
func shareReading(path string, o *dataset.Options) error {
	if launch.Ranks == 1 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // which Read says better
	}
	if err := joinWorld(); err != nil {
		return err
	}
	program, err := programHash()
	if err != nil {
		return err
	}
	what := fmt.Sprint(info.Size(), o.Format, o.Storage, o.LabelColumn, o.Header, o.Ignore, o.Labels != "", o.Trust,
		o.Separator, o.DecimalComma, o.IDColumn, o.Encode, o.SkipBad, o.MaxErrors)
	o.Ranks = traffic
	return compareIdentities(world, identity{program, contract.Version, hash64(what)})
}

// joinRanks makes one engine of those of all ranks.
func (d *device) joinRanks(engines []engine.Engine, shares []int, w work) (engine.Engine, error) {
	if err := joinWorld(); err != nil {
		return nil, err
	}
	if err := d.compareRanks(w); err != nil {
		return nil, err
	}
	return shard.Ranks(context.Background(), traffic, engines, shares)
}

// compareRanks returns an error unless all ranks run the same program on the same data.
func (d *device) compareRanks(w work) error {
	program, err := programHash()
	if err != nil {
		return err
	}
	return compareIdentities(world, identity{program, contract.Version, hash64(fmt.Sprint(d.data, w))})
}

// identity is what all ranks have to agree on: hashes of the program and of the data, with what is to be done
// with them, and between them the version of the contract.
type identity [3]int64

// compareIdentities returns an error that names the first rank whose identity is not that of rank 0.
func compareIdentities(r ranks.Reducer, mine identity) error {
	rank, all := r.Rank()
	table := make([]int64, all*len(mine))
	copy(table[rank*len(mine):], mine[:])
	if err := r.Sum(context.Background(), table); err != nil {
		return err
	}
	what := [len(mine)]string{"another program", "another version of the contract", "other data"}
	for i := range table {
		if rank := i / len(mine); table[i] != table[i%len(mine)] {
			return fmt.Errorf("rank %d has %s than rank 0, wanted the same: %w", rank, what[i%len(mine)], ranks.ErrDiffers)
		}
	}
	return nil
}

// programHash returns a hash of the program's file, which does not change while it runs.
var programHash = sync.OnceValues(func() (_ int64, err error) {
	path, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find the program's file, to compare it with other ranks': %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(h.Sum(nil))), nil
})

func hash64(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return int64(binary.LittleEndian.Uint64(sum[:]))
}
