package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

func atomsCommand() *cli.Command {
	flags := append(app.DataFlags("examples"), app.NoLabelsFlag(),
		&cli.StringFlag{Name: "kernel", Value: "rbf",
			Usage: "kernel `FUNCTION`: rbf, poly, linear or cosine"},
		&cli.StringFlag{Name: "atoms", Usage: "choose `K` examples"},
		&cli.Float64Flag{Name: "atom-error",
			Usage: "or as few as bring their mean within `LENGTH` of that of all"},
		&cli.StringFlag{Name: "atom-choice", Value: means.Herding,
			Usage: "`HOW`: uniform, clusters or herding"},
		&cli.StringFlag{Name: "atom-weights", Value: means.Own,
			Usage: "`WEIGHTS`: optimal, or own of the choice"},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out",
			Usage: "`FILE`.csv for them: example, from 1, and weight (required)"}},
		&cli.StringFlag{Name: "normalize", Value: "auto", Usage: app.NormalizeUsage},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the memory that it would take, and choose nothing"},
		app.SeedFlag(nil, "the choice"))
	flags = append(append(flags, app.FunctionFlags()...), device.Flags()...)
	return &cli.Command{
		Name:  "atoms",
		Usage: "choose few examples that stand for all, whatever their labels",
		Description: "The mean of the atoms in feature space, as they are weighed, comes near to that " +
			"of all examples\n" +
			"(maximum mean discrepancy); how near is printed, measured on up to 4096 examples. herding " +
			"takes them\n" +
			"one by one, each where it brings the mean nearer; clusters one of each part into which " +
			"farthest-first\n" +
			"traversal cuts the examples; uniform at random. train --learner kernelmean does so in each " +
			"class.\n" +
			"Herding computes a kernel value of each pair of examples once, in tiles, and keeps none of " +
			"them.\n\n" +
			"Example: uma-gpu kernelmean atoms --data train.csv --atoms 1000 --out atoms.csv",
		Flags:  append(flags, app.JSONFlag(), app.QuietFlag()),
		Action: chooseAtoms,
	}
}

// atomsReport is what kernelmean atoms --json prints.
type atomsReport struct {
	Out      string        `json:"out"`
	Device   engine.Device `json:"device"`
	Examples int           `json:"examples"`
	Features int           `json:"features"` // of the prepared examples
	Plan     means.Plan    `json:"plan"`
	Data     int64         `json:"data_bytes"` // of the prepared examples
	// Memory is what the process takes at most, about: twice what is there at once, the examples, the
	// plan and the copy that an engine makes, as garbage is collected no sooner.
	Memory  int64   `json:"memory_bytes"`
	Gamma   float32 `json:"gamma"`
	Atoms   int     `json:"atoms"`           // different examples; 0 of a dry run
	Error   float64 `json:"error"`           // distance of the means in feature space
	Length  float64 `json:"length"`          // of the mean of all
	Bound   float64 `json:"bound,omitempty"` // what that is below, always or in 95 draws of 100
	Seconds float64 `json:"seconds"`         // of the choice
}

// atomsOptions checks the flags that say which atoms.
func atomsOptions(c *cli.Context) (means.Options, *fitting.Options, error) {
	k := &fitting.Options{}
	o := means.Options{Seed: c.Uint64("seed"), Within: c.Float64("atom-error")}
	if err := app.SetFunction(c, k, false); err != nil {
		return o, nil, err
	}
	var err error
	if o.Choice, err = app.OneOf(c, "atom-choice", means.Uniform, means.Clusters,
		means.Herding); err != nil {
		return o, nil, err
	}
	if o.Weights, err = app.OneOf(c, "atom-weights", means.Optimal, means.Own); err != nil {
		return o, nil, err
	}
	text := c.String("atoms")
	if (text == "") != c.IsSet("atom-error") || c.IsSet("atom-error") && !(o.Within > 0) {
		return o, nil, app.Usagef(c, "wanted --atoms or --atom-error, above 0")
	}
	if text != "" {
		if o.Atoms, err = app.ParseCount(text); err != nil || o.Atoms < 1 {
			return o, nil, app.Usagef(c, "--atoms are %q, wanted a number of at least 1", text)
		}
	}
	return o, k, nil
}

