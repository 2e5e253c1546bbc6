package training

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
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/learners"
)

// AnnotatorFlags say who gave which label, in place of labels in the data.
func AnnotatorFlags() []cli.Flag {
	return []cli.Flag{
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "annotators",
			Usage: "labels of several people instead of the data's: `FILE`, a CSV item,worker,label"}},
		TrustFlag(),
		&cli.BoolFlag{Name: "no-labels",
			Usage: "with --annotators: all columns of the data are features"},
	}
}

// TrustFlag says which annotators never err.
func TrustFlag() cli.Flag {
	return &cli.StringFlag{Name: "trust",
		Usage: "comma list of `WORKERS` of --annotators whose labels are right, as of a checker"}
}

// Trusted returns the names of trustFlag, nil for none.
func Trusted(c *cli.Context) ([]string, error) {
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
func (t *Training) annotated(c *cli.Context) (err error) {
	if t.Trusted, err = Trusted(c); err != nil {
		return err
	}
	if t.Annotators = c.String("annotators"); t.Annotators == "" {
		if c.Bool("no-labels") {
			return app.Usagef(c, "--no-labels is given without --annotators")
		}
		return nil
	}
	if t.Confusion != "" {
		return app.Usagef(c,
			"--annotators and --confusion exclude each other: each annotator has a matrix, which is learned")
	}
	if about := t.Learner.Definition(); !about.Annotations {
		return app.Usagef(c, "learner %s cannot learn from the labels of --annotators; use --learner "+
			"softmax", about.Name)
	}
	WithoutLabels(c, &t.Read)
	return nil
}

// WithoutLabels makes options those of data whose labels do not count.
func WithoutLabels(c *cli.Context, o *file.Options) {
	o.NoLabels, o.Labels = true, ""
	if !c.Bool("no-labels") {
		o.LabelColumn = cmp.Or(o.LabelColumn, "last") // never a feature
	}
}

// JudgeByConsensus gives d the consensus of the annotators as labels, and returns its matrix, as
// confusion estimate --annotators finds both.
func (t *Training) JudgeByConsensus(ctx context.Context, d *dataset.Dataset,
) (*confusion.Matrix, error) {
	found, err := crowd.Fit(ctx, t.Annotations, t.Seed, crowd.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Annotators, err)
	}
	noise, err := estimate.FromCrowd(found, found.Consensus)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Annotators, err)
	}
	d.Y = found.Consensus
	t.Notes.Say("judged by the consensus of the annotators (%s)", found.Method)
	return &noise.Matrix, nil
}

// ReadAnnotations reads the table of --annotators and gives d the classes of its labels, or
// those of the training to go on with, and the votes as labels.
func (t *Training) ReadAnnotations(ctx context.Context, d *dataset.Dataset) error {
	o := crowd.AnnotationOptions{Items: d.N, Right: t.Trusted}
	if base := t.base(); base != nil {
		o.Classes = base.Meta.Classes
	}
	a, err := app.ReadAnnotations(ctx, t.Annotators, o)
	if err != nil {
		return err
	}
	if o.Classes == nil {
		classes := slices.Clone(a.Classes)
		dataset.SortClasses(classes)
		if err := a.Arrange(classes); err != nil {
			return fmt.Errorf("%s: %w", t.Annotators, err)
		}
	}
	t.Annotations, d.Classes, d.Y = a, a.Classes, a.Votes(t.Seed)
	t.Notes.Say("annotators: %s, %d labels of %d annotators, %d classes", t.Annotators,
		len(a.Label), len(a.Names), len(a.Classes))
	return nil
}

// learnsNoise says whether the learner finds out how labels are wrong.
func (t *Training) learnsNoise() bool {
	if t.Annotators != "" {
		return true
	}
	learn, ok := learners.Lookup(t.Learner, "learn_confusion")
	return ok && learn.String() == "true"
}
