// Package kpca has the hidden commands by which the Python package fits and applies kernel
// principal components.
package kpca

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// New returns kpca with its two commands.
func New(fit func(context.Context, *FitOptions) error,
	transform func(context.Context, *TransformOptions) error) *cli.Command {
	return &cli.Command{
		Name: "kpca", Hidden: true,
		Usage:       "fit kernel principal components, and apply them, for the Python package",
		Subcommands: []*cli.Command{newFit(fit), newTransform(transform)},
	}
}

// FitOptions are the options of kpca fit.
type FitOptions struct {
	app.Common
	Data      app.Data
	Kernel    app.Kernel
	Device    app.Device
	Basis     string // file
	Normalize string
	Seed      uint64
}

func newFit(run func(context.Context, *FitOptions) error) *cli.Command {
	o := new(FitOptions)
	return &cli.Command{
		Name:        "fit",
		Usage:       "find the kernel principal components of a data set",
		Description: "Example: uma-gpu kpca fit --data train.csv --components 640 --basis B.npz",
		Flags: app.Flags(o.Data.PathFlag(&o.Common, "examples"),
			app.Required(app.Output(&o.Basis, "basis", "basis to write, `FILE`.npz (required)")),
			app.NormalizeFlag(&o.Normalize), app.SeedFlag(&o.Seed, "landmarks"),
			o.Kernel.Flag(&o.Common), o.Kernel.DetailFlags(), o.Device.Flags(),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Fit fits the components and writes their basis.
func Fit(ctx context.Context, o *FitOptions) (err error) {
	if o.Kernel.Kind == "" {
		o.Kernel.Kind = kernel.RBF
	}
	if o.Kernel.Gamma == "auto" {
		o.Kernel.Gamma = "median"
	}
	k, err := o.Kernel.FitOptions()
	if err != nil {
		return err
	}
	if k.Search || k.Mean {
		return app.Usage("--gamma search and mean need labels and a learner; give a number or median")
	}
	o.Data.NoLabels = true
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
	e, err := o.Device.Open(o.Notes, app.WorkOn(d.Examples, k.MostComponents(d.N, d.D), 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	found, note, err := k.FindPCA(e, d.Examples, o.Seed)
	if err != nil {
		return app.Failure(ctx, d.Path, err)
	}
	basis, err := pca.Fit(ctx, e, d.Examples, found)
	if err := app.Failure(ctx, d.Path, err); err != nil {
		return err
	}
	for _, line := range append(basis.Notes(), note, basis.Summary()) {
		if line != "" {
			o.Notes.Say("kernel: %s", line)
		}
	}
	b := &model.Basis{FormatVersion: model.BasisVersion, ToolVersion: app.Version,
		Features:    model.Features{Count: d.FeatureCount(), Names: d.Features, Encoding: d.Encoding},
		Preparation: *d.Prepared, Eigenvalues: basis.Eigenvalues,
		Map: &pca.Map{Basis: basis, Preparation: &dataset.Preparation{D: basis.Axes.Q}}}
	return b.Save(o.Basis)
}

// TransformOptions are the options of kpca transform.
type TransformOptions struct {
	app.Common
	Data   app.Data
	Device app.Device
	Basis  string // file
	Out    string
}

func newTransform(run func(context.Context, *TransformOptions) error) *cli.Command {
	o := new(TransformOptions)
	return &cli.Command{
		Name:        "transform",
		Usage:       "write the kernel principal components of examples",
		Description: "Example: uma-gpu kpca transform --basis B.npz --data test.csv --out Z.npy",
		Flags: app.Flags(o.Data.PathFlag(&o.Common, "examples"),
			app.Required(app.Input(&o.Basis, "basis",
				"basis that kpca fit wrote: `FILE`.npz (required)")),
			app.Required(app.Output(&o.Out, "out", "`FILE`.npy for the components (required)")),
			o.Device.Flags(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Transform writes the components of examples.
func Transform(ctx context.Context, o *TransformOptions) (err error) {
	o.Data.NoLabels = true
	options := o.Data.Options()
	b, err := model.LoadBasis(o.Basis)
	if err != nil {
		return err
	}
	if b.Preparation.Fills() {
		options.Storage = "dense"
	}
	o.Data.AsModel(&options, b.Features)
	d, err := o.Data.Read(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	if err := features.PrepareBy(d, &b.Preparation); err != nil {
		return err
	}
	e, err := o.Device.Open(o.Notes, app.WorkOn(d.Examples, b.Kernel.Components, 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	z, err := b.Map.Apply(ctx, e, d.Examples)
	if err := app.Failure(ctx, d.Path, err); err != nil {
		return err
	}
	return app.WriteData(ctx, o.Out, &dataset.Dataset{Examples: z}, file.WriteOptions{Format: "npy"})
}
