package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
)

// Common are the options and streams that every command has. Action fills them in.
type Common struct {
	Context context.Context // of the command line, for Choose and others that read little
	Out     io.Writer
	Notes   Notes // on standard error
	In      io.Reader
	Args    []string // behind the flags
	JSON    bool
	Quiet   bool

	given []string // the flags of the command line, by each of their names
}

// JSONFlag returns the flag --json.
func (o *Common) JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object instead of text",
		Destination: &o.JSON}
}

// QuietFlag returns the flag --quiet.
func (o *Common) QuietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "say nothing on stderr but warnings and errors",
		Destination: &o.Quiet}
}

// Given reports whether a flag, or the variable of the environment in its place, was given.
func (o *Common) Given(flag string) bool { return slices.Contains(o.given, flag) }

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

// start takes over what the cli package knows of a command line.
func (o *Common) start(c *cli.Context) {
	o.Context, o.Out, o.In, o.Args = c.Context, c.App.Writer, c.App.Reader, c.Args().Slice()
	o.Notes = Notes{W: c.App.ErrWriter, Quiet: c.Bool("quiet")}
	o.given = nil
	for _, f := range c.Command.Flags {
		if names := f.Names(); c.IsSet(names[0]) {
			o.given = append(o.given, names...)
		}
	}
}

// Action returns the action of a command: it fills in o, runs the command, and completes its usage
// errors.
func Action(o *Common, run func(context.Context) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		o.start(c)
		return OfCommand(c, run(c.Context))
	}
}

// Flags joins flags and lists of flags, in their order.
func Flags(parts ...any) (all []cli.Flag) {
	for _, part := range parts {
		switch part := part.(type) {
		case cli.Flag:
			all = append(all, part)
		case []cli.Flag:
			all = append(all, part...)
		default:
			panic("app: Flags: neither a flag nor a list of flags")
		}
	}
	return all
}

// SeedFlag returns the flag --seed, of what usage names.
func SeedFlag(into *uint64, of string) cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of " + of, Destination: into}
}
