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

// Mend gives a command and those below it what the cli package does not
// hand down, the check of its files, and whole numbers that may be written like 1e6.
// Before each command that does something runs check, after the flags are checked.
func Mend(c *cli.Command, check func(*cli.Context) error) {
	c.OnUsageError = OnUsageError
	for k, f := range c.Flags {
		if whole, ok := f.(*cli.IntFlag); ok {
			c.Flags[k] = CountFlag{whole}
		}
	}
	if len(c.Subcommands) == 0 {
		c.HideHelpCommand = true // a word after a command is never a help topic
		action := c.Action
		c.Action = func(c *cli.Context) error {
			if err := checkFiles(c); err != nil {
				return err
			}
			if err := check(c); err != nil {
				return err
			}
			forPeople(c)
			if m, ok := c.App.ErrWriter.(*Meter); ok {
				m.Still(c.Bool("quiet"), c.Bool("verbose"))
			}
			return action(c)
		}
		return
	}
	c.Action = NeedCommand
	for _, s := range c.Subcommands {
		Mend(s, check)
	}
}
