// Package calibrate is the command that fits the temperature and prediction sets of a model.
package calibrate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
	"github.com/uma-gpu/uma-gpu/host/model"
)

type Options struct {
	app.Classifier
	Noise   app.Noise
	Levels  string // of prediction sets
	ByClass bool
	Out     string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "calibrate",
		Usage: "fit probabilities and prediction sets to held-out examples",
		Description: `Probabilities are softmax(scores / temperature). train fits the temperature to its own
examples. calibrate fits it to examples that the model has never seen, which is better: the temperature minimises the Brier score, corrected by --confusion if
the labels are noisy. Nothing else in the model changes.

--sets 0.9 also fits prediction sets: predict --sets 0.9 then prints classes that include the true
one for 90 % of examples. With --confusion this holds for right labels although these are noisy;
with --by-class it holds within each class, which takes many examples of rare classes.

Example: uma-gpu calibrate --model m.npz --data heldout.csv --confusion C.csv --out calibrated.npz
Example: uma-gpu calibrate --model m.npz --data heldout.csv --sets 0.9,0.95 --out calibrated.npz`,
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common,
			"examples that the model was not trained on"),
			o.Model.MatchFlag(), o.Noise.Flags("confusion matrix of their label noise: `FILE`, CSV or .npy"),
			app.Text(&o.Levels, "sets", "",
				"also fit prediction sets of these `LEVELS`, such as 0.9,0.95"),
			app.Switch(&o.ByClass, "by-class", "sets of each level hold within each class"),
			app.Required(app.Output(&o.Out, "out",
				"model to write, `FILE`.npz (required)")),
			o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what calibrate --json prints.
type Report struct {
	Model       string   `json:"model"`
	Temperature float32  `json:"temperature"`
	Before      *float32 `json:"before"` // of the model as it was; null for none
	Examples    int      `json:"examples"`
	Sets        []Sets   `json:"sets,omitempty"`
}

// Sets is a rule of prediction sets and their size on the examples.
type Sets struct {
	sets.Rule
	Size float64 `json:"size"` // mean, of classes
}

// levels returns the levels of --sets, in increasing order.
func (o *Options) levels() (levels []float64, err error) {
	if o.Levels == "" {
		if o.ByClass {
			return nil, app.Usage("--by-class needs --sets")
		}
		return nil, nil
	}
	for _, text := range strings.Split(o.Levels, ",") {
		level, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(level > 0 && level < 1) {
			return nil, app.Usage("--sets has the level %q, wanted numbers above 0 and below 1, such as "+
				"0.9,0.95", text)
		}
		levels = append(levels, level)
	}
	slices.Sort(levels)
	return slices.Compact(levels), nil
}

// calibrateSets fits rules of the levels and puts them into the model, whose temperature is fitted.
func (o *Options) calibrateSets(r *app.Classified, noise *confusion.Matrix, levels []float64,
) (fitted []Sets, err error) {
	if r.Model.Meta.Sets = nil; levels == nil {
		return nil, nil
	}
	if err := r.Model.ToProbabilities(r.Scores); err != nil {
		return nil, err
	}
	for _, level := range levels {
		rule, err := sets.Calibrate(r.Scores, r.Data.Y, noise,
			sets.Rule{Level: level, ByClass: o.ByClass})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Data.Path, err)
		}
		r.Model.Meta.Sets = append(r.Model.Meta.Sets, rule)
		judged, err := rule.Judge(r.Scores, r.Data.Y, noise)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Data.Path, err)
		}
		fitted = append(fitted, Sets{rule, judged.Size})
		if n := rule.Unbounded(); n > 0 {
			o.Notes.Warn("sets of level %v: %d of %d classes are in every set, because %d examples are too "+
				"few for this noise: calibrate on more, or with less noise", level, n,
				len(r.Classes), r.Data.N)
		}
	}
	return fitted, nil
}

// Run writes the calibrated model.
func Run(ctx context.Context, o *Options) error {
	levels, err := o.levels()
	if err != nil {
		return err
	}
	r, err := o.Classify(ctx, func(*model.Model) (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	defer r.Data.Close() // only read
	noise, err := o.Noise.Read(ctx, r.Classes)
	if err != nil {
		return err
	}
	if noise == nil {
		o.Notes.Say("no --confusion: all labels are assumed to be right")
	}
	report, meta, before := Report{Model: o.Out, Examples: r.Data.N}, &r.Model.Meta, "none"
	if t := meta.Temperature; t > 0 {
		report.Before, before = &t, fmt.Sprintf("%.4g", t)
	}
	meta.Temperature, err = confusion.Temperature(ctx, r.Scores, r.Data.Y, len(r.Classes), noise)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Data.Path, err)
	}
	report.Temperature = meta.Temperature
	if report.Sets, err = o.calibrateSets(&r, noise, levels); err != nil {
		return err
	}
	if err := r.Model.Save(o.Out); err != nil {
		return err
	}
	return o.PrintTable(report, func(row app.Row) {
		row("model\t%s", report.Model)
		row("temperature\t%.4g (before: %s)", report.Temperature, before)
		for _, s := range report.Sets {
			row("sets of level %v\t%.2f classes on average", s.Level, s.Size)
		}
	})
}
