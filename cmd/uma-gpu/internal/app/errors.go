package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// The exit codes.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitNoDevice    = 3
	ExitMemory      = 4
	ExitInterrupted = 130 // what shells report for a program killed by Ctrl-C
)

// ErrNoSuchDevice marks a device that does not exist or is ambiguous.
var ErrNoSuchDevice = errors.New("no such device")

// ErrInterrupted marks a command that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// UsageError is a wrong command line.
type UsageError struct {
	Problem string
	Command string // whose --help to see, "uma-gpu train"; Action fills it in
}

func (e *UsageError) Error() string {
	if e.Command == "" {
		return e.Problem
	}
	return e.Problem + "; see " + e.Command + " --help"
}

// Usage returns a usage error.
func Usage(format string, args ...any) error {
	return &UsageError{Problem: fmt.Sprintf(format, args...)}
}

// NotAllowed returns the usage error of a flag whose value is none of the allowed.
func NotAllowed(flag, got string, allowed ...string) error {
	return Usage("--%s is %q, wanted %s", flag, got, OrList(allowed))
}

// Missing returns the usage error of a flag that is not given.
func Missing(flag string) error { return Usage("--%s is missing", flag) }

// OfCommand fills the command into a usage error.
func OfCommand(c *cli.Context, err error) error {
	if usage := new(UsageError); errors.As(err, &usage) && usage.Command == "" {
		usage.Command = c.Command.HelpName
	}
	return err
}

// OnUsageError returns the usage error for an error of the cli package's flag parser.
func OnUsageError(c *cli.Context, err error, _ bool) error {
	words, _ := c.App.Metadata["args"].([]string)
	known := []string{"help", "h"}
	for _, f := range c.Command.Flags {
		known = append(known, f.Names()...)
	}
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		_, err := strconv.ParseFloat(word, 64)
		if name != word && name != "" && err != nil && !slices.Contains(known, name) {
			return OfCommand(c, Usage("unknown flag %s, did you mean %s?", word,
				cli.SuggestFlag(c.Command.Flags, name, true)))
		}
	}
	return OfCommand(c, Usage("%v", err))
}

// NeedCommand is the action of a command that has only subcommands.
func NeedCommand(c *cli.Context) error {
	name := c.Args().First()
	if name == "" {
		return OfCommand(c, Usage("a command is missing"))
	}
	return OfCommand(c, Usage("unknown command %q. %s", name,
		cli.SuggestCommand(c.Command.Subcommands, name)))
}

// ExitCode returns the exit code for an error.
func ExitCode(err error) int {
	var usage *UsageError
	var help cli.ExitCoder // of the cli package: help for an unknown command
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage), errors.As(err, &help):
		return ExitUsage
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	}
	for _, exit := range []struct {
		code  int
		kinds []error
	}{
		{ExitNoDevice, []error{ErrNoSuchDevice, gpu.ErrNotBuilt, gpu.ErrNoLoader, gpu.ErrNoPlatform,
			gpu.ErrNoDevice}},
		{ExitMemory, []error{memory.ErrBudget, engine.ErrMemory}},
	} {
		if slices.ContainsFunc(exit.kinds, func(kind error) bool { return errors.Is(err, kind) }) {
			return exit.code
		}
	}
	return ExitFailure
}

// Texts returns names as plain strings.
func Texts[T ~string](names []T) (texts []string) {
	for _, name := range names {
		texts = append(texts, string(name))
	}
	return texts
}

// OrList joins words like "a, b or c".
func OrList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Advise adds to an error about impossible options or too little memory what to change.
func Advise(err error) error {
	switch {
	case errors.Is(err, pca.ErrOptions):
		return fmt.Errorf("%w (--components, --variance, --landmarks)", err)
	case errors.Is(err, engine.ErrMemory):
		return fmt.Errorf("%w; allow more with --memory-limit and --max-alloc if you gave them, choose "+
			"another --device, or train with fewer examples or classes", err)
	}
	return err
}

// Failure returns err with advice and with the path of the file, which is named once; or that ctx
// has ended; or nil.
func Failure(ctx context.Context, path string, err error) error {
	if ended := Interrupted(ctx); ended != nil || err == nil {
		return ended
	}
	err = Advise(err)
	if named := (*dataset.FileError)(nil); errors.As(err, &named) && named.Path == path {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
