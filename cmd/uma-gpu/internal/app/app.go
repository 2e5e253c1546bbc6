// Package app has what commands share: typed options made from flags, errors with exit codes, and
// output.
//
// A command is a folder beside it, such as ../split. It has Options, which embed Common and groups
// of options such as Data; New, which returns the command and calls a run of the caller; and Run,
// which knows no flag. Flag and ParameterFlags make flags of declared values, CheckedFlag has any
// other check: InstallChecks runs them before Run. Input and Output are files, which it protects.
// Usage and Missing are errors with exit code 2; Action adds the command. Tests parse a command
// line by apptest.Run.
package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Version of the tool, also in every model. It is no part of the build's circumstances: the same
// sources must make the same model bytes.
const Version = "0.1.0"

// Common are the options and streams that every command has. Action fills them in.
type Common struct {
	Out   io.Writer
	Notes Notes // on standard error
	In    io.Reader
	Args  []string // after the flags
	JSON  bool
	Quiet bool

	words []string // of the command line, without the program's name
	line  *cli.Context
}

func (o *Common) JSONFlag() cli.Flag {
	return Switch(&o.JSON, "json", "print one JSON object instead of text")
}

func (o *Common) QuietFlag() cli.Flag {
	return Switch(&o.Quiet, "quiet", "say nothing on stderr but warnings and errors")
}

// Given reports whether a flag, or the variable of the environment in its place, was given.
func (o *Common) Given(flag string) bool { return o.line != nil && o.line.IsSet(flag) }

// start takes over the command line from the cli package.
func (o *Common) start(c *cli.Context) {
	o.Out, o.In, o.Args = c.App.Writer, c.App.Reader, c.Args().Slice()
	o.words, _ = c.App.Metadata["args"].([]string)
	o.Notes, o.line = Notes{W: c.App.ErrWriter, Quiet: c.Bool("quiet")}, c
}

// Parse fills what flags are of by words.
func Parse(flags []cli.Flag, words []string) error {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, f := range flags {
		if err := f.Apply(set); err != nil {
			return err
		}
	}
	if err := set.Parse(words); err != nil {
		return Usage("%v", err)
	}
	if set.NArg() > 0 {
		return Usage("unexpected argument %q, wanted flags", set.Arg(0))
	}
	line := cli.NewContext(nil, set, nil)
	line.Command = &cli.Command{Flags: flags}
	return tell(line, checkFlags(line, nil))
}

// Action returns the action of a command: it fills in the Common of its options, runs the command,
// and completes its usage errors.
func Action[O interface{ common() *Common }](o O, run func(context.Context, O) error,
) cli.ActionFunc {
	return func(c *cli.Context) error {
		o.common().start(c)
		return OfCommand(c, tell(c, run(c.Context, o)))
	}
}

func (o *Common) common() *Common { return o }

// Print prints a report: as JSON if --json asks for it, else by text.
func (o *Common) Print(report any, text func(io.Writer) error) error {
	if o.JSON {
		return PrintJSON(o.Out, report)
	}
	return text(o.Out)
}

// Row adds a row to a table; its format has tabs between the cells.
type Row func(format string, args ...any)

// PrintTable prints a report: as JSON if --json asks for it, else as the rows that fill adds.
func (o *Common) PrintTable(report any, fill func(Row)) error {
	return o.Print(report, func(w io.Writer) error { return Table(w, fill) })
}

// Table prints the rows that fill adds, with their cells below each other.
func Table(w io.Writer, fill func(Row)) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fill(func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) })
	return t.Flush()
}

// PrintJSON prints one JSON object, indented, a list of numbers on one line.
func PrintJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	_, err := w.Write(numberList.ReplaceAllFunc(text.Bytes(), func(list []byte) []byte {
		return fmt.Appendf(nil, "[%s]", bytes.Join(bytes.Fields(list[1:len(list)-1]), []byte(" ")))
	}))
	return err
}

// numberList is a list over several lines without strings, lists and objects in it. No string of
// JSON looks so: a line break in it would be written \n.
var numberList = regexp.MustCompile(`\[\n[^\[\]{}"]*\n *\]`)

// Shorten cuts a class name to fit in a table.
func Shorten(name string) string { return cut(name, 12) }

// Brief returns a name from a file without control characters, cut to fit in a line.
func Brief(name string) string {
	return cut(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, name), 40)
}

// cut leaves at most the first most characters of a text.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// FloatText prints a value as shortly as it can be read back.
func FloatText(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }

// NumberText is FloatText of a float64.
func NumberText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// BytesText prints a number of bytes in the unit that suits it.
func BytesText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, k := float64(n)/1024, 0
	for v >= 1024 && k < 3 {
		v, k = v/1024, k+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + "KMGT"[k:k+1] + "iB"
}

// StandardOutput writes to W and names standard output in its errors. W may be the terminal on
// which the meter draws.
type StandardOutput struct {
	W     io.Writer
	Meter *Meter
}

func (o StandardOutput) Write(b []byte) (int, error) {
	o.Meter.Gone()
	n, err := o.W.Write(b)
	if err != nil {
		err = fmt.Errorf("write to standard output: %w", err)
	}
	return n, err
}

// Line returns the flags of these names that were given, as a shell takes them, each after a space.
func (o *Common) Line(names ...string) string {
	var b strings.Builder
	for _, f := range o.line.Command.Flags {
		name := f.Names()[0]
		if !slices.Contains(names, name) || !o.line.IsSet(name) {
			continue
		}
		b.WriteString(" --" + name)
		if value := o.Text(name); value != "true" {
			b.WriteString(" " + Quoted(value))
		}
	}
	return b.String()
}

// Text returns the value of a flag as a text.
func (o *Common) Text(name string) string { return fmt.Sprint(o.line.Value(name)) }

// Command returns the command line, as a shell takes it.
func (o *Common) Command() string {
	line := "uma-gpu"
	for _, word := range o.words {
		line += " " + Quoted(word)
	}
	return line
}

// plainWord is a word that every shell takes as it is.
var plainWord = regexp.MustCompile(`^[-+=:,./@%_0-9A-Za-z]+$`)

// Quoted returns a word as a shell takes it.
func Quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

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
		if name == word || name == "" || err == nil || slices.Contains(known, name) {
			continue
		}
		with, chosen := learnersWith(strings.ReplaceAll(name, "-", "_")), learnerOf(words)
		if with != nil && slices.Contains(known, "learner") && !slices.Contains(with, chosen) {
			return OfCommand(c, Usage("--%s is a flag of --learner %s, not of %s", name, quote.Or(with),
				chosen))
		}
		return OfCommand(c, Usage("unknown flag %s, did you mean %s?", word,
			cli.SuggestFlag(c.Command.Flags, name, true)))
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

// Advise adds to an error about impossible options or too little memory what to change.
func Advise(err error) error {
	switch {
	case errors.Is(err, pca.ErrOptions):
		return fmt.Errorf("%w (--components, --landmarks)", err)
	case errors.Is(err, model.ErrNoTemperature):
		return fmt.Errorf("%w: fit one to held-out examples with uma-gpu calibrate", err)
	case errors.Is(err, engine.ErrMemory):
		return fmt.Errorf("%w; allow more with --memory-limit and --max-alloc if you gave them, choose "+
			"another --device, or train with fewer examples or classes", err)
	}
	return err
}
