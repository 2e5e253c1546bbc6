// Package app has what the commands of uma-gpu share: typed options made from flags, errors with
// exit codes, and output. A command is a folder beside it, such as ../split, with one exported
// type and two exported functions:
//
//	// Options are the options of the command.
//	type Options struct {
//		app.Common          // streams, notes, --json, --quiet
//		Data  app.Data      // a group of flags that many commands have
//		Top   int           // a flag of its own
//		Out   string
//	}
//
//	// New returns the command, which calls run.
//	func New(run func(context.Context, *Options) error) *cli.Command {
//		o := new(Options)
//		return &cli.Command{
//			Name: "split", Usage: "...", Description: "...",
//			Flags: app.Flags(o.Data.Flags(&o.Common, "examples to divide"),
//				app.Range(&cli.IntFlag{Name: "top", Value: 10, Destination: &o.Top,
//					Usage: "..."}, 0, math.MaxInt),
//				app.Required(app.Output(&o.Out, "out", "`FILE` to write (required)")),
//				o.JSONFlag(), o.QuietFlag()),
//			Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
//		}
//	}
//
//	// Run does the work. It knows no flag and no cli.Context.
//	func Run(ctx context.Context, o *Options) error
//
// Rules: a flag fills its option by Destination, and nothing looks a flag up by name. Groups of
// flags are Data, Model, Noise, Kernel and device.Options; each has Flags and a method that checks
// and returns what a library wants. Choice, Range and Required declare values; Mend checks them,
// and help tells them. Input and Output are files, which Mend protects. Usage, NotAllowed and
// Missing are errors with exit code 2; Action adds the command. Print prints a report as JSON or
// as text. Tests of New parse a command line by apptest.Run with a run of their own; tests of Run
// fill Options by hand.
//
// To move a command: git mv its file, export New and Run, register NAME.New(NAME.Run) in run.go.
package app
