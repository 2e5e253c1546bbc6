// Package info is the command that describes a data set.
package info

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

type Options struct {
	app.Common
	Data app.Data
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "info",
		Usage: "describe a data set: size, density, classes, ranges, constant features, duplicates, hash",
		Description: `A duplicate is an example with the same values as an earlier one. It conflicts if
its label is not that of the first. Conflicts hint at label noise, but for examples that may belong
to several classes. The hash covers the content: a copy in another format has the same.

Files may be packed by gzip or zstd. --format auto goes by content and name. In a file of --labels,
--label-column is the column. --storage auto goes by density.
Any table is read in one go, and what was found in it is told. A malformed row, such as one with too
few fields, is an error in other commands unless they have --skip-bad: info skips it and lists it as
a problem. A row with an empty label is not malformed.

A column of a table whose values are mostly words is a category: each level that comes again becomes
a feature that is 0 or 1, and the model keeps the levels. true, yes, false and no are numbers.
Missing values are an empty field, NA, NaN, null, ? and the like: the mean of the column stands for
them, and a feature of 0 or 1. Dates and names of examples are set aside, sentences are texts.
--missing error refuses all that is no number or category.

--text COLUMN makes a feature of each word of that column and of each pair of words that follow each
other. Its value is the tf-idf; the model keeps the vocabulary. Words that it does not know do not
count. Data of texts are sparse; other columns beside them are scaled to at most 1.

Example: uma-gpu info --data train.csv`,
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples to describe"), o.Data.ReadingFlags(),
			app.ParameterFlags(&o.Data.TableOptions, "text", "categories", "missing",
				"storage"), o.Data.NoLabelsFlag(),
			o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run prints the description of the data.
func Run(ctx context.Context, o *Options) error {
	o.Notes.Described = true
	options := o.Data.Options()
	options.Exact = true
	d, problems, err := o.read(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	need := memory.Sum(memory.Product(d.N, 80), memory.Product(d.D, 12))
	what := fmt.Sprintf("a description of %d examples × %d features", d.N, d.D)
	if err := memory.Check(need, what); err != nil {
		return err
	}
	i := described{Info: dataset.Describe(d), Problems: problems}
	if i.Columns != nil && i.Classes != nil {
		i.Learner = umagpu.AutoLearner
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	return o.PrintTable(i, func(row app.Row) { rows(i, row) })
}

// described is what info --json prints. Problems are what keeps other commands from reading the
// data without more flags.
type described struct {
	dataset.Info
	Problems []string `json:"problems,omitempty"`
	Learner  string   `json:"learner,omitempty"` // that suits tables; empty of others
}

// read reads what can be read, unless --missing error asks for more or the data cannot be read
// again: without labels if these are the problem, and without bad examples.
func (o *Options) read(ctx context.Context, options file.Options) (d *dataset.Dataset,
	problems []string, err error) {
	is, err := os.Stat(o.Data.Path)
	once := o.Data.Path == "-" || err == nil && !is.Mode().IsRegular()
	for _, relax := range []func(){func() {},
		func() { options.SkipBad = math.MaxInt },
		func() { options.NoLabels, options.Labels = true, "" },
	} {
		relax()
		d, err = o.Data.Read(ctx, options)
		if err == nil && len(d.SkippedAt) > d.N {
			err = fmt.Errorf("%s: found %d malformed rows beside %d others: it is no table", o.Data.Path,
				len(d.SkippedAt), d.N)
		}
		if err == nil || once ||
			options.Encode.Missing != dataset.MissingAuto ||
			errors.Is(err, fs.ErrNotExist) || errors.Is(err, app.ErrInterrupted) ||
			errors.Is(err, memory.ErrBudget) {
			return d, problems, err
		}
		if text := err.Error(); !slices.Contains(problems, text) {
			problems = append(problems, text)
		}
	}
	return nil, nil, err
}

func rows(i described, row app.Row) {
	row("data\t%s", i.Path)
	if i.Format != "" {
		row("format\t%s", i.Format)
	}
	hash := i.SHA256
	if i.Prepared != "" {
		row("prepared by\t%s", i.Prepared)
		hash = cmp.Or(hash, "not known") + ", of the data before"
	}
	row("content hash\t%s", hash)
	row("examples\t%d", i.Examples)
	row("features\t%d", i.Features)
	for _, m := range i.Missing {
		row("missing values\t%d in %s", m.Values, m.Column)
	}
	if i.Classes == nil {
		row("classes\tnone, read without labels")
	} else {
		row("classes\t%d", len(i.Classes))
		if i.Unlabelled > 0 {
			row("unlabelled\t%d examples", i.Unlabelled)
		}
	}
	row("storage\t%s, %s in memory", i.Storage, app.BytesText(i.Bytes))
	row("density\t%.3g %% (%d values are not zero)", 100*i.Density, i.NonZero)
	row("values\t%s to %s, mean |value| %.4g", app.NumberText(i.Min), app.NumberText(i.Max), i.MeanAbs)
	row("subnormals\t%d, read as 0", i.Subnormals)
	row("constant features\t%d, zero in every example %d", i.ConstantFeatures, i.EmptyFeatures)
	row("empty examples\t%d", i.Empty)
	conflicts := ""
	if i.Duplicates > 0 && i.Classes != nil {
		conflicts = fmt.Sprintf(", labelled otherwise than the first %d", i.Conflicting)
	}
	row("duplicates\t%d%s", i.Duplicates, conflicts)
	if bad := len(i.SkippedAt); bad > 0 {
		row("skipped\t%d bad examples, at %s", bad, app.Places(i.SkippedAt))
	}
	for _, problem := range i.Problems {
		row("problem\t%s", problem)
	}
	for _, note := range i.Notes {
		row("note\t%s", note)
	}
	if i.Learner != "" {
		row("learner\ttrain --learner %s mixes trees, linear and curved models", i.Learner)
	}
	if i.Columns != nil {
		row("\ncolumn\tkind\tfeatures")
		for k, c := range i.Columns {
			row("%s\t%s\t%d", cmp.Or(app.Brief(c.Name), strconv.Itoa(k+1)), c.Kind, c.Features)
		}
	}
	if i.Classes != nil {
		row("\nclass\texamples\tshare")
		for _, c := range i.Classes {
			row("%s\t%d\t%.2f %%", app.Brief(c.Class), c.Examples,
				100*float64(c.Examples)/float64(i.Examples))
		}
	}
}
