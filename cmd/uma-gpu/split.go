package main

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func splitCommand() *cli.Command {
	return &cli.Command{
		Name:  "split",
		Usage: "divide a data set at random into files that have all classes in the same shares",
		Description: "Say --out once for each part, in the order of the sizes. A part gets of every class its share,\n" +
			"rounded down or up, and keeps the order of the file. What fractions below 1 in all, or counts\n" +
			"without rest, leave is left out. The same seed gives the same parts. Each file has the format and\n" +
			"the label column of the original, unless its name asks for another.\n\n" +
			"Example: uma-gpu split --data all.csv --fractions 0.7,0.3 --out train.csv --out test.csv",
		Flags: append(app.DataFlags("examples to divide"),
			app.NoLabelsFlag(),
			&cli.StringFlag{Name: "fractions", Usage: "comma `LIST` of the parts' sizes, as fractions of all examples"},
			&cli.StringFlag{Name: "counts", Usage: "comma `LIST` of the parts' sizes, in examples; one may be rest"},
			app.SeedFlag("the division"),
			app.OutputsFlag{StringSliceFlag: &cli.StringSliceFlag{Name: "out", Usage: "`FILE` for a part (required, once for each)"}},
			app.QuietFlag()),
		Action: splitData,
	}
}

func splitData(c *cli.Context) error {
	if err := app.CheckUsage(c, "data"); err != nil {
		return err
	}
	options, err := app.WholeOptions(c)
	if err != nil {
		return err
	}
	divide, parts, err := division(c)
	if err != nil {
		return err
	}
	outs := c.StringSlice("out")
	if len(outs) != parts {
		return app.Usagef(c, "found --out %d times, wanted it %d times, once for each part", len(outs), parts)
	}
	for _, out := range outs {
		if err := app.CheckFormat(c, out); err != nil {
			return err
		}
	}
	n := app.NewNotes(c)
	d, err := app.ReadWhole(c.Context, c.String("data"), options, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := app.CheckRaw(d, "a part should be prepared by what was fitted to it; split the original data"); err != nil {
		return err
	}
	split, err := divide(d)
	if err != nil {
		return err
	}
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	var files atomicfile.Group
	defer files.Discard()
	for k, part := range split {
		if err := app.WriteData(c.Context, outs[k], part, app.Together(&files, app.CopyOptions(outs[k], d))); err != nil {
			return err
		}
	}
	if err := files.Commit(); err != nil {
		return err
	}
	left := d.N
	for k, part := range split {
		n.Say("%d of %d examples written to %s", part.N, d.N, outs[k])
		n.IDsLeftOut(d, outs[k], app.CopyOptions(outs[k], d).Format)
		if missing := absent(part); missing != nil {
			n.Warn("%s has no example of %d of the %d classes: %s", outs[k], len(missing), len(d.Classes), firstOf(missing))
		}
		left -= part.N
	}
	if left > 0 {
		n.Say("%d examples are in no part", left)
	}
	return nil
}

// division checks --fractions and --counts and returns what they ask for and the
// number of parts. What depends on the data is checked by package dataset.
func division(c *cli.Context) (divide func(*dataset.Dataset) ([]*dataset.Dataset, error), parts int, err error) {
	fractions, counts := c.String("fractions"), c.String("counts")
	if (fractions == "") == (counts == "") {
		return nil, 0, app.Usagef(c, "wanted exactly one of --fractions and --counts")
	}
	seed := c.Uint64("seed")
	if fractions != "" {
		var list []float64
		sum := 0.0
		for _, field := range strings.Split(fractions, ",") {
			f, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil || !(f > 0 && f <= 1) {
				return nil, 0, app.Usagef(c, "--fractions: found %q, wanted a number above 0, at most 1", field)
			}
			list, sum = append(list, f), sum+f
		}
		if sum > 1+1e-9 {
			return nil, 0, app.Usagef(c, "--fractions sum to %.6g, wanted at most 1", sum)
		}
		return func(d *dataset.Dataset) ([]*dataset.Dataset, error) {
			return dataset.SplitFractions(d, list, seed)
		}, len(list), nil
	}
	var list []int
	rest := false
	for _, field := range strings.Split(counts, ",") {
		field = strings.TrimSpace(field)
		if field == "rest" {
			if rest {
				return nil, 0, app.Usagef(c, "--counts: found rest twice, wanted it once at most")
			}
			list, rest = append(list, dataset.Rest), true
			continue
		}
		count, err := app.ParseCount(field)
		if err != nil || count < 1 {
			return nil, 0, app.Usagef(c, "--counts: found %q, wanted a number of examples from 1, or rest", field)
		}
		list = append(list, count)
	}
	return func(d *dataset.Dataset) ([]*dataset.Dataset, error) {
		return dataset.SplitCounts(d, list, seed)
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
