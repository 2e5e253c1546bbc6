// Package split is the command that divides a data set.
package split

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

type Options struct {
	app.Common
	Data      app.Data
	Fractions string // comma list
	Counts    string // comma list
	Seed      uint64
	Out       cli.StringSlice // one for each part
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "split",
		Usage: "divide a data set at random into files that have all classes in the same shares",
		Description: `Say --out once for each part, in the order of the sizes. A part gets its share of
every class, rounded down or up, and keeps the order of the file. Fractions below 1 in all, or
counts without rest, leave some examples out. The same seed gives the same parts. Each file has the
format and the label column of the original, unless its name asks for another.

Example: uma-gpu split --data all.csv --fractions 0.7,0.3 --out train.csv --out test.csv`,
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples to divide"), o.Data.ReadingFlags(),
			o.Data.NoLabelsFlag(),
			app.Text(&o.Fractions, "fractions", "",
				"comma `LIST` of the parts' sizes, as fractions of all examples"),
			app.Text(&o.Counts, "counts", "",
				"comma `LIST` of the parts' sizes, in examples; one may be rest"),
			app.SeedFlag(&o.Seed, "the division"),
			app.Outputs(&o.Out, "out", "`FILE` for a part (required, once for each)"),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run writes the parts of the data.
func Run(ctx context.Context, o *Options) error {
	fractions, counts, err := o.sizes()
	if err != nil {
		return err
	}
	outs, parts := o.Out.Value(), len(fractions)+len(counts)
	if len(outs) != parts {
		return app.Usage("found --out %d times, wanted it %d times, once for each part", len(outs), parts)
	}
	for _, out := range outs {
		if err := o.Data.CheckOutput(out); err != nil {
			return err
		}
	}
	options := o.Data.Options()
	d, err := o.Data.Read(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	if err := app.CheckRaw(d,
		"a part needs a preparation fitted to itself; split the original data"); err != nil {
		return err
	}
	if fractions != nil {
		if counts, err = dataset.PartSizes(d.N, fractions); err != nil {
			return err
		}
	}
	split, err := dataset.Divide(d, counts, o.Seed)
	if err != nil {
		return err
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	var files osfile.Group
	defer files.Discard()
	for k, part := range split {
		y := slices.Repeat([]int32{-1}, d.N)
		for _, i := range part {
			if y[i] = 0; d.Y != nil {
				y[i] = d.Y[i]
			}
		}
		if err := o.Data.WriteCopy(ctx, outs[k], d, file.Copy{Options: options, Y: y},
			app.Together(&files, app.CopyOptions(outs[k], d))); err != nil {
			return err
		}
	}
	if err := files.Commit(); err != nil {
		return err
	}
	o.report(d, split, outs)
	return nil
}

// report notes the sizes of the parts, and the classes that they lack.
func (o *Options) report(d *dataset.Dataset, split [][]int32, outs []string) {
	left := d.N
	for k, part := range split {
		o.Notes.Say("%d of %d examples written to %s", len(part), d.N, outs[k])
		o.Notes.IDsLeftOut(d, outs[k], app.CopyOptions(outs[k], d).Format)
		seen := make([]bool, len(d.Classes))
		for _, i := range part {
			if y := dataset.LabelOf(d, int(i)); y >= 0 {
				seen[y] = true
			}
		}
		var missing []string
		for q, name := range d.Classes {
			if !seen[q] {
				missing = append(missing, name)
			}
		}
		if missing != nil {
			o.Notes.Warn("%s has no example of %d of the %d classes: %s", outs[k], len(missing),
				len(d.Classes), app.First(missing, 12, func(name string) string { return name }))
		}
		left -= len(part)
	}
	if left > 0 {
		o.Notes.Say("%d examples are in no part", left)
	}
}

// sizes returns the list of --fractions or --counts. Package dataset checks what depends on the
// data.
func (o *Options) sizes() (fractions []float64, counts []int, err error) {
	if (o.Fractions == "") == (o.Counts == "") {
		return nil, nil, app.Usage("wanted exactly one of --fractions and --counts")
	}
	sum := 0.0
	for _, field := range app.List(o.Fractions) {
		f, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(f > 0 && f <= 1) {
			return nil, nil, app.Usage("--fractions: found %q, wanted a number above 0, at most 1", field)
		}
		fractions, sum = append(fractions, f), sum+f
	}
	if sum > 1+1e-9 {
		return nil, nil, app.Usage("--fractions sum to %.6g, wanted at most 1", sum)
	}
	for _, field := range app.List(o.Counts) {
		field = strings.TrimSpace(field)
		count, err := app.ParseCount(field)
		switch {
		case field == "rest" && slices.Contains(counts, dataset.Rest):
			return nil, nil, app.Usage("--counts: found rest twice, wanted it once at most")
		case field == "rest":
			count = dataset.Rest
		case err != nil || count < 1:
			return nil, nil, app.Usage("--counts: found %q, wanted a number of examples from 1, or rest",
				field)
		}
		counts = append(counts, count)
	}
	return fractions, counts, nil
}
