// Command reading measures how long it takes to read a data file, its content
// hash included. It reads the file several times, on one processor and on all,
// and prints the median of each: the number of processors, the seconds.
// bench/peers/reading.sh compares it with scikit-learn.
//
//	go run ./bench/reading -n 5 train.svm
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0, 1 after a failure, 2 for wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("reading", flag.ContinueOnError)
	flags.SetOutput(stderr)
	times := flags.Int("n", 5, "how `often` to read the file with each number of processors")
	labels := flags.String("labels", "", "the labels, in a `file` of their own")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() != 1 || *times < 1 {
		fmt.Fprintln(stderr, "reading: wanted one file, and -n of at least 1")
		return 2
	}
	for _, processors := range []int{1, runtime.NumCPU()} {
		seconds, err := measure(flags.Arg(0), dataset.Options{Labels: *labels}, processors, *times)
		if err != nil {
			fmt.Fprintln(stderr, "reading:", err)
			return 1
		}
		fmt.Fprintf(stdout, "%d %.4f\n", processors, seconds)
	}
	return 0
}

// measure returns the median of the seconds that n readings take.
func measure(path string, o dataset.Options, processors, n int) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	var seconds []float64
	for range n {
		runtime.GC() // so that a reading does not pay for the one before
		start := time.Now()
		if _, err := dataset.Read(context.Background(), path, o); err != nil {
			return 0, err
		}
		seconds = append(seconds, time.Since(start).Seconds())
	}
	slices.Sort(seconds)
	return seconds[n/2], nil
}