func chooseAtoms(c *cli.Context) (err error) {
	if err := app.CheckUsage(c, "data", "out"); err != nil {
		return err
	}
	o, k, err := atomsOptions(c)
	if err != nil {
		return err
	}
	read, err := app.WholeOptions(c)
	if err != nil {
		return err
	}
	steps, err := app.NormalizeSteps(c)
	if err != nil {
		return err
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	n := app.NewNotes(c)
	d, err := app.ReadData(c.Context, c.String("data"), read, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := host.Prepare(d, steps, true); err != nil {
		return err
	}
	if o.Function = k.Function; o.Function.Gamma == 0 {
		o.Function.Gamma = 1 // until the median is known
	}
	plan, err := means.NewPlan(d.N, d.D, 1, o)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	e, err := where.Open(n, device.WorkOnComponents(d.N, d.D, 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r := atomsReport{Out: c.String("out"), Device: e.Device(), Examples: d.N, Features: d.D,
		Plan: plan,
		Data: 4 * int64(d.Size())}
	r.Memory = 2 * memory.Sum(r.Data, r.Data, plan.Total())
	if c.Bool("dry-run") {
		return r.print(c)
	}
	b := pca.Basis{Cosine: k.Cosine}
	x, release, err := b.Prepare(d)
	if err != nil {
		return err
	}
	defer release()
	if k.Function.Kind != kernel.Linear && k.Function.Gamma == 0 {
		if o.Function.Gamma, err = pca.MedianGamma(e, x, o.Seed); err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	start := time.Now()
	m, err := means.Fit(c.Context, e, x, make([]int32, x.N), 1, o)
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseMemory(err))
	}
	r.Gamma, r.Atoms, r.Error, r.Seconds = o.Function.Gamma, m.Landmarks.N, m.Error[0],
		time.Since(start).Seconds()
	if m.Length != nil {
		r.Length = m.Length[0]
	}
	if m.Bound != nil {
		r.Bound = m.Bound[0]
	}
	if err := atomicfile.Write(r.Out, func(w io.Writer) error {
		return writeAtoms(w,
			m)
	}); err != nil {
		return err
	}
	return r.print(c)
}

// writeAtoms writes a line for each atom.
func writeAtoms(w io.Writer, m *means.Means) error {
	table := csv.NewWriter(w)
	if err := table.Write([]string{"example", "weight"}); err != nil {
		return err
	}
	for l, row := range m.Rows {
		err := table.Write([]string{strconv.Itoa(row + 1), strconv.FormatFloat(float64(m.Axes.W[l]), 'g',
			-1, 32)})
		if err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

func (r atomsReport) print(c *cli.Context) error {
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, r)
	}
	t := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "device\t%s %s\n", r.Device.ID, r.Device.Name)
	fmt.Fprintf(t, "data\t%d examples × %d features, %s\n", r.Examples, r.Features,
		app.BytesText(r.Data))
	fmt.Fprintf(t, "memory\t%s at most, about; while atoms are chosen %s beside the data\n",
		app.BytesText(r.Memory),
		app.BytesText(r.Plan.Total()))
	fmt.Fprintf(t, "kernel values\t%.3g\n", float64(r.Plan.Values))
	if r.Atoms == 0 {
		return t.Flush()
	}
	fmt.Fprintf(t, "gamma\t%v\n", r.Gamma)
	fmt.Fprintf(t, "atoms\t%d, in %s\n", r.Atoms, r.Out)
	fmt.Fprintf(t, "error\t%.4g in feature space, where the mean is %.4g long", r.Error, r.Length)
	if r.Bound > 0 {
		fmt.Fprintf(t, " (bound %.3g)", r.Bound)
	}
	fmt.Fprintf(t, "\nseconds\t%.3f\n", r.Seconds)
	return t.Flush()
}
