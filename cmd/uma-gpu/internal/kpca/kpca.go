// Package kpca has the commands that fit kernel principal components and apply them.
package kpca

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// FitOptions are those of kpca fit.
type FitOptions struct {
	app.Common
	Data      app.Data
	Kernel    app.Kernel
	Device    device.Device
	Basis     string // file
	Normalize string
	Seed      uint64
}

func NewFit(run func(context.Context, *FitOptions) error) *cli.Command {
	o := new(FitOptions)
	return &cli.Command{
		Name:  "fit",
		Usage: "find the kernel principal components of a data set",
		Description: `Labels are read and left aside. --gamma median is 1 / the median squared distance
of examples. train has search besides: the best of seven values around that, by the estimated error
on a fifth of the examples held out.

--landmarks are examples that stand for all (Nyström). auto takes all of up to 5000 examples, else
4000; farthest takes each the farthest from those before. --variance takes the place of
--components.

Example: uma-gpu kpca fit --data train.csv --kernel rbf --gamma 0.5 --components 640 --basis B.npz`,
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples"), o.Data.NoLabelsFlag(),
			app.Required(app.Output(&o.Basis, "basis", "basis to write, `FILE`.npz (required)")),
			app.NormalizeFlag(&o.Normalize), app.SeedFlag(&o.Seed, "landmarks"),
			o.Kernel.Flag(&o.Common, "rbf"),
			o.Kernel.DetailFlags(), o.Device.Flags(), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Report is what kpca fit --json prints.
type Report struct {
	Basis       string        `json:"basis"`
	Device      engine.Device `json:"device"`
	Examples    int           `json:"examples"`
	Features    int           `json:"features"`
	Kernel      model.Kernel  `json:"kernel"`
	Eigenvalues []float64     `json:"eigenvalues"`
	Notes       []string      `json:"notes"`
	Seconds     float64       `json:"seconds"` // of the fit
}

// Fit fits the components, writes their basis and prints a report.
func Fit(ctx context.Context, o *FitOptions) (err error) {
	k, err := o.Kernel.Find(false)
	if err != nil {
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
	if err := k.Check(d.Examples); err != nil {
		return app.Failure(ctx, d.Path, err)
	}
	e, err := o.Device.Open(o.Notes, device.WorkOnComponents(d.N, k.MostComponents(d.N, d.D), 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	found, note, err := k.FindPCA(e, d.Examples, o.Seed)
	if err != nil {
		return app.Failure(ctx, d.Path, err)
	}
	if note != "" {
		o.Notes.Say("kernel: %s", note)
	}
	start := time.Now()
	basis, err := pca.Fit(ctx, e, d.Examples, found)
	if err := app.Failure(ctx, d.Path, err); err != nil {
		return err
	}
	for _, note := range append(basis.Notes(), basis.Summary()) {
		o.Notes.Say("kernel: %s", note)
	}
	r := Report{Basis: o.Basis, Device: e.Device(), Examples: d.N, Features: d.FeatureCount(),
		Eigenvalues: basis.Eigenvalues, Notes: basis.Notes(), Seconds: time.Since(start).Seconds()}
	b := &model.Basis{FormatVersion: model.BasisVersion, ToolVersion: app.Version,
		Features:    model.Features{Count: d.FeatureCount(), Names: d.Features, Encoding: d.Encoding},
		Preparation: *d.Prepared, Eigenvalues: r.Eigenvalues,
		Map: &pca.Map{Basis: basis, Preparation: &dataset.Preparation{D: basis.Axes.Q}}}
	if err := b.Save(o.Basis); err != nil {
		return err
	}
	r.Kernel = b.Kernel
	return o.PrintTable(r, func(row app.Row) {
		row("basis\t%s", r.Basis)
		function := r.Kernel.Function
		switch {
		case r.Kernel.Cosine:
			row("kernel\t%s", app.Cosine)
		case function.Kind == kernel.Poly:
			row("kernel\tpoly, gamma %v, coef0 %v, degree %d", function.Gamma, function.Coef0,
				function.Degree)
		case function.Kind == kernel.RBF:
			row("kernel\trbf, gamma %v", function.Gamma)
		default:
			row("kernel\t%s", function.Kind)
		}
		row("components\t%d of %d landmarks", r.Kernel.Components, r.Kernel.Landmarks)
		row("explained\t%.4f of the variance in feature space", r.Kernel.Explained)
		row("seconds\t%.3f", r.Seconds)
	})
}

// TransformOptions are those of kpca transform.
type TransformOptions struct {
	app.Common
	Data   app.Data
	Model  app.Model // for --match-features
	Device device.Device
	Basis  string // file
	Out    string
}

func NewTransform(run func(context.Context, *TransformOptions) error) *cli.Command {
	o := new(TransformOptions)
	return &cli.Command{
		Name:        "transform",
		Usage:       "write the kernel principal components of examples",
		Description: "Example: uma-gpu kpca transform --basis B.npz --data test.csv --out Z.npy",
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples"), o.Data.NoLabelsFlag(),
			o.Model.MatchFlag(),
			app.Required(app.Input(&o.Basis, "basis",
				"basis that kpca fit wrote: `FILE`.npz (required)")),
			app.Required(app.Output(&o.Out, "out",
				"`FILE` for the components, of a format of convert (required)")),
			o.Device.Flags(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Transform writes the components of examples.
func Transform(ctx context.Context, o *TransformOptions) (err error) {
	options := o.Data.Options()
	format := file.FormatOfName(o.Out)
	if !slices.Contains(file.Formats(true), format) {
		return app.Usage("%s: wanted a name for %s", o.Out, app.OrList(file.Formats(true)))
	}
	b, err := model.LoadBasis(o.Basis)
	if err != nil {
		return err
	}
	if b.Preparation.Fills() {
		options.Storage = "dense"
	}
	d, err := o.Model.Read(ctx, &o.Data, options, b.Features)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	if err := features.PrepareBy(d, &b.Preparation); err != nil {
		return err
	}
	e, err := o.Device.Open(o.Notes, device.WorkOnComponents(d.N, b.Kernel.Components, 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	z, err := b.Map.Apply(ctx, e, d.Examples)
	if err := app.Failure(ctx, d.Path, err); err != nil {
		return err
	}
	components := &dataset.Dataset{Examples: z, Y: d.Y, Classes: d.Classes}
	if format == "npy" { // which has no place for labels
		components.Y, components.Classes = nil, nil
	}
	return app.WriteData(ctx, o.Out, components, file.WriteOptions{})
}
