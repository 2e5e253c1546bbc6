// Package split is the command that divides a data set.
package split

import (
	"context"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// Options are the options of the command.
type Options struct {
	app.Common
	Data      app.Data
	Fractions string // comma list
	Counts    string // comma list
	Seed      uint64
	Out       cli.StringSlice // one for each part
}

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "split",
		Usage: "divide a data set at random into files that have all classes in the same shares",
		Description: "Say --out once for each part, in the order of the sizes. A part gets of every " +
			"class its share,\n" +
			"rounded down or up, and keeps the order of the file. What fractions below 1 in all, or " +
			"counts\n" +
			"without rest, leave is left out. The same seed gives the same parts. Each file has the " +
			"format and\n" +
			"the label column of the original, unless its name asks for another.\n\n" +
			"Example: uma-gpu split --data all.csv --fractions 0.7,0.3 --out train.csv --out test.csv",
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples to divide"), o.Data.NoLabelsFlag(),
			&cli.StringFlag{Name: "fractions", Destination: &o.Fractions,
				Usage: "comma `LIST` of the parts' sizes, as fractions of all examples"},
			&cli.StringFlag{Name: "counts", Destination: &o.Counts,
				Usage: "comma `LIST` of the parts' sizes, in examples; one may be rest"},
			app.SeedFlag(&o.Seed, "the division"),
			app.OutputsFlag{StringSliceFlag: &cli.StringSliceFlag{Name: "out", Destination: &o.Out,
				Usage: "`FILE` for a part (required, once for each)"}},
			o.QuietFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// Run writes the parts of the data.
func Run(ctx context.Context, o *Options) error {
	options, err := o.Data.Options()
	if err != nil {
		return err
	}
	divide, parts, err := o.division()
	if err != nil {
		return err
	}
	outs := o.Out.Value()
	if len(outs) != parts {
		return app.Usage("found --out %d times, wanted it %d times, once for each part", len(outs), parts)
	}
	for _, out := range outs {
		if err := o.Data.CheckOutput(out); err != nil {
			return err
		}
	}
	d, err := o.Data.ReadWhole(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := app.CheckRaw(d,
		"a part should be prepared by what was fitted to it; split the original data"); err != nil {
		return err
	}
	split, err := divide(d)
	if err != nil {
		return err
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err := write(ctx, d, split, outs); err != nil {
		return err
	}
	o.tell(d, split, outs)
	return nil
}

// write writes all parts, or none.
func write(ctx context.Context, d *dataset.Dataset, split []*dataset.Dataset, outs []string) error {
	var files atomicfile.Group
	defer files.Discard()
	for k, part := range split {
		layout := app.Together(&files, app.CopyOptions(outs[k], d))
		if err := app.WriteData(ctx, outs[k], part, layout); err != nil {
			return err
		}
	}
	return files.Commit()
}

// tell notes what is in the parts, and what they lack.
func (o *Options) tell(d *dataset.Dataset, split []*dataset.Dataset, outs []string) {
	left := d.N
	for k, part := range split {
		o.Notes.Say("%d of %d examples written to %s", part.N, d.N, outs[k])
		o.Notes.IDsLeftOut(d, outs[k], app.CopyOptions(outs[k], d).Format)
		if missing := absent(part); missing != nil {
			o.Notes.Warn("%s has no example of %d of the %d classes: %s", outs[k], len(missing),
				len(d.Classes),
				firstOf(missing))
		}
		left -= part.N
	}
	if left > 0 {
		o.Notes.Say("%d examples are in no part", left)
	}
}

// division returns what --fractions or --counts ask for, and the number of parts. Package dataset
// checks what depends on the data.
func (o *Options) division() (divide func(*dataset.Dataset) ([]*dataset.Dataset, error), parts int,
	err error) {
	if (o.Fractions == "") == (o.Counts == "") {
		return nil, 0, app.Usage("wanted exactly one of --fractions and --counts")
	}
	if o.Fractions != "" {
		var list []float64
		sum := 0.0
		for _, field := range strings.Split(o.Fractions, ",") {
			f, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil || !(f > 0 && f <= 1) {
				return nil, 0, app.Usage("--fractions: found %q, wanted a number above 0, at most 1", field)
			}
			list, sum = append(list, f), sum+f
		}
		if sum > 1+1e-9 {
			return nil, 0, app.Usage("--fractions sum to %.6g, wanted at most 1", sum)
		}
		return func(d *dataset.Dataset) ([]*dataset.Dataset, error) {
			return dataset.SplitFractions(d, list, o.Seed)
		}, len(list), nil
	}
	var list []int
	rest := false
	for _, field := range strings.Split(o.Counts, ",") {
		field = strings.TrimSpace(field)
		if field == "rest" {
			if rest {
				return nil, 0, app.Usage("--counts: found rest twice, wanted it once at most")
			}
			list, rest = append(list, dataset.Rest), true
			continue
		}
		count, err := app.ParseCount(field)
		if err != nil || count < 1 {
			return nil, 0, app.Usage("--counts: found %q, wanted a number of examples from 1, or rest",
				field)
		}
		list = append(list, count)
	}
	return func(d *dataset.Dataset) ([]*dataset.Dataset, error) {
		return dataset.SplitCounts(d, list, o.Seed)
	}, len(list), nil
}

// absent lists the classes of which d has no example.
func absent(d *dataset.Dataset) []string {
	seen := make([]bool, len(d.Classes))
	for _, y := range d.Y {
		seen[y] = true
	}
	var missing []string
	for q, name := range d.Classes {
		if !seen[q] {
			missing = append(missing, name)
		}
	}
	return missing
}

// firstOf joins the first few of many names.
func firstOf(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
