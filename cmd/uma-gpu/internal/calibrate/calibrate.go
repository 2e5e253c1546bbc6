// Package calibrate is the command that fits the temperature of a model.
package calibrate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
	"github.com/uma-gpu/uma-gpu/host/model"
)

type Options struct {
	classify.Options
	Noise   app.Noise
	Levels  string // of prediction sets
	Measure string // of these
	ByClass bool
	Out     string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "calibrate",
		Usage: "fit a model's probabilities, and prediction sets, to examples held out",
		Description: `Probabilities are softmax(scores / temperature). train fits the temperature to its
own examples, or with --temperature-folds to parts of them held out in turn. calibrate fits it to
examples that the model has never seen, which is best. It takes the temperature of the least Brier
score. Noisy labels need --confusion, by which the score is corrected. Nothing else changes.

--sets 0.9 also finds which classes predict --sets 0.9 gives together, so that the true class is
among them in 90 of 100 examples. By --confusion the promise is about right labels, although these
are noisy. With --by-class it holds for the examples of each class; rare classes need many examples.
--set-score cumulative makes sets larger where an example is hard, and smaller where it is easy.

Example: uma-gpu calibrate --model m.npz --data heldout.csv --confusion C.csv --out calibrated.npz
Example: uma-gpu calibrate --model m.npz --data heldout.csv --sets 0.9,0.95 --out calibrated.npz`,
		Flags: app.Flags(o.Model.Flag(), o.Data.Flags(&o.Common,
			"examples that the model was not trained on"),
			o.Model.MatchFlag(), o.Noise.Flags("confusion matrix of their label noise: `FILE`, CSV or .npy"),
			app.Text(&o.Levels, "sets", "",
				"also calibrate prediction sets of these `LEVELS`, such as 0.9,0.95"),
			app.Choice(&o.Measure, "set-score", sets.Improbability,
				"`SCORE` of a class in sets: improbability (1 - p) or cumulative (p of all as likely)",
				sets.Improbability, sets.Cumulative),
			app.Switch(&o.ByClass, "by-class", "sets keep their promise for the examples of each class"),
			app.Required(app.Output(&o.Out, "out",
				"the model with its new temperature, `FILE`.npz (required)")),
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

// Sets are prediction sets as the labels of the examples tell of them.
type Sets struct {
	sets.Rule
	Size float64 `json:"size"` // mean, of classes
}

// levels returns those of --sets, in increasing order.
func (o *Options) levels() (levels []float64, err error) {
	if o.Levels == "" {
		if o.ByClass || o.Given("set-score") {
			return nil, app.Usage("--by-class and --set-score are about --sets, which is not given")
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

// calibrateSets writes rules of the levels into the model, whose temperature is fitted.
func (o *Options) calibrateSets(r *classify.Classified, noise *confusion.Matrix, levels []float64,
) (all []Sets, err error) {
	if r.Model.Meta.Sets = nil; levels == nil {
		return nil, nil
	}
	if err := r.Model.ToProbabilities(r.Scores); err != nil {
		return nil, err
	}
	for _, level := range levels {
		rule, err := sets.Calibrate(r.Scores, r.Data.Y, noise,
			sets.Rule{Level: level, Nonconformity: o.Measure, ByClass: o.ByClass})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Data.Path, err)
		}
		r.Model.Meta.Sets = append(r.Model.Meta.Sets, rule)
		judged, err := rule.Judge(r.Scores, r.Data.Y, noise)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Data.Path, err)
		}
		all = append(all, Sets{rule, judged.Size})
		if n := rule.Unbounded(); n > 0 {
			o.Notes.Warn("sets of level %v: %d of %d classes are in every set, since %d examples do not "+
				"keep the promise otherwise: calibrate by more, or with less noise", level, n,
				len(r.Classes), r.Data.N)
		}
	}
	return all, nil
}

// Run writes the model with its new temperature.
func Run(ctx context.Context, o *Options) error {
	levels, err := o.levels()
	if err != nil {
		return err
	}
	r, err := o.Options.Run(ctx, func(*model.Model) (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	defer r.Data.Close() // only read
	noise, err := o.Noise.Read(ctx, r.Classes)
	if err != nil {
		return err
	}
	if noise == nil {
		o.Notes.Say("confusion matrix: none given, so the identity: all labels are taken to be right")
	}
	report, meta, before := Report{Model: o.Out, Examples: r.Data.N}, &r.Model.Meta, "none"
	if t := meta.Temperature; t > 0 {
		report.Before, before = &t, fmt.Sprintf("%.4g", t)
	}
	meta.Temperature, err = confusion.Temperature(ctx, r.Scores, r.Data.Y, len(r.Classes), noise)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Data.Path, err)
	}
	report.Temperature, meta.TemperatureFolds = meta.Temperature, 0
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
			row("sets of level %v\t%.2f classes in the mean", s.Level, s.Size)
		}
	})
}
