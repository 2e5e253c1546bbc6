package main

import (
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/featuremap"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func kpcaCommand() *cli.Command {
	fit := append(app.DataFlags("examples"), app.NoLabelsFlag(),
		&cli.StringFlag{Name: "kernel", Value: "rbf",
			Usage: "kernel `FUNCTION`: rbf, poly, linear or cosine"},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "basis",
			Usage: "basis to write, `FILE`.npz (required)"}},
		&cli.StringFlag{Name: "normalize", Value: "auto", Usage: app.NormalizeUsage},
		app.SeedFlag(nil, "landmarks"))
	fit = append(append(append(fit, app.KernelFlags()...), device.Flags()...), app.JSONFlag(),
		app.QuietFlag())
	transform := append(app.DataFlags("examples"), app.NoLabelsFlag(), app.MatchFlag(),
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "basis",
			Usage: "basis that kpca fit wrote: `FILE`.npz (required)"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out",
			Usage: "`FILE` for the components, of a format of convert (required)"}})
	transform = append(append(transform, device.Flags()...), app.QuietFlag())
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
				Flags:  fit,
				Action: kpcaFit,
			},
			{
				Name:        "transform",
				Usage:       "write the kernel principal components of examples",
				Description: "Example: uma-gpu kpca transform --basis B.npz --data test.csv --out Z.npy",
				Flags:       transform,
				Action:      kpcaTransform,
			},
		},
	}
}

// kpcaReport is what kpca fit --json prints.
type kpcaReport struct {
	Basis       string        `json:"basis"`
	Device      engine.Device `json:"device"`
	Examples    int           `json:"examples"`
	Features    int           `json:"features"`
	Kernel      model.Kernel  `json:"kernel"`
	Eigenvalues []float64     `json:"eigenvalues"`
	Notes       []string      `json:"notes"`
	Seconds     float64       `json:"seconds"` // of the fit
}

func kpcaFit(c *cli.Context) (err error) {
	if err := app.CheckUsage(c, "data", "basis"); err != nil {
		return err
	}
	options, err := app.DataOptions(c)
	if err != nil {
		return err
	}
	options.NoLabels = c.Bool("no-labels")
	steps, err := app.NormalizeSteps(c)
	if err != nil {
		return err
	}
	k, err := app.NewKernel(c, false)
	if err != nil {
		return err
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	path, n := c.String("basis"), app.NewNotes(c)
	d, err := app.ReadData(c.Context, c.String("data"), options, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := host.Prepare(d, steps, true); err != nil {
		return err
	}
	if _, err := k.Plan(d); err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseKernel(err))
	}
	e, err := where.Open(n, device.WorkOnComponents(d.N, k.MostComponents(d.N, d.D), 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	found, note, err := k.FindPCA(e, d, c.Uint64("seed"))
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseKernel(err))
	}
	if note != "" {
		n.Say("kernel: %s", note)
	}
	start := time.Now()
	basis, err := pca.Fit(c.Context, e, d, found)
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseMemory(err))
	}
	for _, note := range append(basis.Notes(), basis.Summary()) {
		n.Say("kernel: %s", note)
	}
	fitted := &featuremap.Map{Basis: basis, Preparation: &dataset.Preparation{D: basis.Axes.Q}} // none
	r := kpcaReport{Basis: path, Device: e.Device(), Examples: d.N, Features: d.FeatureCount(),
		Eigenvalues: basis.Eigenvalues, Notes: basis.Notes(), Seconds: time.Since(start).Seconds()}
	b := &model.Basis{FormatVersion: model.BasisVersion, ToolVersion: app.Version,
		Features:    model.Features{Count: d.FeatureCount(), Names: d.Features, Encoding: d.Encoding},
		Preparation: *d.Prepared, Eigenvalues: r.Eigenvalues}
	b.SetMap(fitted)
	r.Kernel = b.Kernel
	if err := b.Save(path); err != nil {
		return err
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, r)
	}
	t := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "basis\t%s\n", path)
	fmt.Fprintf(t, "kernel\t%s\n", kernelText(&b.Kernel))
	fmt.Fprintf(t, "components\t%d of %d landmarks\n", b.Kernel.Components, b.Kernel.Landmarks)
	fmt.Fprintf(t, "explained\t%.4f of the variance in feature space\n", b.Kernel.Explained)
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

func kpcaTransform(c *cli.Context) (err error) {
	if err := app.CheckUsage(c, "data", "basis", "out"); err != nil {
		return err
	}
	options, err := app.DataOptions(c)
	if err != nil {
		return err
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	out := c.String("out")
	format := dataset.FormatOfName(out)
	if !slices.Contains(dataset.WriteFormats(), format) {
		return app.Usagef(c, "%s: wanted a name for %s", out, app.OrList(dataset.WriteFormats()))
	}
	b, err := model.LoadBasis(c.String("basis"))
	if err != nil {
		return err
	}
	n := app.NewNotes(c)
	options.NoLabels = c.Bool("no-labels")
	if b.Preparation.Steps.NeedsDense() {
		options.Storage = "dense"
	}
	d, err := app.ReadFor(c, options, b.Features, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := d.PrepareBy(&b.Preparation); err != nil {
		return err
	}
	e, err := where.Open(n, device.WorkOnComponents(d.N, b.Kernel.Components, 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	z, err := b.Map().Apply(c.Context, e, d)
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseMemory(err))
	}
	components := &dataset.Dataset{Examples: z.Examples, Y: d.Y, Classes: d.Classes}
	if format == "npy" { // which has no place for labels
		components.Y, components.Classes = nil, nil
	}
	return app.WriteData(c.Context, out, components, dataset.WriteOptions{})
}
