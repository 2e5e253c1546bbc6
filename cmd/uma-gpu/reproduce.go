package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/bench/papers"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func reproduceCommand() *cli.Command {
	c := &cli.Command{
		Name:  "reproduce",
		Usage: "repeat an experiment of a paper: rows of numbers beside those of the paper",
	}
	for _, d := range papers.All {
		c.Subcommands = append(c.Subcommands, experimentCommand(d))
	}
	c.Subcommands = append(c.Subcommands, pictureCommand())
	return c
}

func experimentCommand(d *papers.Definition) *cli.Command {
	flags := []cli.Flag{
		&cli.IntFlag{Name: "runs", Value: 10, Usage: "repeat all `R` times, at least 2, with other random numbers"},
		app.SeedFlag(nil, "the first run; the next ones have the numbers after it"),
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out", Value: "-", Usage: "`FILE` to write, JSON lines; - for standard output"}},
		app.QuietFlag(),
	}
	example := ""
	if d.Sets != nil {
		flags = append(flags,
			&cli.StringFlag{Name: "data-dir", Usage: "`FOLDER` with a folder of each data set (required)"},
			&cli.StringFlag{Name: "sets", Usage: "comma `LIST` of data sets: " + strings.Join(d.Sets, ",")})
		example = " --data-dir data"
	}
	return &cli.Command{
		Name:  d.Name,
		Usage: d.Usage,
		Description: d.Paper + ".\n\n" + d.About + "\n\nA row is a JSON object: the mean of the runs, its " +
			"standard error, each run, and the paper's value.\nThe same flags give the same bytes on every device.\n\n" +
			"Example: uma-gpu reproduce " + d.Name + example + " --out rows.jsonl",
		Flags:  append(flags, device.Flags()...),
		Action: func(c *cli.Context) error { return reproduce(c, d) },
	}
}

func reproduce(c *cli.Context, d *papers.Definition) (err error) {
	var required []string
	o := papers.Options{Runs: c.Int("runs"), Seed: c.Uint64("seed")}
	if d.Sets != nil {
		required, o.DataDir = []string{"data-dir"}, c.String("data-dir")
		if list := c.String("sets"); list != "" {
			o.Sets = strings.Split(list, ",")
		}
	}
	if err := app.CheckUsage(c, required...); err != nil {
		return err
	}
	for _, s := range o.Sets {
		if !strings.Contains(","+strings.Join(d.Sets, ",")+",", ","+s+",") {
			return app.Usagef(c, "--sets has %q, wanted %s", s, app.OrList(d.Sets))
		}
	}
	if o.Runs < 2 {
		return app.Usagef(c, "--runs is %d, wanted at least 2, or there is no standard error", o.Runs)
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	n := app.NewNotes(c)
	o.Note = n.Say
	// The toys and the digits are small, and the larger sets are not read yet.
	if o.Engine, err = where.Open(n, device.Work{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Engine.Close()) }()
	write := func(w io.Writer) error {
		return papers.Run(c.Context, d, o, func(r papers.Row) error {
			text, err := json.Marshal(r)
			if err != nil {
				return fmt.Errorf("row of %s: %w", r.Learner, err)
			}
			_, err = w.Write(append(text, '\n'))
			return err
		})
	}
	if out := c.String("out"); out != "-" {
		err = atomicfile.Write(out, write)
	} else {
		err = write(c.App.Writer)
	}
	if err != nil && c.Context.Err() != nil {
		return fmt.Errorf("%w before all rows were known", app.ErrInterrupted)
	}
	return err
}
