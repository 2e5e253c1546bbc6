package app

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

// StandardOutput writes to W and names standard output in its errors.
// W may be the terminal on which the meter draws.
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

// Mend gives a command and its subcommands what the cli package does not hand down: the checks of
// declared flags and of files, and whole numbers that may be written like 1e6. The last check is
// the caller's.
func Mend(c *cli.Command, check func(*cli.Context) error) {
	c.OnUsageError = OnUsageError
	needed := takeRequired(c.Flags)
	for k, f := range c.Flags {
		if whole, ok := f.(*cli.IntFlag); ok {
			c.Flags[k] = CountFlag{whole}
		}
	}
	if len(c.Subcommands) > 0 {
		c.Action = NeedCommand
		for _, s := range c.Subcommands {
			Mend(s, check)
		}
		return
	}
	c.HideHelpCommand = true // a word after a command is never a help topic
	action := c.Action
	c.Action = func(c *cli.Context) error {
		err := checkFiles(c)
		if err == nil {
			err = checkFlags(c, needed)
		}
		if err == nil {
			err = check(c)
		}
		if err != nil {
			return OfCommand(c, err)
		}
		forPeople(c)
		if m, ok := c.App.ErrWriter.(*Meter); ok {
			m.Still(c.Bool("quiet"), c.Bool("verbose"))
		}
		return action(c)
	}
}

// checkFlags checks what the flags of a command declare, and that nothing stands behind them that
// the command does not take.
func checkFlags(c *cli.Context, needed []string) error {
	if c.Args().Present() && c.Command.ArgsUsage == "" {
		return Usage("unexpected argument %q", c.Args().First())
	}
	if err := checkDeclared(c); err != nil {
		return err
	}
	return checkRequired(c, needed)
}

// checkDeclared checks the values that flags declare.
func checkDeclared(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		if f, ok := f.(checkedFlag); ok {
			if err := f.check(c); err != nil {
				return err
			}
		}
	}
	return nil
}
