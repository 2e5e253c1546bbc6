// Package cv is the command that judges a learner by examples held out in turn.
package cv

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
)

type Options struct {
	app.Common `json:"-"`
	Input      app.Labelled                `json:"input"`
	Request    umagpu.CrossValidateRequest `json:"request,omitzero"`
	Tables     bool                        `json:"-"`
	Try        cli.StringSlice             `json:"-"` // flags of candidates
	Device     app.Device                  `json:"-"`
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "cv",
		Usage: "judge learners by examples held out in turn, without a right label",
		Description: `Cuts the examples in --folds parts. Each part is judged by a training on all others, which fits
preparation and kernel anew. Prints what eval prints, of all examples, and --tables what eval --tables
prints. With --confusion, by which the labels are noisy, accuracy and log-loss are corrected: they
estimate what right labels would show.

--annotators takes labels of several people. The trainings learn from all of them. They are judged by
the consensus that confusion estimate --annotators finds, and by its matrix.

--try "FLAGS", given several times, compares configurations on the same parts. FLAGS are flags
of train for the learner, the kernel and the preparation, added to the flags of cv. They are ranked
by the mean log-loss of the examples held out, corrected if there is a C. The column behind is the
distance from the best, ± twice its standard error, example by example. A * marks configurations
that these labels do not tell from the best. With --confusion none in FLAGS a training takes the
labels to be right, and with a file it learns with another C than the one that judges.

The same data, flags and seed give the same numbers on every device. Copies of an example may fall in
several parts; then all measures are better here than on new examples.

Example: uma-gpu cv --data noisy.csv --confusion C.csv --kernel rbf --folds 10
Example: uma-gpu cv --data noisy.csv --confusion C.csv --try "--learner softmax" \
           --try "--kernel rbf" --try "--learner uma --normalize l2"`,
		Flags: app.Flags(app.NoisyFlags(&o.Input, &o.Common), app.AnnotatorFlags(&o.Input),
			app.ParameterFlags(&o.Request, "normalize", "learner", "max_steps", "seed", "kernel", "folds"),
			app.LearnerFlags(&o.Request.Settings, "l2"),
			&cli.StringSliceFlag{Name: "try", Destination: &o.Try,
				Usage: "compare trainings by these `FLAGS` with others; may be given again"},
			o.Device.Flags(), app.TablesFlag(&o.Tables), o.RequestFlag(o), o.JSONFlag(),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what cv --json prints.
type Report struct {
	Request *Options `json:"request"`
	*umagpu.CrossValidateResult
}

// Run makes the trainings and judges them.
func Run(ctx context.Context, o *Options) error {
	if o.Tables && (len(o.Try.Value()) > 0 || o.Request.Compare != nil) {
		return app.Usage("--try cannot be combined with --tables: it prints a row for each configuration")
	}
	files, err := o.candidates()
	if err != nil {
		return err
	}
	r := o.Request
	read, err := o.Input.Check()
	if err == nil {
		err = app.CheckRequest(&o.Input, r.Check, &r.Labels)
	}
	if err != nil {
		return err
	}
	d, err := o.Input.Data.Read(ctx, read)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	reader := &app.LabelReader{Input: &o.Input, Notes: o.Notes, In: o.In, Seed: r.Seed}
	if reader.Learner, err = r.Settings.Choose(); err != nil {
		return err
	}
	if r.Labels, r.Confusion, err = reader.Known(ctx, d); err != nil {
		return err
	}
	r.Compare = slices.Clone(r.Compare)
	for k, path := range files {
		noise := app.Noise{Path: path}
		if r.Compare[k].Confusion, err = noise.Confusion(ctx, d.Classes); err != nil {
			return err
		}
	}
	r.Data, r.Compute = umagpu.FromDataset(d), o.Device.Compute(o.Notes, app.Training)
	found, err := umagpu.CrossValidate(ctx, &r)
	if err != nil {
		return err
	}
	report := Report{o, found}
	if found.Judgement == nil {
		corrected := o.Input.Noise.Path != "" || o.Input.Annotators != ""
		return o.PrintTable(report, func(row app.Row) { fill(found, corrected, row) })
	}
	app.WarnOf(o.Notes, found.Judgement)
	return o.Print(report, func(w io.Writer) error {
		fmt.Fprintf(w, "learner %s, %d folds, each example by the training that has not seen it\n",
			found.Learner, found.Folds)
		return app.PrintJudgement(w, found.Judgement, o.Tables)
	})
}

// noConfusion, as --confusion of a --try, means no matrix.
const noConfusion = "none"

// candidates enters what --try compares: its flags are added to cv's flags for the learner, kernel
// and preparation. It returns the confusion matrices of candidates that have files for them.
func (o *Options) candidates() (files map[int]string, err error) {
	files = map[int]string{}
	for _, flags := range o.Try.Value() {
		c := umagpu.Candidate{Name: flags, Settings: o.Request.Settings}
		c.Parameters = maps.Clone(c.Parameters)
		path := ""
		err := app.Parse(app.Without(app.Flags(app.ParameterFlags(&c),
			app.LearnerFlags(&c.Settings), app.Text(&path, "confusion", "", "")), "seed", "time", "folds"),
			strings.Fields(flags))
		if err == nil {
			_, err = c.Choose()
		}
		if err != nil {
			return nil, fmt.Errorf("--try %q: %w", flags, err)
		}
		if c.NoConfusion = path == noConfusion; path != "" && !c.NoConfusion {
			files[len(o.Request.Compare)] = path
		}
		o.Request.Compare = append(o.Request.Compare, c)
	}
	return files, nil
}

// fill prints a comparison, by measures that are corrected by a confusion matrix or not.
func fill(found *umagpu.CrossValidateResult, corrected bool, row app.Row) {
	what := ""
	if corrected {
		what = "corrected "
	}
	row("%slog-loss\tbehind\t\t%saccuracy\tflags", what, what)
	for k, c := range found.Compared {
		if c.Failed != "" {
			row("failed\t\t\t\t%s", c.Name)
			continue
		}
		behind, mark := "-", ""
		if k > 0 && c.LogLoss != nil {
			behind = fmt.Sprintf("%.4f ± %.4f", c.Behind, 2*c.BehindError)
			if c.Behind <= 2*c.BehindError {
				mark = "*"
			}
		}
		accuracy := app.EstimateText(c.Accuracy)
		if !corrected {
			accuracy = fmt.Sprintf("%.4f", c.Accuracy.Value)
		}
		row("%s\t%s\t%s\t%s\t%s", app.ShareText(c.LogLoss), behind, mark, accuracy, c.Name)
	}
}
