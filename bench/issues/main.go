// Command issues measures how well wrong labels are found: by uma-gpu issues and by the rule of
// cleanlab, on the same probabilities. It reads two files of the same examples, one with noisy
// labels and one with right ones, and writes rows of a Markdown table to stdout, its progress to
// stderr. C is that of the labels. bench/issues.sh makes the files; docs/judging.md has the tables.
//
//	go run ./bench/issues -noisy noisy.npz -right right.npz -kernel rbf
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0, 1 after a failure, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("issues", flag.ContinueOnError)
	flags.SetOutput(stderr)
	noisy := flags.String("noisy", "", "`file` of the examples with noisy labels (required)")
	right := flags.String("right", "", "`file` of the same examples with right labels (required)")
	name := flags.String("name", "", "`name` of the set in the table")
	withKernel := flags.Bool("rbf", false, "learn in components of the kernel function rbf")
	first := flags.Int("first", 0, "only the first `n` examples; all if 0")
	folds := flags.Int("folds", 5, "hold out `k` parts in turn")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || *noisy == "" || *right == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "issues: wanted -noisy FILE and -right FILE, and flags alone")
		return 2
	}
	d, truth, err := read(ctx, *noisy, *right)
	if err == nil {
		if n := *first; n > 0 && n < d.N {
			d.Examples, d.Y, truth = d.Part(0, n), d.Y[:n], truth[:n]
		}
		o := host.Options{Engine: simd.New(), Seed: 1, Watch: host.Watch{Note: func(format string, args ...any) {
			fmt.Fprintf(stderr, format+"\n", args...)
		}}}
		if *withKernel {
			o.Kernel = &fitting.Options{Function: kernel.Function{Kind: kernel.RBF}}
		}
		var list []result
		if list, err = measure(ctx, d, truth, o, *folds); err == nil {
			for _, r := range list {
				fmt.Fprintf(stdout, "| %s | %s | %d | %d | %.4f | %.4f | %.4f |\n", *name, r.rule, r.flagged, r.found,
					r.precision(), r.recall(), r.f1())
			}
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "issues:", err)
		return 1
	}
	return 0
}

// read reads examples with noisy labels, and the right ones of the same.
func read(ctx context.Context, noisy, right string) (*dataset.Dataset, []int32, error) {
	d, err := dataset.Read(ctx, noisy, dataset.Options{})
	if err != nil {
		return nil, nil, err
	}
	r, err := dataset.Read(ctx, right, dataset.Options{Classes: d.Classes})
	if err != nil {
		return nil, nil, err
	}
	if r.N != d.N {
		return nil, nil, fmt.Errorf("%s has %d examples, %s %d; wanted the same", noisy, d.N, right, r.N)
	}
	return d, r.Y, nil
}

// counted returns the confusion matrix of the labels.
func counted(classes []string, noisy, right []int32) (*confusion.Matrix, error) {
	q := len(classes)
	m, of := &confusion.Matrix{Classes: classes, P: make([]float64, q*q)}, make([]float64, q)
	for i, y := range noisy {
		m.P[int(y)*q+int(right[i])]++
		of[right[i]]++
	}
	for i := range m.P {
		m.P[i] /= of[i%q]
	}
	return m, m.Check()
}
