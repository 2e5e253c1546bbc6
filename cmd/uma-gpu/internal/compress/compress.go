// Package compress is the command that writes a kernel model with fewer landmarks.
package compress

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/classify"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/meanmodel"
	"github.com/uma-gpu/uma-gpu/internal/means"
)

type Options struct {
	classify.Options
	Atoms string // a number, or all
	Out   string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "compress",
		Usage: "write a kernel model that predicts faster, by fewer landmarks",
		Description: `Weights and components are folded to one row of landmarks' weights for each class.
--atoms K keeps K landmarks, chosen one by one, whose span comes nearest to the scores. How far each
score is from the old one in feature space is printed: at an example x it differs by at most that
times √κ(x,x), which is 1 for rbf. All landmarks leave float32 rounding, which is printed too. No
bit is promised to be that of the old model. A last step l2 of the components moves no class, and is
left out with the temperature: calibrate again for probabilities. With --data both models predict.

Example: uma-gpu compress --model m.npz --atoms 200 --out small.npz --data test.csv`,
		Flags: app.Flags(o.Model.Flag(),
			app.Required(app.Text(&o.Atoms, "atoms", "",
				"keep `K` landmarks at most, or all (required)")),
			app.Required(app.Output(&o.Out, "out", "model to write, `FILE`.npz (required)")),
			app.Input(&o.Data.Path, "data",
				"examples on which to compare both models: `FILE`, or - for standard input"),
			o.Data.FormatFlags(&o.Common), o.Data.NoLabelsFlag(), o.Model.MatchFlag(),
			o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what compress --json prints.
type Report struct {
	Model     string `json:"model"`
	Landmarks [2]int `json:"landmarks"` // before and after
	Numbers   [2]int `json:"numbers"`   // of an example: components before, classes after
	// of each class: ‖f‖ in feature space; none if all landmarks stay
	Length   []float64 `json:"length"`
	Error    []float64 `json:"error"`    // ‖f - f̂‖
	Rounding []float64 `json:"rounding"` // what rounding the new weights changes at most
	// On the examples of --data.
	Examples int        `json:"examples,omitempty"`
	Changed  int        `json:"changed,omitempty"` // that have another class now
	Seconds  [2]float64 `json:"seconds,omitempty"` // to predict, before and after
}

// Run writes the model and prints how far it is from the old one.
func Run(ctx context.Context, o *Options) (err error) {
	atoms := 0
	if text := o.Atoms; text != "all" {
		if atoms, err = app.ParseCount(text); err != nil || atoms < 1 {
			return app.Usage("--atoms are %q, wanted a number of at least 1, or all", text)
		}
	}
	m, d, e, err := o.OpenKernel(ctx)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	defer func() { err = errors.Join(err, e.Close()) }()
	small, found, err := meanmodel.Compress(ctx, e, m, atoms)
	if err := app.Failure(ctx, o.Model.Path, err); err != nil {
		return err
	}
	r := Report{Model: o.Out,
		Landmarks: [2]int{m.Projection.Landmarks.N, small.Projection.Landmarks.N},
		Numbers:   [2]int{m.Meta.Kernel.Components, small.Q},
		Rounding:  means.Rounding(small.Map().Basis.Projection)}
	if found != nil {
		r.Length, r.Error = found.Length, found.Error
	}
	if d.N > 0 {
		if err := r.compare(ctx, e, m, small, d); err != nil {
			return err
		}
	}
	if m.Meta.Temperature != 0 && small.Meta.Temperature == 0 {
		o.Notes.Say("the temperature is left out with the step l2 of the components; uma-gpu " +
			"calibrate fits another")
	}
	if small.Meta.Sets = nil; m.Meta.Sets != nil {
		o.Notes.Say("the prediction sets are left out, since other scores break their promise; uma-gpu " +
			"calibrate makes others")
	}
	if err := small.Save(r.Model); err != nil {
		return err
	}
	return o.PrintTable(r, func(row app.Row) {
		row("model\t%s", r.Model)
		row("landmarks\t%d of %d", r.Landmarks[1], r.Landmarks[0])
		row("numbers of an example\t%d, before %d", r.Numbers[1], r.Numbers[0])
		if r.Error != nil {
			row("scores off by\t%.3g at most in feature space, where they are up to %.3g long",
				slices.Max(r.Error), slices.Max(r.Length))
		}
		row("rounding\t%.2g at most", slices.Max(r.Rounding))
		if r.Examples > 0 {
			row("another class\t%d of %d examples", r.Changed, r.Examples)
			row("seconds to predict\t%.3f, before %.3f", r.Seconds[1], r.Seconds[0])
		}
	})
}

func (r *Report) compare(
	ctx context.Context, e engine.Engine, before, after *model.Model, d *dataset.Dataset,
) error {
	var predicted [2][]int32
	for k, m := range []*model.Model{before, after} {
		start := time.Now()
		var err error
		predicted[k], err = m.PredictPrepared(ctx, e, d)
		if err := app.Failure(ctx, d.Path, err); err != nil {
			return err
		}
		r.Seconds[k] = time.Since(start).Seconds()
	}
	r.Examples = d.N
	for i, class := range predicted[0] {
		if class != predicted[1][i] {
			r.Changed++
		}
	}
	return nil
}
