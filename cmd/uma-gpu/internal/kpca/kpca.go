// Package kpca is the command that fits kernel principal components and applies them.
package kpca

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/featuremap"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Fit are the options of kpca fit.
type Fit struct {
	app.Common
	Data      app.Data
	Kernel    app.Kernel
	Device    device.Options
	Basis     string // file
	Normalize string
	Seed      uint64
}

// Transform are the options of kpca transform.
type Transform struct {
	app.Common
	Data   app.Data
	Model  app.Model // for --match-features
	Device device.Options
	Basis  string // file
	Out    string
}

// New returns the command.
func New() *cli.Command {
	f, t := new(Fit), new(Transform)
	return &cli.Command{
		Name:  "kpca",
		Usage: "kernel principal components by themselves",
		Subcommands: []*cli.Command{
			{
				Name:  "fit",
				Usage: "find the kernel principal components of a data set",
				Description: "Labels are read and left aside. --gamma median is 1 / the median squared " +
					"distance " +
					"of examples; train\n" +
					"has search besides: the best of seven values around that, by the estimated error on a " +
					"fifth of the\n" +
					"examples held out.\n\n" +
					"--landmarks are examples that stand for all (Nyström): auto are all of up to 5000 " +
					"examples, else\n" +
					"4000; farthest takes each the farthest from those before. --variance takes the place of\n" +
					"--components.\n\n" +
					"Example: uma-gpu kpca fit --data train.csv --kernel rbf --gamma 0.5 --components 640 " +
					"--basis B.npz",
				Flags: app.Flags(f.Data.Flags(&f.Common, "examples"), f.Data.NoLabelsFlag(),
					f.Kernel.KindFlag("rbf"),
					app.Required(app.Output(&f.Basis, "basis", "basis to write, `FILE`.npz (required)")),
					app.NormalizeFlag(&f.Normalize), app.SeedFlag(&f.Seed, "landmarks"),
					f.Kernel.Flags(&f.Common), f.Device.Flags(&f.Common), f.JSONFlag(), f.QuietFlag()),
				Action: app.Action(&f.Common, f.run),
			},
			{
				Name:        "transform",
				Usage:       "write the kernel principal components of examples",
				Description: "Example: uma-gpu kpca transform --basis B.npz --data test.csv --out Z.npy",
				Flags: app.Flags(t.Data.Flags(&t.Common, "examples"), t.Data.NoLabelsFlag(),
					t.Model.MatchFlag(),
					app.Required(app.Input(&t.Basis, "basis",
						"basis that kpca fit wrote: `FILE`.npz (required)")),
					app.Required(app.Output(&t.Out, "out",
						"`FILE` for the components, of a format of convert (required)")),
					t.Device.Flags(&t.Common), t.QuietFlag()),
				Action: app.Action(&t.Common, t.run),
			},
		},
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

// run writes the basis.
func (o *Fit) run(ctx context.Context) (err error) {
	options, err := o.Data.Options()
	if err != nil {
		return err
	}
	if err := app.CheckSteps(o.Normalize); err != nil {
		return err
	}
	k, err := o.Kernel.Find(false)
	if err != nil {
		return err
	}
	where, err := o.Device.Choose()
	if err != nil {
		return err
	}
	path := o.Basis
	d, err := o.Data.Read(ctx, options)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := host.Prepare(d, o.Normalize, true); err != nil {
		return err
	}
	if _, err := k.Plan(d); err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseKernel(err))
	}
	e, err := where.Open(o.Notes, device.WorkOnComponents(d.N, k.MostComponents(d.N, d.D), 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	found, note, err := k.FindPCA(e, d, o.Seed)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseKernel(err))
	}
	if note != "" {
		o.Notes.Say("kernel: %s", note)
	}
	start := time.Now()
	basis, err := pca.Fit(ctx, e, d, found)
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseMemory(err))
	}
	for _, note := range append(basis.Notes(), basis.Summary()) {
		o.Notes.Say("kernel: %s", note)
	}
	fitted := &featuremap.Map{Basis: basis, Preparation: &dataset.Preparation{D: basis.Axes.Q}} // none
	r := Report{Basis: path, Device: e.Device(), Examples: d.N, Features: d.FeatureCount(),
		Eigenvalues: basis.Eigenvalues, Notes: basis.Notes(), Seconds: time.Since(start).Seconds()}
	b := &model.Basis{FormatVersion: model.BasisVersion, ToolVersion: app.Version,
		Features:    model.Features{Count: d.FeatureCount(), Names: d.Features, Encoding: d.Encoding},
		Preparation: *d.Prepared, Eigenvalues: r.Eigenvalues}
	b.SetMap(fitted)
	r.Kernel = b.Kernel
	if err := b.Save(path); err != nil {
		return err
	}
	return o.Print(r, r.print)
}

func (r Report) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "basis\t%s\n", r.Basis)
	fmt.Fprintf(t, "kernel\t%s\n", kernelText(&r.Kernel))
	fmt.Fprintf(t, "components\t%d of %d landmarks\n", r.Kernel.Components, r.Kernel.Landmarks)
	fmt.Fprintf(t, "explained\t%.4f of the variance in feature space\n", r.Kernel.Explained)
	fmt.Fprintf(t, "seconds\t%.3f\n", r.Seconds)
	return t.Flush()
}

// kernelText names a kernel function with its parameters.
func kernelText(k *model.Kernel) string {
	f := k.Function
	switch {
	case k.Cosine:
		return app.Cosine
	case f.Kind == "poly":
		return fmt.Sprintf("poly, gamma %v, coef0 %v, degree %d", f.Gamma, f.Coef0, f.Degree)
	case f.Kind == "rbf":
		return fmt.Sprintf("rbf, gamma %v", f.Gamma)
	}
	return f.Kind
}

// run writes the components.
func (o *Transform) run(ctx context.Context) (err error) {
	options, err := o.Data.Options()
	if err != nil {
		return err
	}
	where, err := o.Device.Choose()
	if err != nil {
		return err
	}
	out := o.Out
	format := file.FormatOfName(out)
	if !slices.Contains(file.WriteFormats(), format) {
		return app.Usage("%s: wanted a name for %s", out, app.OrList(file.WriteFormats()))
	}
	b, err := model.LoadBasis(o.Basis)
	if err != nil {
		return err
	}
	if b.Preparation.Steps.NeedsDense() {
		options.Storage = "dense"
	}
	d, err := o.Model.Read(ctx, &o.Data, options, b.Features)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := features.PrepareBy(d, &b.Preparation); err != nil {
		return err
	}
	e, err := where.Open(o.Notes, device.WorkOnComponents(d.N, b.Kernel.Components, 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	z, err := b.Map().Apply(ctx, e, d)
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseMemory(err))
	}
	components := &dataset.Dataset{Examples: z.Examples, Y: d.Y, Classes: d.Classes}
	if format == "npy" { // which has no place for labels
		components.Y, components.Classes = nil, nil
	}
	return app.WriteData(ctx, out, components, file.WriteOptions{})
}
