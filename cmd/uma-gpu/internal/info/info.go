// Package info is the command that describes a data set.
package info

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Options are the options of the command.
type Options struct {
	app.Common
	Data app.Data
}

// New returns the command, which calls run.
func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "info",
		Usage: "describe a data set: size, density, classes, ranges, constant features, duplicates, hash",
		Description: "Duplicates are examples all of whose values equal those of an earlier one; they " +
			"conflict if their\n" +
			"label is not that of the first. Conflicts hint at label noise, but for examples that may " +
			"belong to\n" +
			"several classes. The hash is that of the content: copies in other formats have the same. A " +
			"binary\n" +
			"file (.umab) has it stored; it is compared with what the file holds.\n\n" +
			"--data takes parts of one set, in the order of their names by a pattern in quotes, " +
			"'part-*.csv', or as a\n" +
			"list with commas, where no file has that very name. Tables have the columns of the first " +
			"part, and its\n" +
			"header or none.\n\n" +
			"Files may be packed by gzip or zstd. --format auto goes by content and name. Of a file of " +
			"--labels,\n" +
			"--label-column is the column. --storage auto goes by density; narrow keeps small integers " +
			"as such\n" +
			"and prepares them while they are read, which auto does too where it pays; weights do not " +
			"depend on\n" +
			"it. No example is left out unless --skip-bad is given.\n\n" +
			"A column of a table whose values are mostly words is a category: each level becomes a " +
			"feature that is 0\n" +
			"or 1, and the model keeps the levels. true, yes, false and no are numbers. Missing values " +
			"are an empty\n" +
			"field, NA, NaN, null, ? and the like; --missing says what stands for them, and info counts " +
			"them.\n\n" +
			"Of a column of free text, --text COLUMN, each word and each pair of words that follow each " +
			"other becomes a\n" +
			"feature, whose value is its tf-idf; the model keeps the vocabulary. Words that it does not " +
			"know do not\n" +
			"count. Data of texts are sparse; other columns beside them are scaled to at most 1.\n\n" +
			"Example: uma-gpu info --data train.csv",
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples to describe"), o.Data.NoLabelsFlag(),
			o.JSONFlag(),
			o.QuietFlag()),
		Action: app.Action(&o.Common, func(ctx context.Context) error { return run(ctx, o) }),
	}
}

// Run prints the description of the data.
func Run(ctx context.Context, o *Options) error {
	options, err := o.Data.Options()
	if err != nil {
		return err
	}
	d, err := o.Data.ReadWhole(ctx, options)
	if errors.Is(err, features.ErrMissing) && !o.Given("missing") && o.Data.Path != "-" {
		o.Notes.Say("data: %v", err)
		o.Notes.Say("data: described as read with --missing mean")
		options.Encode.Missing = "mean"
		d, err = o.Data.ReadWhole(ctx, options)
	}
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	need := memory.Sum(memory.Product(d.N, 12), memory.Product(d.D, 12))
	if err := memory.Check(need, fmt.Sprintf("a description of %d examples × %d features", d.N,
		d.D)); err != nil {
		return err
	}
	i := dataset.Describe(d)
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	return o.Print(i, func(w io.Writer) error { return printInfo(w, i) })
}

func printInfo(w io.Writer, i dataset.Info) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	line("data", "%s", i.Path)
	if i.Format != "" {
		line("format", "%s", i.Format)
	}
	hash := i.SHA256
	if i.Prepared != "" {
		line("prepared by", "%s", i.Prepared)
		hash = cmp.Or(hash, "not known") + ", of the data before"
	}
	line("content hash", "%s", hash)
	line("examples", "%d", i.Examples)
	line("features", "%d", i.Features)
	for _, m := range i.Missing {
		line("missing values", "%d in %s", m.Values, m.Column)
	}
	if i.Classes == nil {
		line("classes", "none, read without labels")
	} else {
		line("classes", "%d", len(i.Classes))
	}
	line("storage", "%s, %s in memory", i.Storage, app.BytesText(i.Bytes))
	line("density", "%.3g %% (%d values are not zero)", 100*i.Density, i.NonZero)
	line("values", "%s to %s, mean |value| %.4g", app.FloatText(i.Min), app.FloatText(i.Max),
		i.MeanAbs)
	line("subnormals", "%d, read as 0", i.Subnormals)
	line("constant features", "%d, of which zero in every example %d", i.ConstantFeatures,
		i.EmptyFeatures)
	line("empty examples", "%d", i.Empty)
	line("duplicates", "%s", duplicatesText(i))
	if bad := len(i.SkippedAt); bad > 0 {
		line("skipped", "%d bad examples, at %s", bad, app.Places(i.SkippedAt))
	}
	for _, note := range i.Notes {
		line("note", "%s", note)
	}
	for _, warning := range i.Warnings {
		line("warning", "%s", warning)
	}
	if i.Columns != nil {
		fmt.Fprintf(t, "\ncolumn\tkind\tfeatures\n")
		for k, c := range i.Columns {
			fmt.Fprintf(t, "%s\t%s\t%d\n", cmp.Or(app.Brief(c.Name), strconv.Itoa(k+1)), c.Kind, c.Features)
		}
	}
	if i.Classes != nil {
		fmt.Fprintf(t, "\nclass\texamples\tshare\n")
		for _, c := range i.Classes {
			fmt.Fprintf(t, "%s\t%d\t%.2f %%\n", app.Brief(c.Class), c.Examples,
				100*float64(c.Examples)/float64(i.Examples))
		}
	}
	return t.Flush()
}

func duplicatesText(i dataset.Info) string {
	text := strconv.Itoa(i.Duplicates)
	if i.Duplicates > 0 && i.Classes != nil {
		text += fmt.Sprintf(", of which labelled otherwise than the first %d", i.Conflicting)
	}
	return text
}
