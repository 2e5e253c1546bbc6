package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
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
	hint    string // a question at the end, "" for none
}

func (e *usageError) Error() string {
	text := e.message + "; see " + e.command + " --help"
	if e.hint != "" {
		text += ". " + e.hint
	}
	return text
}

// usagef returns a usage error of the command that c runs. One that quotes a word and ends with those there are asks
// which was meant.
func usagef(c *cli.Context, format string, args ...any) error {
	message, hint := fmt.Sprintf(format, args...), ""
	if m := listsWords.FindStringSubmatch(message); m != nil {
		hint = didYouMean(m[1], strings.Split(strings.ReplaceAll(m[2], " or ", ", "), ", "))
	}
	return &usageError{message, c.Command.HelpName, hint}
}

// listsWords finds the word, and the list of those there are.
var listsWords = regexp.MustCompile(`"([^"]+)"[^"]*\b(?:use|wanted) ([^"]*)$`)

// onUsageError takes the errors of the cli package's flag parser.
func onUsageError(c *cli.Context, err error, _ bool) error {
	message := strings.Replace(err.Error(), "flag provided but not defined: -", "unknown flag --", 1)
	message = strings.Replace(message, "flag needs an argument: -", "a value is missing behind --", 1)
	if _, name, unknown := strings.Cut(message, "unknown flag --"); unknown {
		return &usageError{message, c.Command.HelpName, didYouMean("--"+name, flagWords(c.Command.Flags))}
	}
	return usagef(c, "%s", message)
}

// flagWords are the flags as they are typed.
func flagWords(flags []cli.Flag) (words []string) {
	for _, f := range flags {
		for _, name := range f.Names() {
			words = append(words, strings.Repeat("-", min(2, len(name)))+name)
		}
	}
	return words
}

// needCommand is the action of a command that has only subcommands.
func needCommand(c *cli.Context) error {
	if name := c.Args().First(); name != "" {
		return &usageError{fmt.Sprintf("unknown command %q", name), c.Command.HelpName,
			didYouMean(name, commandNames(c.Command.Subcommands))}
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
	for _, full := range []error{memory.ErrBudget, engine.ErrMemory, pca.ErrMemory} {
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
