package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
)

// annotatorFlags say who gave which label, in place of labels in the data.
func annotatorFlags() []cli.Flag {
	return []cli.Flag{
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "annotators",
			Usage: "labels of several people instead of the data's: " +
				"`FILE`, a CSV item,worker,label"}},
		trustFlag(),
		&cli.BoolFlag{Name: "no-labels",
			Usage: "with --annotators: all columns of the data are features"},
	}
}

// trustFlag says which annotators never err.
func trustFlag() cli.Flag {
	return &cli.StringFlag{Name: "trust",
		Usage: "comma list of `WORKERS` of --annotators whose labels are right, " +
			"as of a checker"}
}

// trusted returns the names of trustFlag, nil for none.
func trusted(c *cli.Context) ([]string, error) {
	list := c.String("trust")
	if list == "" {
		return nil, nil
	}
	if c.String("annotators") == "" {
		return nil, app.Usagef(c, "--trust is given without --annotators")
	}
	return strings.Split(list, ","), nil
}

// annotated makes of t's options those of data whose labels do not count, if the flags of
// annotatorFlags ask for that.
func (t *training) annotated(c *cli.Context) (err error) {
	if t.trusted, err = trusted(c); err != nil {
		return err
	}
	if t.annotators = c.String("annotators"); t.annotators == "" {
		if c.Bool("no-labels") {
			return app.Usagef(c, "--no-labels is given without --annotators")
		}
		return nil
	}
	if t.confusion != "" {
		return app.Usagef(c,
			"--annotators and --confusion exclude each other: each annotator has a matrix, which is learned")
	}
	if about := t.Learner.Definition(); !about.Annotations {
		return app.Usagef(c, "learner %s cannot learn from the labels of --annotators; use --learner "+
			"softmax", about.Name)
	}
	withoutLabels(c, &t.read)
	return nil
}

// withoutLabels makes options those of data whose labels do not count.
func withoutLabels(c *cli.Context, o *dataset.Options) {
	o.NoLabels, o.Labels = true, ""
	if !c.Bool("no-labels") {
		o.LabelColumn = cmp.Or(o.LabelColumn, "last") // never a feature
	}
}

// judgeByConsensus gives d the consensus of the annotators as labels, and returns its matrix, as
// confusion estimate --annotators finds both.
func (t *training) judgeByConsensus(ctx context.Context, d *dataset.Dataset) (*confusion.Matrix,
	error) {
	found, err := crowd.Fit(ctx, t.Annotations, t.Seed, crowd.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.annotators, err)
	}
	noise, err := estimate.FromCrowd(found, found.Consensus)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.annotators, err)
	}
	d.Y = found.Consensus
	t.notes.Say("judged by the consensus of the annotators (%s)", found.Method)
	return &noise.Matrix, nil
}

// readAnnotations reads the table of --annotators and gives d the classes of its labels, or
// those of the training to go on with, and the votes as labels.
func (t *training) readAnnotations(ctx context.Context, d *dataset.Dataset) error {
	o := crowd.AnnotationOptions{Items: d.N, Right: t.trusted}
	if base := t.base(); base != nil {
		o.Classes = base.Meta.Classes
	}
	a, err := app.ReadAnnotations(ctx, t.annotators, o)
	if err != nil {
		return err
	}
	if o.Classes == nil {
		classes := slices.Clone(a.Classes)
		dataset.SortClasses(classes)
		if err := a.Arrange(classes); err != nil {
			return fmt.Errorf("%s: %w", t.annotators, err)
		}
	}
	t.Annotations, d.Classes, d.Y = a, a.Classes, a.Votes(t.Seed)
	t.notes.Say("annotators: %s, %d labels of %d annotators, %d classes", t.annotators,
		len(a.Label), len(a.Names), len(a.Classes))
	return nil
}

// learnsNoise says whether the learner finds out how labels are wrong.
func (t *training) learnsNoise() bool {
	if t.annotators != "" {
		return true
	}
	learn, ok := learners.Lookup(t.Learner, "learn_confusion")
	return ok && learn.String() == "true"
}
