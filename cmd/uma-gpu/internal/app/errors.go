package app

import (
	"errors"
	"fmt"
	"slices"
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

// ErrNoSuchDevice marks a device that does not exist or is not clear.
var ErrNoSuchDevice = errors.New("no such device")

// ErrInterrupted marks a command that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// UsageError is a command line that makes no sense.
type UsageError struct {
	Flag    string   // without dashes, "" if none is to blame
	Got     string   // the word that was given
	Allowed []string // the words that are allowed, nil if they cannot be listed
	Problem string   // "" if flag, word and list say it
	Command string   // whose --help to see, "uma-gpu train"; Action fills it in
}

func (e *UsageError) Error() string {
	text := e.Problem
	if text == "" {
		text = fmt.Sprintf("--%s is %q, wanted %s", e.Flag, e.Got, OrList(e.Allowed))
	}
	if e.Command != "" {
		text += "; see " + e.Command + " --help"
	}
	if question := didYouMean(e.Got, e.Allowed); question != "" {
		text += ". " + question
	}
	return text
}

// Usage returns a usage error with a text of its own.
func Usage(format string, args ...any) error {
	return &UsageError{Problem: fmt.Sprintf(format, args...)}
}

// NotAllowed returns the usage error of a flag whose value is none of the allowed.
func NotAllowed(flag, got string, allowed ...string) error {
	return &UsageError{Flag: flag, Got: got, Allowed: allowed}
}

// Missing returns the usage error of a flag that is not given.
func Missing(flag string) error {
	return &UsageError{Flag: flag, Problem: "--" + flag + " is missing"}
}

// OfCommand fills the command into a usage error.
func OfCommand(c *cli.Context, err error) error {
	if usage := new(UsageError); errors.As(err, &usage) && usage.Command == "" {
		usage.Command = c.Command.HelpName
	}
	return err
}

// retired are commands and flags of former versions, and what is to be typed now.
var retired = map[string]string{
	"uma-gpu train --clean": "uma-gpu clean TABLE --label COLUMN, which finds and mends wrong labels",
	"uma-gpu bootstrap": "uma-gpu train on the few labels, uma-gpu predict for the others, and " +
		"uma-gpu train --learn-confusion on what it says",
}

// wasRetired adds to a problem what replaces a command or a flag that is no more.
func wasRetired(problem, words string) string {
	if instead, ok := retired[words]; ok {
		return problem + ": it is no more; type " + instead
	}
	return problem
}

// OnUsageError takes the errors of the cli package's flag parser.
func OnUsageError(c *cli.Context, err error, _ bool) error {
	usage := &UsageError{Problem: err.Error(), Command: c.Command.HelpName}
	if name, empty := strings.CutPrefix(usage.Problem, "flag needs an argument: -"); empty {
		usage.Problem = "a value is missing behind --" + name
	}
	if name, unknown := strings.CutPrefix(usage.Problem, "flag provided but not defined: -"); unknown {
		usage.Got = "--" + name
		usage.Problem = wasRetired("unknown flag "+usage.Got, usage.Command+" "+usage.Got)
		for _, f := range c.Command.Flags {
			for _, name := range f.Names() {
				usage.Allowed = append(usage.Allowed, typed(name))
			}
		}
	}
	return usage
}

// firstDay is what a program says that was called without a command.
const firstDay = `uma-gpu learns classifiers from labels that are wrong in part, and finds the wrong ones.

  uma-gpu info --data table.csv                what a table holds, and what is wrong with it
  uma-gpu clean table.csv --label COLUMN       find and mend wrong labels, and learn a model
  uma-gpu train --data table.csv --model m.npz learn a model
  uma-gpu predict --model m.npz --data new.csv the classes of new rows
  uma-gpu eval --model m.npz --data test.csv   how often they are right

`

// NeedCommand is the action of a command that has only subcommands.
func NeedCommand(c *cli.Context) error {
	name := c.Args().First()
	if name == "" {
		if c.Command.HelpName == c.App.HelpName {
			fmt.Fprint(c.App.ErrWriter, firstDay)
		}
		return OfCommand(c, Usage("a command is missing"))
	}
	return OfCommand(c, &UsageError{Got: name,
		Problem: wasRetired(fmt.Sprintf("unknown command %q", name), c.Command.HelpName+" "+name),
		Allowed: commandNames(c.Command.Subcommands)})
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
	for _, of := range []struct {
		code  int
		kinds []error
	}{
		{ExitNoDevice, []error{ErrNoSuchDevice, gpu.ErrNotBuilt, gpu.ErrNoLoader, gpu.ErrNoPlatform,
			gpu.ErrNoDevice}},
		{ExitMemory, []error{memory.ErrBudget, engine.ErrMemory}},
	} {
		if slices.ContainsFunc(of.kinds, func(kind error) bool { return errors.Is(err, kind) }) {
			return of.code
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

// AdviseMemory adds to an error of too little memory what can be done.
func AdviseMemory(err error) error {
	if !errors.Is(err, engine.ErrMemory) {
		return err
	}
	return fmt.Errorf("%w; allow more with --memory-limit and --max-alloc if you gave them, choose "+
		"another --device, or train with fewer examples or classes", err)
}

func init() {
	cli.SuggestCommand = func(commands []*cli.Command, word string) string {
		return didYouMean(word, commandNames(commands))
	}
}

// commandNames are the names of the commands that help shows.
func commandNames(commands []*cli.Command) (names []string) {
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	return names
}

// didYouMean asks for the word that is most like the given one, a third of whose letters may be
// wrong, or that begins with it; "" if there is none.
func didYouMean(given string, words []string) string {
	at := -1
	for k := 1; at < 0 && k <= min(max(1, len(given)/3), 4); k++ {
		at = slices.IndexFunc(words, func(word string) bool {
			return edited(strings.ToLower(given), strings.ToLower(word), k)
		})
	}
	if at < 0 && len(given) >= 3 {
		at = slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, given) })
	}
	if at < 0 {
		return ""
	}
	return "Did you mean " + words[at] + "?"
}

// edited reports whether at most k letters of a are to be inserted, removed, replaced or exchanged
// with their neighbour to make b.
func edited(a, b string, k int) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if a == "" || b == "" {
		return len(a)+len(b) <= k
	}
	return k > 0 && (edited(a[1:], b, k-1) || edited(a, b[1:], k-1) || edited(a[1:], b[1:], k-1) ||
		len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && edited(a[2:], b[2:], k-1))
}
