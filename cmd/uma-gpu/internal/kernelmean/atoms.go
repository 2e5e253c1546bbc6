package kernelmean

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/means"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// AtomsOptions are those of kernelmean atoms.
type AtomsOptions struct {
	app.Common
	Data      app.Data
	Kernel    app.Kernel
	Device    device.Device
	Choice    means.Options // but for the kernel function
	Out       string
	Normalize string
	DryRun    bool
}

func NewAtoms(run func(context.Context, *AtomsOptions) error) *cli.Command {
	o := new(AtomsOptions)
	return &cli.Command{
		Name:  "atoms",
		Usage: "choose few examples that stand for all, whatever their labels",
		Description: `The weighted mean of the atoms in feature space comes near to the mean of all
examples (maximum mean discrepancy). How near is printed, measured on up to 4096 examples. herding
takes atoms one by one, each where it brings the mean nearer. clusters takes one of each part into
which farthest-first traversal cuts the examples. uniform takes them at random. train --learner
kernelmean does so in each class. Herding computes a kernel value of each pair of examples once, in
tiles, and keeps none.

Example: uma-gpu kernelmean atoms --data train.csv --atoms 1000 --out atoms.csv`,
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples"), o.Data.NoLabelsFlag(),
			o.Kernel.KindFlag("rbf"),
			app.Count(&o.Choice.Atoms, "atoms", 0, 1, math.MaxInt, "choose `K` examples"),
			app.Number(&o.Choice.Within, "atom-error", 0,
				"or as few as bring their mean within `LENGTH` of that of all"),
			app.Choice(&o.Choice.Choice, "atom-choice", means.Herding,
				"`RULE`: uniform, clusters or herding", means.Uniform, means.Clusters, means.Herding),
			app.Choice(&o.Choice.Weights, "atom-weights", means.Own,
				"`WEIGHTS`: optimal, or own of the choice", means.Optimal, means.Own),
			app.Required(app.Output(&o.Out, "out",
				"`FILE`.csv for them: example, from 1, and weight (required)")),
			app.NormalizeFlag(&o.Normalize), app.Switch(&o.DryRun, "dry-run",
				"print the memory that it would take, and choose nothing"),
			app.SeedFlag(&o.Choice.Seed, "the choice"), o.Kernel.FunctionFlags(&o.Common),
			o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// AtomsReport is what kernelmean atoms --json prints.
type AtomsReport struct {
	Out      string        `json:"out"`
	Device   engine.Device `json:"device"`
	Examples int           `json:"examples"`
	Features int           `json:"features"` // of the prepared examples
	Plan     means.Plan    `json:"plan"`
	Data     int64         `json:"data_bytes"` // of the prepared examples
	// Memory is about the most that the process takes: twice the examples, the plan and the engine's
	// copy, as garbage is collected no sooner.
	Memory  int64   `json:"memory_bytes"`
	Gamma   float32 `json:"gamma"`
	Atoms   int     `json:"atoms"`           // different examples; 0 of a dry run
	Error   float64 `json:"error"`           // distance of the means in feature space
	Length  float64 `json:"length"`          // of the mean of all
	Bound   float64 `json:"bound,omitempty"` // of Error, always or in 95 draws of 100
	Seconds float64 `json:"seconds"`         // of the choice
}

// check completes the choice of atoms, with the kernel function of k.
func (o *AtomsOptions) check(k *fitting.Options) (err error) {
	given := o.Given("atom-error")
	if o.Given("atoms") == given || given && !(o.Choice.Within > 0) {
		return app.Usage("wanted --atoms or --atom-error, above 0")
	}
	if err := o.Kernel.Function(k, false); err != nil {
		return err
	}
	if o.Choice.Function = k.Function; k.Function.Gamma == 0 {
		o.Choice.Function.Gamma = 1 // until the median is known
	}
	return nil
}

// Atoms chooses the atoms, writes them and prints a report.
func Atoms(ctx context.Context, o *AtomsOptions) (err error) {
	k := new(fitting.Options)
	if err := o.check(k); err != nil {
		return err
	}
	d, err := o.Data.Read(ctx, o.Data.Options())
	if err != nil {
		return err
	}
	defer d.Close() // only read
	if err := host.Prepare(d, o.Normalize, true); err != nil {
		return err
	}
	plan, err := means.NewPlan(d.N, d.D, 1, o.Choice)
	if err != nil {
		return app.Failure(ctx, d.Path, err)
	}
	e, err := o.Device.Open(o.Notes, device.WorkOnComponents(d.N, d.D, 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r := AtomsReport{Out: o.Out, Device: e.Device(), Examples: d.N, Features: d.D, Plan: plan,
		Data: 4 * int64(d.Size())}
	r.Memory = 2 * memory.Sum(r.Data, r.Data, plan.Total())
	if o.DryRun {
		return o.PrintTable(r, r.rows)
	}
	b := pca.Basis{Cosine: k.Cosine}
	x, release, err := b.Prepare(d)
	if err != nil {
		return err
	}
	defer release()
	if k.Function.Kind != kernel.Linear && k.Function.Gamma == 0 {
		if o.Choice.Function.Gamma, err = pca.MedianGamma(e, x, o.Choice.Seed); err != nil {
			return app.Failure(ctx, d.Path, err)
		}
	}
	start := time.Now()
	m, err := means.Fit(ctx, e, x, make([]int32, x.N), 1, o.Choice)
	if err := app.Failure(ctx, d.Path, err); err != nil {
		return err
	}
	r.Gamma, r.Atoms, r.Error = o.Choice.Function.Gamma, m.Landmarks.N, m.Error[0]
	r.Seconds = time.Since(start).Seconds()
	if m.Length != nil {
		r.Length = m.Length[0]
	}
	if m.Bound != nil {
		r.Bound = m.Bound[0]
	}
	if err := atomicfile.Write(r.Out, func(w io.Writer) error {
		lines := [][]string{{"example", "weight"}}
		for l, row := range m.Rows {
			lines = append(lines, []string{strconv.Itoa(row + 1), app.FloatText(m.Axes.W[l])})
		}
		return csv.NewWriter(w).WriteAll(lines)
	}); err != nil {
		return err
	}
	return o.PrintTable(r, r.rows)
}

func (r AtomsReport) rows(row app.Row) {
	row("device\t%s %s", r.Device.ID, r.Device.Name)
	row("data\t%d examples × %d features, %s", r.Examples, r.Features, app.BytesText(r.Data))
	row("memory\t%s at most, about; while atoms are chosen %s beside the data",
		app.BytesText(r.Memory), app.BytesText(r.Plan.Total()))
	row("kernel values\t%.3g", float64(r.Plan.Values))
	if r.Atoms == 0 {
		return
	}
	row("gamma\t%v", r.Gamma)
	row("atoms\t%d, in %s", r.Atoms, r.Out)
	bound := ""
	if r.Bound > 0 {
		bound = " (bound " + strconv.FormatFloat(r.Bound, 'g', 3, 64) + ")"
	}
	row("error\t%.4g in feature space, where the mean is %.4g long%s", r.Error, r.Length, bound)
	row("seconds\t%.3f", r.Seconds)
}
