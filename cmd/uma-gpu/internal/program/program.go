// Package program has the table of commands, and runs a command line.
package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/calibrate"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/check"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/clean"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/convert"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/cv"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/devices"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/estimate"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/eval"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/export"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/info"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/inject"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/inspect"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/issues"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/learners"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/predict"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/query"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/report"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/split"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/synth"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/train"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/worker"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine/shard/mpi"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// stops are signals that end a command in order. A user may have it ignore others.
var stops = []os.Signal{syscall.SIGTERM}

// untilSignal is Start for one rank. The first SIGINT, SIGTERM or SIGHUP (the terminal closed) asks
// the command to end in order, the second kills the process.
func untilSignal(args []string, stdout, stderr io.Writer) int {
	// A reader that goes away (| head) is a write error like any other, not a
	// reason to die before the model is saved.
	signal.Ignore(syscall.SIGPIPE)
	last := stdout == io.Writer(os.Stdout) // the process ends with this run
	// What nohup, or a script for its command in the background, ignores stays ignored.
	signals := slices.Clone(stops)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	if !last { // else a late signal would change the exit code
		defer stop()
	}
	context.AfterFunc(ctx, stop)
	return Run(ctx, args, stdout, stderr)
}

// Run is Start with a context in place of signals, of one rank.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := execute(ctx, args, stdout, stderr)
	if err != nil {
		// nowhere to report an error of this
		fmt.Fprintf(stderr, "uma-gpu: %s\n", app.Legible(err.Error()))
	}
	return app.ExitCode(err)
}

// execute executes a command line and returns what went wrong.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	// The buffer keeps the first write error, so that commands need not look.
	m := app.NewMeter(stderr)
	defer m.Gone()
	out := bufio.NewWriterSize(app.StandardOutput{W: stdout, Meter: m}, 1<<16)
	top := New(out, m, args...)
	ctx = progress.With(ctx, m.Hear)
	top.Metadata = map[string]any{"args": args}
	err := dataset.Guard(func() error {
		if asksHelp(args) && args[len(args)-1] == "all" {
			args = args[:len(args)-1]
		}
		return top.RunContext(ctx, append([]string{"uma-gpu"}, fileLast(args)...))
	})
	if flushErr := out.Flush(); flushErr != nil && !errors.Is(err, flushErr) {
		err = errors.Join(err, flushErr)
	}
	return app.AdviseAudit(err)
}

// fileLast moves the table of a clean command line after the flags, where the cli package expects
// it.
func fileLast(args []string) []string {
	if len(args) < 3 || args[0] != "clean" || strings.HasPrefix(args[1], "-") && args[1] != "-" {
		return args
	}
	return append(slices.Concat(args[:1], args[2:]), args[1])
}

// New returns the program with new commands, with the flags of the learner that args name: the cli
// package keeps state in them.
func New(stdout, stderr io.Writer, args ...string) *cli.App {
	top := &cli.App{
		Name:     "uma-gpu",
		HelpName: "uma-gpu",
		Usage: "train classifiers from labels that are wrong in a known way, with the same bits on " +
			"every device",
		Version: app.Version,
		Description: `  uma-gpu info --data table.csv
  uma-gpu clean table.csv --label COLUMN
  uma-gpu train --data noisy.csv --confusion C.csv --model m.npz
  uma-gpu eval --model m.npz --data test.csv

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 no such device, 4 out of memory, 130 interrupted.`,
		Suggest: true, EnableBashCompletion: true,
		// A comma in the name of a file is part of it.
		DisableSliceFlagSeparator: true,

		Writer:         stdout,
		ErrWriter:      stderr,
		ExitErrHandler: func(*cli.Context, error) {}, // exitCode decides, and nothing exits on its own
		Action:         app.NeedCommand,
		Commands: slices.Concat(
			grouped("Train", train.New(train.Run), cv.New(cv.Run), query.New(query.Run),
				calibrate.New(calibrate.Run), learners.New(learners.Run)),
			grouped("Predict and judge", predict.New(predict.Run), eval.New(eval.Run),
				report.New(report.Run), inspect.New(inspect.Run), export.New(export.Run)),
			grouped("Find wrong labels", clean.New(clean.Run), issues.New(issues.Run), &cli.Command{
				Name:  "confusion",
				Usage: "estimate or check a confusion matrix, or corrupt labels by one",
				Subcommands: []*cli.Command{estimate.New(estimate.Run), inject.New(inject.Run),
					check.New(check.Run)},
			}),
			grouped("Data", info.New(info.Run), split.New(split.Run), convert.New(convert.Run),
				synth.New(synth.Run)),
			grouped("This machine and this program", devices.New(devices.Run),
				versionCommand(), completionCommand(), manCommand(),
				worker.New(worker.Run))),
	}
	top.OnUsageError = app.OnUsageError
	for _, c := range top.Commands {
		c.Flags = app.OfLearner(c.Flags, args)
		app.InstallChecks(c)
		if asksHelp(args) && args[len(args)-1] != "all" {
			app.Abridge(c)
		}
	}
	return top
}

// asksHelp reports whether a command line asks for help.
func asksHelp(args []string) bool {
	return slices.Contains(args, "--help") || slices.Contains(args, "-h") ||
		len(args) > 0 && args[0] == "help"
}

// grouped puts commands below a heading in help texts.
func grouped(heading string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = heading
	}
	return commands
}

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
