package app

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
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitNoDevice    = 3
	ExitMemory      = 4
	ExitInterrupted = 130 // what shells report for a program killed by Ctrl-C
)

// ErrNoSuchDevice marks a device that does not exist or is not clear.
var ErrNoSuchDevice = errors.New("no such device")

// ErrInterrupted marks a command that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// UsageError is a command line that makes no sense.
type UsageError struct {
	message string
	Command string // whose --help to see, "uma-gpu train"
	hint    string // a question at the end, "" for none
}

func (e *UsageError) Error() string {
	text := e.message + "; see " + e.Command + " --help"
	if e.hint != "" {
		text += ". " + e.hint
	}
	return text
}

// Usagef returns a usage error of the command that c runs. One that quotes a word and ends with those there are asks
// which was meant.
func Usagef(c *cli.Context, format string, args ...any) error {
	message, hint := fmt.Sprintf(format, args...), ""
	if m := listsWords.FindStringSubmatch(message); m != nil {
		hint = didYouMean(m[1], strings.Split(strings.ReplaceAll(m[2], " or ", ", "), ", "))
	}
	return &UsageError{message, c.Command.HelpName, hint}
}

// listsWords finds the word, and the list of those there are.
var listsWords = regexp.MustCompile(`"([^"]+)"[^"]*\b(?:use|wanted) ([^"]*)$`)

// OnUsageError takes the errors of the cli package's flag parser.
func OnUsageError(c *cli.Context, err error, _ bool) error {
	message := strings.Replace(err.Error(), "flag provided but not defined: -", "unknown flag --", 1)
	message = strings.Replace(message, "flag needs an argument: -", "a value is missing behind --", 1)
	if _, name, unknown := strings.Cut(message, "unknown flag --"); unknown {
		return &UsageError{message, c.Command.HelpName, didYouMean("--"+name, flagWords(c.Command.Flags))}
	}
	return Usagef(c, "%s", message)
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

// NeedCommand is the action of a command that has only subcommands.
func NeedCommand(c *cli.Context) error {
	if name := c.Args().First(); name != "" {
		return &UsageError{fmt.Sprintf("unknown command %q", name), c.Command.HelpName,
			didYouMean(name, commandNames(c.Command.Subcommands))}
	}
	return Usagef(c, "a command is missing")
}

// ExitCode returns the exit code that an error stands for.
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
	for _, missing := range []error{ErrNoSuchDevice, gpu.ErrNotBuilt, gpu.ErrNoLoader, gpu.ErrNoPlatform,
		gpu.ErrNoDevice} {
		if errors.Is(err, missing) {
			return ExitNoDevice
		}
	}
	for _, full := range []error{memory.ErrBudget, engine.ErrMemory, pca.ErrMemory} {
		if errors.Is(err, full) {
			return ExitMemory
		}
	}
	return ExitFailure
}

// CheckUsage makes sure that the named flags are given, and no arguments.
func CheckUsage(c *cli.Context, required ...string) error {
	if c.Args().Present() {
		return Usagef(c, "unexpected argument %q", c.Args().First())
	}
	for _, name := range required {
		if c.String(name) == "" {
			return Usagef(c, "--%s is missing", name)
		}
	}
	return nil
}

// OneOf returns the value of a flag that has only these values.
func OneOf(c *cli.Context, name string, allowed ...string) (string, error) {
	value := c.String(name)
	if !slices.Contains(allowed, value) {
		return "", Usagef(c, "--%s is %q, wanted %s", name, value, OrList(allowed))
	}
	return value, nil
}

// OrList joins words like "a, b or c".
func OrList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// AdviseMemory adds to an error of too little memory what can be done.
func AdviseMemory(err error) error {
	if !errors.Is(err, engine.ErrMemory) {
		return err
	}
	return fmt.Errorf("%w; allow more with --memory-limit and --max-alloc if you gave them, choose another --device, "+
		"or train with fewer examples or classes", err)
}
