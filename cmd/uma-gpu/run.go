package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// stops are signals that end a command in order, beside those that a user may have it ignore.
var stops = []os.Signal{syscall.SIGTERM}

// run executes one command line, without the program's name, and returns the
// exit code. The first SIGINT, SIGTERM or SIGHUP (the terminal closed) asks the
// command to end in order, the second kills the process.
func run(args []string, stdout, stderr io.Writer) int {
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
	if !last { // else a signal would end what is done already, and take its exit code away
		defer stop()
	}
	context.AfterFunc(ctx, stop)
	return runContext(ctx, args, stdout, stderr)
}

// runContext is run with a context in place of the signals.
func runContext(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := execute(ctx, args, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "uma-gpu: %s\n", legible(err.Error())) // if that fails there is nobody to tell
	}
	return exitCode(err)
}

// execute executes a command line and returns what went wrong.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	// The buffer keeps the first write error; nobody below has to look.
	m := newMeter(stderr)
	defer m.gone()
	out := screen{bufio.NewWriterSize(standardOutput{stdout, m}, 1<<16), columnsOf(stdout)}
	app := newApp(out, m)
	ctx = progress.With(ctx, m)
	app.Metadata = map[string]any{"args": args}
	err := dataset.Guard(func() error { return app.RunContext(ctx, append([]string{"uma-gpu"}, args...)) })
	if flushErr := out.Flush(); flushErr != nil && !errors.Is(err, flushErr) {
		err = errors.Join(err, flushErr)
	}
	return adviseDevice(err)
}

// standardOutput says in its errors what could not be written to. It may be the terminal that progress is drawn on.
type standardOutput struct {
	w     io.Writer
	meter *meter
}

func (o standardOutput) Write(b []byte) (int, error) {
	o.meter.gone()
	n, err := o.w.Write(b)
	if err != nil {
		err = fmt.Errorf("write to standard output: %w", err)
	}
	return n, err
}

// newApp builds the commands afresh: the cli package keeps state in them.
func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:     "uma-gpu",
		HelpName: "uma-gpu",
		Usage:    "train classifiers from labels that are wrong in a known way, with the same bits on every device",
		Version:  version,
		Description: "A typical run: corrupt, train, judge.\n\n" +
			"  uma-gpu confusion inject --data train.csv --pairwise 0.4 --out noisy.csv --write-confusion C.csv\n" +
			"  uma-gpu train --data noisy.csv --confusion C.csv --model m.npz\n" +
			"  uma-gpu eval  --model m.npz --data test.csv\n\n" +
			"Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no such device, 4 does not fit in memory, 130 interrupted.",
		Suggest: true, EnableBashCompletion: true,
		// A comma in the name of a file is part of it.
		DisableSliceFlagSeparator: true,

		Writer:         stdout,
		ErrWriter:      stderr,
		ExitErrHandler: func(*cli.Context, error) {}, // exitCode decides, and nothing exits on its own
		Action:         needCommand,
		Commands: []*cli.Command{
			trainCommand(), bootstrapCommand(), predictCommand(), evalCommand(), cvCommand(), compareCommand(),
			issuesCommand(), reportCommand(), verifyCommand(), queryCommand(), calibrateCommand(), inspectCommand(),
			exportCommand(), importCommand(), serveCommand(), confusionCommand(), learnersCommand(),
			infoCommand(), splitCommand(), convertCommand(), synthCommand(), kpcaCommand(),
			kernelmeanCommand(), compressCommand(), benchCommand(), devicesCommand(), versionCommand(),
			doctorCommand(), completionCommand(), manCommand(),
		},
	}
	app.OnUsageError = onUsageError
	for _, c := range app.Commands {
		mendUsage(c)
	}
	return app
}

// mendUsage gives a command and those below it what the cli package does not
// hand down, the check of its files, and whole numbers that may be written like 1e6.
func mendUsage(c *cli.Command) {
	c.OnUsageError = onUsageError
	for k, f := range c.Flags {
		if whole, ok := f.(*cli.IntFlag); ok {
			c.Flags[k] = countFlag{whole}
		}
	}
	if len(c.Subcommands) == 0 {
		c.HideHelpCommand = true // a word after a command is never a help topic
		action := c.Action
		c.Action = func(c *cli.Context) error {
			if err := checkFiles(c); err != nil {
				return err
			}
			if err := forRank(c); err != nil {
				return err
			}
			forPeople(c)
			if m, ok := c.App.ErrWriter.(*meter); ok {
				m.still(c.Bool("quiet"), c.Bool("verbose"))
			}
			return action(c)
		}
		return
	}
	c.Action = needCommand
	for _, s := range c.Subcommands {
		mendUsage(s)
	}
}
