package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/engine/shard/mpi"
)

// Start runs a command line, without the program's name, and returns its exit code. Of several
// ranks all compute, rank 0 speaks and writes, and one that fails ends all. Ranks wait for no
// signal: ranks that each finished their step would not all finish the same.
func Start(args []string, stdout, stderr io.Writer) int {
	if app.Launch.Ranks == 1 {
		return untilSignal(args, stdout, stderr)
	}
	stderr = noTerminal{stderr} // or some ranks would behave as on a terminal
	said := stderr
	if app.Launch.Rank > 0 {
		folder, err := os.MkdirTemp("", "uma-gpu-rank-")
		if err != nil {
			fmt.Fprintf(stderr, "uma-gpu: rank %d: %v\n", app.Launch.Rank, err)
			return app.ExitFailure
		}
		defer os.RemoveAll(folder) // as far as it goes
		app.Scratch, stdout, said = folder, io.Discard, io.Discard
	}
	var err error
	if mpi.JoinFirst {
		err = app.JoinWorld()
	}
	if err == nil {
		err = execute(context.Background(), args, stdout, said)
	}
	if err == nil && app.World != nil {
		err = app.World.Finish()
	}
	if err != nil && app.Launch.Rank > 0 {
		time.Sleep(300 * time.Millisecond) // what all have found out rank 0 says, and ends them
	}
	if err != nil {
		fmt.Fprintf(stderr, "uma-gpu: rank %d of %d ends all: %v\n", app.Launch.Rank,
			app.Launch.Ranks, err)
		if app.World != nil {
			if mpi.JoinFirst {
				time.Sleep(100 * time.Millisecond) // its mpirun drops what it has not read when it ends all
			}
			os.RemoveAll(app.Scratch)
			app.World.Exit(app.ExitCode(err))
		}
	}
	return app.ExitCode(err)
}

// noTerminal is a writer that is not seen to be a terminal.
type noTerminal struct{ io.Writer }
