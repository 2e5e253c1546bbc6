package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelpca"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNoDevice    = 3
	exitMemory      = 4
	exitInterrupted = 130 // what shells report for a program killed by Ctrl-C
)

// errNoSuchDevice marks a device that does not exist or is not clear.
var errNoSuchDevice = errors.New("no such device")

// errInterrupted marks a command that a signal ended.
var errInterrupted = errors.New("interrupted")

// usageError is a command line that makes no sense.
type usageError struct {
	message string
	command string // whose --help to see, "uma-gpu train"
}

func (e *usageError) Error() string { return e.message + "; see " + e.command + " --help" }

// usagef returns a usage error of the command that c runs.
func usagef(c *cli.Context, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), c.Command.HelpName}
}

// onUsageError takes the errors of the cli package's flag parser.
func onUsageError(c *cli.Context, err error, _ bool) error {
	message := strings.Replace(err.Error(), "flag provided but not defined: -", "unknown flag --", 1)
	message = strings.Replace(message, "flag needs an argument: -", "a value is missing behind --", 1)
	return usagef(c, "%s", message)
}

// needCommand is the action of a command that has only subcommands.
func needCommand(c *cli.Context) error {
	if name := c.Args().First(); name != "" {
		return usagef(c, "unknown command %q", name)
	}
	return usagef(c, "a command is missing")
}

// exitCode returns the exit code that an error stands for.
func exitCode(err error) int {
	var usage *usageError
	var help cli.ExitCoder // of the cli package: help for an unknown command
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.As(err, &help):
		return exitUsage
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	}
	for _, missing := range []error{errNoSuchDevice, gpu.ErrNotBuilt, gpu.ErrNoLoader, gpu.ErrNoPlatform,
		gpu.ErrNoDevice} {
		if errors.Is(err, missing) {
			return exitNoDevice
		}
	}
	for _, full := range []error{memory.ErrBudget, engine.ErrMemory, kernelpca.ErrMemory} {
		if errors.Is(err, full) {
			return exitMemory
		}
	}
	return exitFailure
}

// checkUsage makes sure that the named flags are given, and no arguments.
func checkUsage(c *cli.Context, required ...string) error {
	if c.Args().Present() {
		return usagef(c, "unexpected argument %q", c.Args().First())
	}
	for _, name := range required {
		if c.String(name) == "" {
			return usagef(c, "--%s is missing", name)
		}
	}
	return nil
}

// oneOf returns the value of a flag that has only these values.
func oneOf(c *cli.Context, name string, allowed ...string) (string, error) {
	value := c.String(name)
	if !slices.Contains(allowed, value) {
		return "", usagef(c, "--%s is %q, wanted %s", name, value, orList(allowed))
	}
	return value, nil
}

// orList joins words like "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
