// Command papers repeats the experiments of papers and prints rows of numbers beside those of the
// paper, or draws such rows.
//
//	build/papers fig1a -out fig1a.jsonl
//	build/papers plot -rows fig1a.jsonl -picture fig1a.svg
//
// make papers builds it. Without arguments it lists the experiments.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/uma-gpu/uma-gpu/bench/chart"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// errUsage is wrapped by errors about the command line.
var errUsage = errors.New("usage")

// start returns the exit code: 0, 1 after a failure, 2 for wrong usage, 130 after an interrupt.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := command(ctx, args, stdout, stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, "papers:", err)
		return 2
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "papers: interrupted before all rows were known")
		return 130
	}
	fmt.Fprintln(stderr, "papers:", err)
	return 1
}

// command makes the experiment, or the picture, that the arguments ask for.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		fmt.Fprintln(stderr, "usage: papers NAME [-help] [FLAG...]\n\nplot: draw the rows of an "+
			"experiment")
		for _, e := range experiments {
			fmt.Fprintf(stderr, "%s: %s\n", e.Name, e.Usage)
		}
		return fmt.Errorf("%w: the name of an experiment is missing", errUsage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	if args[0] == "plot" {
		return plotRows(flags, args[1:])
	}
	if e := find(args[0]); e != nil {
		return e.command(ctx, flags, args[1:], stdout, stderr)
	}
	return fmt.Errorf("%w: unknown experiment %q", errUsage, args[0])
}

// find returns nil for no experiment of this version.
func find(name string) *experiment {
	for _, e := range experiments {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// parse reads flags and refuses arguments that are none.
func parse(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("got %q, want flags alone", flags.Arg(0))
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		err = fmt.Errorf("%w: %w", errUsage, err)
	}
	return err
}

func (e *experiment) command(ctx context.Context, flags *flag.FlagSet, args []string,
	stdout, stderr io.Writer) (err error) {
	var o options
	flags.IntVar(&o.Runs, "runs", 10, "repeat all `R` times, at least 2, with other random numbers")
	flags.Uint64Var(&o.Seed, "seed", 1,
		"seed of the first run; the next runs have the numbers after it")
	flags.StringVar(&o.DataDir, "data-dir", "", "`FOLDER` with a folder of each data set")
	sets := flags.String("sets", "", "comma `LIST` of data sets: "+strings.Join(e.Sets, ","))
	out := flags.String("out", "-", "`FILE` to write, JSON lines; - for standard output")
	quiet := flags.Bool("quiet", false, "say nothing while it works")
	name := flags.String("device", "cpu", "compute on `NAME`: cpu, cpu:plain or "+
		"opencl (the first OpenCL device); the bits are the same")
	flags.Usage = func() {
		fmt.Fprintf(stderr, "%s.\n\n%s\n\nEach row is a JSON object: the mean of the runs, its standard "+
			"error, each run, and the paper's "+
			"value.\nThe same flags give the same bytes on every device.\n\n", e.Paper, e.About)
		flags.PrintDefaults()
	}
	if err := parse(flags, args); err != nil {
		return err
	}
	if *sets != "" {
		o.Sets = strings.Split(*sets, ",")
	}
	if e.Sets != nil && o.DataDir == "" {
		return fmt.Errorf("%w: -data-dir is missing", errUsage)
	}
	if !*quiet {
		o.Note = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	}
	if o.Engine, err = openEngine(*name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Engine.Close()) }()
	write := func(w io.Writer) error {
		lines := json.NewEncoder(w)
		return perform(ctx, e, o, func(r Row) error { return lines.Encode(r) })
	}
	if *out != "-" {
		return osfile.Write(*out, write)
	}
	return write(stdout)
}

func plotRows(flags *flag.FlagSet, args []string) error {
	path := flags.String("rows", "", "`FILE` of rows (required)")
	out := flags.String("picture", "", "`FILE` to write, .svg or .png (required)")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *path == "" {
		return fmt.Errorf("%w: -rows is missing", errUsage)
	}
	if chart.Format(*out) == "" {
		return fmt.Errorf("%w: -picture: got %q, want a name that ends in .svg or .png", errUsage, *out)
	}
	rows, err := readRows(*path)
	if err != nil {
		return err
	}
	p, err := picture(rows)
	if err != nil {
		return fmt.Errorf("%s: %w", *path, err)
	}
	return chart.Save(*out, p)
}

// openEngine returns the engine of a name.
func openEngine(name string) (*engine.Engine, error) {
	switch name {
	case "cpu":
		return simd.New(), nil
	case "cpu:plain":
		return cpuref.New(), nil
	case "opencl":
		all, err := gpu.Devices()
		if err != nil {
			return nil, fmt.Errorf("opencl: %w (the device cpu needs no OpenCL)", err)
		}
		return gpu.Open(all[0], gpu.Options{})
	}
	return nil, fmt.Errorf("device: unknown name: got %q, want cpu, cpu:plain or opencl", name)
}
