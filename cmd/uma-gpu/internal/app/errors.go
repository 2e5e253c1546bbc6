package app

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
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

// AdviseMemory adds advice to an error about too little memory.
func AdviseMemory(err error) error {
	if !errors.Is(err, engine.ErrMemory) {
		return err
	}
	return fmt.Errorf("%w; allow more with --memory-limit and --max-alloc if you gave them, choose "+
		"another --device, or train with fewer examples or classes", err)
}
