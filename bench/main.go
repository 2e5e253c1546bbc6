// Command bench measures what the pages of docs/ tell, and prints tables in Markdown or JSON
// lines.
//
//	go run ./bench WHAT [FLAG...]
//
// Without arguments it lists the measurements.
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
)

// measurement is a subcommand.
type measurement struct {
	name, usage string
	run         func(context.Context, *call) error
}

// measurements returns all subcommands. A new one adds a line here.
func measurements() []measurement {
	return []measurement{
		{"learners", "learners × noises × sets: the tables of docs/learners.md", contestLearners},
		{"weights", "steps, doubts and weights of UMA: docs/weights-table.md", contestWeights},
		{"estimators", "estimates of C from noisy labels: docs/confusion.md", estimators},
		{"crowds", "labels of crowds beside known answers: docs/confusion.md", crowds},
		{"issues", "wrong labels found, beside the rule of cleanlab: docs/judging.md", issues},
		{"kpca", "kernel principal components, timed, for bench/peers/kpca.py", components},
		{"predict", "rows a second that the library predicts, for bench/serve.sh", predict},
	}
}

// call holds the arguments and the streams of a subcommand.
type call struct {
	flags          *flag.FlagSet
	args           []string
	stdout, stderr io.Writer
}

// errUsage is wrapped by errors about the command line.
var errUsage = errors.New("usage")

// parse reads the flags. It demands n arguments and a value for each flag of required.
func (c *call) parse(n int, required ...string) error {
	err := c.flags.Parse(c.args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err == nil && c.flags.NArg() != n {
		err = fmt.Errorf("arguments: got %q, want %d", c.flags.Args(), n)
	}
	for _, name := range required {
		if err == nil && c.flags.Lookup(name).Value.String() == "" {
			err = fmt.Errorf("-%s is missing", name)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return nil
}

// note tells what goes on.
func (c *call) note(format string, args ...any) { fmt.Fprintf(c.stderr, format+"\n", args...) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// start returns the exit code: 0, 1 after a failure, 2 for wrong usage, 130 after an interrupt.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	all, name := measurements(), ""
	if len(args) > 0 {
		name = args[0]
	}
	k := slices.IndexFunc(all, func(m measurement) bool { return m.name == name })
	if k < 0 {
		fmt.Fprintln(stderr, "usage: bench WHAT [-help] [FLAG...]")
		for _, m := range all {
			fmt.Fprintf(stderr, "  %-10s  %s\n", m.name, m.usage)
		}
		return 2
	}
	c := &call{flag.NewFlagSet(name, flag.ContinueOnError), args[1:], stdout, stderr}
	c.flags.SetOutput(stderr)
	err := all[k].run(ctx, c)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 2
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "%s: interrupted; with -results the same command goes on\n", name)
		return 130
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	return 1
}

// head returns the first two lines of a Markdown table. Columns named with a leading > are aligned
// right.
func head(columns ...string) string {
	names, rule := "", ""
	for _, c := range columns {
		name, right := strings.CutPrefix(c, ">")
		names += "| " + name + " "
		if right {
			rule += "|--:"
		} else {
			rule += "|---"
		}
	}
	return names + "|\n" + rule + "|\n"
}

// line returns a line of a Markdown table.
func line(cells ...any) string {
	text := ""
	for _, c := range cells {
		text += fmt.Sprintf("| %v ", c)
	}
	return text + "|\n"
}
