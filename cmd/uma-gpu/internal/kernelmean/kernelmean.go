// Package kernelmean has the commands about the mean classifier.
package kernelmean

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/meanmodel"
	"github.com/uma-gpu/uma-gpu/internal/means"
)

func NewTable(run func(context.Context, *app.Common) error) *cli.Command {
	o := new(app.Common)
	return &cli.Command{
		Name:  "table",
		Usage: "which losses are immune to symmetric label noise, and why",
		Description: `With labels flipped at rate s the expected loss of a score v is (1-2s)·loss +
s·S(v). S(v) is the loss of label 1 plus that of label -1. If S is constant, noise moves no minimum
(van Rooyen et al., Sparse robust classification via the kernel mean, Theorem 15). S is computed at
scores from -4 to 4.

Example: uma-gpu kernelmean table`,
		Flags:  []cli.Flag{o.JSONFlag()},
		Action: app.Action(o, run),
	}
}

// LossReport is what kernelmean table --json prints of a loss.
type LossReport struct {
	Loss     string  `json:"loss"`
	Formula  string  `json:"formula"`
	Least    float64 `json:"least_sum"`
	Most     float64 `json:"most_sum"`
	Constant float64 `json:"constant_to"` // scores
	Convex   bool    `json:"convex"`
	Immune   bool    `json:"immune"`
}

// Table prints the losses.
func Table(_ context.Context, o *app.Common) error {
	var all []LossReport
	for _, l := range means.Losses {
		i := l.Immunity()
		all = append(all, LossReport{l.Name, l.Formula, i.Least, i.Most, i.Constant, i.Convex, i.Immune})
	}
	yesNo := map[bool]string{true: "yes", false: "no"}
	return o.PrintTable(all, func(row app.Row) {
		row("loss\tof margin m = y·v\tconvex\timmune\tbecause l(1,v) + l(-1,v)")
		for _, r := range all {
			because := fmt.Sprintf("goes from %.4g to %.4g", r.Least, r.Most)
			if r.Immune {
				because = fmt.Sprintf("is %.4g everywhere", r.Most)
			} else if r.Constant > 0 {
				because = fmt.Sprintf("is %.4g up to |v| = %.4g, then goes to %.4g", r.Least, r.Constant,
					r.Most)
			}
			row("%s\t%s\t%s\t%s\t%s", r.Loss, r.Formula, yesNo[r.Convex], yesNo[r.Immune], because)
		}
	})
}

// CombineOptions are those of kernelmean combine.
type CombineOptions struct {
	app.Common
	Models cli.StringSlice // the parts
	Out    string
}

func NewCombine(run func(context.Context, *CombineOptions) error) *cli.Command {
	o := new(CombineOptions)
	return &cli.Command{
		Name:  "combine",
		Usage: "make one model of the mean classifiers of parts of the examples",
		Description: `Say --model once for each part, in the order of the examples. The models must be of
learner kernelmean with the same kernel function, preparation (none, or files that convert prepared)
and C. The result of exact models is that of all examples to the bit. With fewer atoms, a mean is no
farther from the exact one than the mean distance of the parts, weighed by their examples. The atoms
of all are kept; uma-gpu compress makes them fewer.

Example: uma-gpu kernelmean combine --model a.npz --model b.npz --out all.npz`,
		Flags: []cli.Flag{
			app.Inputs(&o.Models, "model", "model of a part, `FILE`.npz (required, once for each)"),
			app.Required(app.Output(&o.Out, "out", "model to write, `FILE`.npz (required)")),
			o.QuietFlag(),
		},
		Action: app.Action(o, run),
	}
}

// Combine writes the model of all parts.
func Combine(ctx context.Context, o *CombineOptions) error {
	if len(o.Models.Value()) == 0 {
		return app.Missing("model")
	}
	var parts []*model.Model
	for _, path := range o.Models.Value() {
		m, err := model.Load(path)
		if err != nil {
			return err
		}
		parts = append(parts, m)
	}
	m, err := meanmodel.Combine(parts)
	if err != nil {
		return err
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err := m.Save(o.Out); err != nil {
		return err
	}
	examples := int64(0)
	for _, n := range m.Meta.Kernel.Examples {
		examples += n
	}
	o.Notes.Say("%s has %d atoms, the means of %d examples; probabilities want uma-gpu calibrate",
		o.Out, m.Projection.Landmarks.N, examples)
	return nil
}

// MarginOptions are those of kernelmean margin.
type MarginOptions struct {
	classify.Options
	Most int // landmarks to try
}

func NewMargin(run func(context.Context, *MarginOptions) error) *cli.Command {
	o := new(MarginOptions)
	return &cli.Command{
		Name:  "margin",
		Usage: "how much a kernel model stands: scores off, fewer landmarks, wrong labels",
		Description: `The margin for error of a classifier is how far each score may be off while no more
than a share of the examples becomes wrong (van Rooyen et al., Section 4.1). For that share it also
says to how few landmarks uma-gpu compress may bring the model, powers of 2 being tried. For the
mean classifier of right labels it says which rate of symmetric noise its labels could have had
(Lemma 9, 95 times of 100), and which part of them may be wrong in the worst way (Corollary 8).
These are promises; a model really stands more, and often far more. With --no-labels the classes are
those it predicts.

Example: uma-gpu kernelmean margin --model m.npz --data train.csv`,
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common, "examples with right labels"),
			o.Data.NoLabelsFlag(), o.Model.MatchFlag(),
			app.Count(&o.Most, "landmarks", 1024, 1, math.MaxInt, "try up to `K` landmarks"),
			o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Margin prints the margins of a model.
func Margin(ctx context.Context, o *MarginOptions) (err error) {
	m, d, e, err := o.OpenKernel(ctx)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	defer func() { err = errors.Join(err, e.Close()) }()
	found, err := meanmodel.Margins(ctx, e, m, d.Examples, d.Y, o.Most)
	if err := app.Failure(ctx, o.Model.Path, err); err != nil {
		return err
	}
	return o.PrintTable(found, func(row app.Row) {
		if len(found) == 0 {
			row("no margin: the score of no example's class is above those of the others")
			return
		}
		head, labels := "more wrong", ""
		if d.Y == nil {
			head = "of other classes than now"
		}
		if found[0].Labels > 0 {
			labels = "\tlabels wrong by chance\tlabels wrong in the worst way"
		}
		row("%s\tscores off by less than\tlandmarks%s", head, labels)
		for _, m := range found {
			landmarks := fmt.Sprint(m.Landmarks)
			if m.Landmarks == 0 {
				landmarks = fmt.Sprintf("more than %d", o.Most)
			}
			if labels != "" {
				labels = fmt.Sprintf("\t%.3g %%\t%.3g %%", 100*m.Noise, 100*m.Labels)
			}
			row("%.4g %%\t%.3g\t%s%s", 100*m.Share, m.Error, landmarks, labels)
		}
	})
}
