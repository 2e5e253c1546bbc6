// Command weights measures which way of UMA learns best: what a step corrects, what is
// doubted, which weights are kept. It corrupts the training labels of data sets in
// several ways, trains, and writes the errors on clean test labels as Markdown tables to
// stdout, its progress to stderr. docs/weights.md explains the tables.
//
//	go run ./bench/weights -data DIR > docs/weights-table.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0, 1 after a failure, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("weights", flag.ContinueOnError)
	flags.SetOutput(stderr)
	data := flags.String("data", "", "`folder` of the data sets (required)")
	device := flags.String("device", "opencl",
		"where to compute: opencl (the first device) or cpu; the figures are the same")
	steps := flags.Int("steps", 512, "largest number of updates of a run")
	seeds := flags.Int("seeds", 3, "average over label corruptions by the seeds 1 to `k`; large sets take fewer")
	names := flags.String("sets", "", "only these `sets`, a comma list; all if empty")
	kept := flags.String("log", "", "`file` of what was measured, from which an interrupted measurement goes on")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if *data == "" || *steps < 1 || *seeds < 1 || flags.NArg() > 0 || *device != "opencl" && *device != "cpu" {
		fmt.Fprintln(stderr, "weights: wanted -data FOLDER, -device opencl or cpu, "+
			"-steps and -seeds of at least 1, and nothing else")
		return 2
	}
	chosen, err := choose(*names)
	if err != nil {
		fmt.Fprintln(stderr, "weights:", err)
		return 2
	}
	all := job{ctx: ctx, dir: *data, steps: *steps, progress: stderr}
	if err := measure(all, chosen, *device, *kept, *seeds, stdout); err != nil {
		fmt.Fprintln(stderr, "weights:", err)
		return 1
	}
	return 0
}

// choose returns the sets of a comma list, in the order of sets.
func choose(names string) (chosen []set, err error) {
	if names == "" {
		return sets, nil
	}
	wanted := strings.Split(names, ",")
	for _, s := range sets {
		if i := slices.Index(wanted, s.name); i >= 0 {
			chosen, wanted = append(chosen, s), slices.Delete(wanted, i, i+1)
		}
	}
	if len(wanted) > 0 {
		return nil, fmt.Errorf("-sets: found %q, which is no set or named twice; sets.go lists them", wanted[0])
	}
	return chosen, nil
}

// measure measures some sets. The tables are written at the end.
func measure(j job, chosen []set, device, kept string, seeds int, stdout io.Writer) (err error) {
	if j.engine, err = open(device); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.engine.Close()) }()
	if j.log, err = openLog(kept); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.log.close()) }()
	t := table{steps: j.steps}
	for _, w := range ways {
		t.ways = append(t.ways, w.name)
	}
	for _, s := range chosen {
		a, cells, err := j.set(s, seeds)
		if err != nil {
			return fmt.Errorf("set %s: %w", s.name, err)
		}
		t.sets, t.cells = append(t.sets, a), append(t.cells, cells...)
	}
	_, err = io.WriteString(stdout, t.markdown())
	return err
}

// open returns the engine that -device names.
func open(device string) (engine.Engine, error) {
	if device == "cpu" {
		return simd.New(), nil
	}
	infos, err := gpu.Devices()
	if err != nil {
		return nil, fmt.Errorf("%w; -device cpu needs no OpenCL", err)
	}
	return gpu.Open(infos[0], gpu.Options{})
}
