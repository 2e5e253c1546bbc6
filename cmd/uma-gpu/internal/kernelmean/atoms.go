package kernelmean

import (
	"context"
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

// Atoms are the options of kernelmean atoms.
type Atoms struct {
	app.Common
	Data      app.Data
	Kernel    app.Kernel
	Device    device.Options
	Number    string // of atoms, "" if Within says it
	Within    float64
	Choice    string
	Weights   string
	Out       string
	Normalize string
	DryRun    bool
	Seed      uint64
}

func newAtoms() *cli.Command {
	o := new(Atoms)
	return &cli.Command{
		Name:  "atoms",
		Usage: "choose few examples that stand for all, whatever their labels",
		Description: "The mean of the atoms in feature space, as they are weighed, comes near to that " +
			"of all examples\n(maximum mean discrepancy); how near is printed, measured on up to 4096 " +
			"examples. herding takes " +
			"them\none by one, each where it brings the mean nearer; clusters one of each part into which " +
			"farthest-first\ntraversal cuts the examples; uniform at random. train --learner kernelmean " +
			"does so in each " +
			"class.\nHerding computes a kernel value of each pair of examples once, in tiles, and keeps " +
			"none of " +
			"them.\n\nExample: uma-gpu kernelmean atoms --data train.csv --atoms 1000 --out atoms.csv",
		Flags: app.Flags(o.Data.Flags(&o.Common, "examples"), o.Data.NoLabelsFlag(),
			o.Kernel.KindFlag("rbf"),
			&cli.StringFlag{Name: "atoms", Usage: "choose `K` examples", Destination: &o.Number},
			&cli.Float64Flag{Name: "atom-error", Destination: &o.Within,
				Usage: "or as few as bring their mean within `LENGTH` of that of all"},
			app.Choice(&o.Choice, "atom-choice", means.Herding, "`HOW`: uniform, clusters or herding",
				means.Uniform, means.Clusters, means.Herding), app.Choice(&o.Weights, "atom-weights", means.Own,
				"`WEIGHTS`: optimal, or own of the choice", means.Optimal, means.Own),
			app.Required(app.Output(&o.Out, "out",
				"`FILE`.csv for them: example, from 1, and weight (required)")),
			app.NormalizeFlag(&o.Normalize), &cli.BoolFlag{Name: "dry-run", Destination: &o.DryRun,
				Usage: "print the memory that it would take, and choose nothing"},
			app.SeedFlag(&o.Seed, "the choice"), o.Kernel.FunctionFlags(&o.Common),
			o.Device.Flags(&o.Common), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(&o.Common, o.run),
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

// choice returns how to choose atoms.
func (o *Atoms) choice() (m means.Options, err error) {
	m = means.Options{Seed: o.Seed, Within: o.Within, Choice: o.Choice, Weights: o.Weights}
	given := o.Given("atom-error")
	if (o.Number == "") != given || given && !(o.Within > 0) {
		return m, app.Usage("wanted --atoms or --atom-error, above 0")
	}
	if o.Number != "" {
		if m.Atoms, err = app.ParseCount(o.Number); err != nil || m.Atoms < 1 {
			return m, app.Usage("--atoms are %q, wanted a number of at least 1", o.Number)
		}
	}
	return m, nil
}

// run writes the atoms.
func (o *Atoms) run(ctx context.Context) (err error) {
	read, err := o.Data.Options()
	if err != nil {
		return err
	}
	k := new(fitting.Options)
	if err := o.Kernel.Function(k, false); err != nil {
		return err
	}
	choice, err := o.choice()
	if err != nil {
		return err
	}
	if err := app.CheckSteps(o.Normalize); err != nil {
		return err
	}
	where, err := o.Device.Choose()
	if err != nil {
		return err
	}
	d, err := o.Data.Read(ctx, read)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	if err := host.Prepare(d, o.Normalize, true); err != nil {
		return err
	}
	if choice.Function = k.Function; choice.Function.Gamma == 0 {
		choice.Function.Gamma = 1 // until the median is known
	}
	plan, err := means.NewPlan(d.N, d.D, 1, choice)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	e, err := where.Open(o.Notes, device.WorkOnComponents(d.N, d.D, 2))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r := AtomsReport{Out: o.Out, Device: e.Device(), Examples: d.N, Features: d.D, Plan: plan,
		Data: 4 * int64(d.Size())}
	r.Memory = 2 * memory.Sum(r.Data, r.Data, plan.Total())
	if o.DryRun {
		return o.Print(r, r.print)
	}
	b := pca.Basis{Cosine: k.Cosine}
	x, release, err := b.Prepare(d)
	if err != nil {
		return err
	}
	defer release()
	if k.Function.Kind != kernel.Linear && k.Function.Gamma == 0 {
		if choice.Function.Gamma, err = pca.MedianGamma(e, x, o.Seed); err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	start := time.Now()
	m, err := means.Fit(ctx, e, x, make([]int32, x.N), 1, choice)
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, app.AdviseMemory(err))
	}
	r.Gamma, r.Atoms, r.Error, r.Seconds = choice.Function.Gamma, m.Landmarks.N, m.Error[0],
		time.Since(start).Seconds()
	if m.Length != nil {
		r.Length = m.Length[0]
	}
	if m.Bound != nil {
		r.Bound = m.Bound[0]
	}
	if err := atomicfile.Write(r.Out, func(w io.Writer) error {
		return writeAtoms(w, m)
	}); err != nil {
		return err
	}
	return o.Print(r, r.print)
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

func (r AtomsReport) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "device\t%s %s\n", r.Device.ID, r.Device.Name)
	fmt.Fprintf(t, "data\t%d examples × %d features, %s\n", r.Examples, r.Features,
		app.BytesText(r.Data))
	fmt.Fprintf(t, "memory\t%s at most, about; while atoms are chosen %s beside the data\n",
		app.BytesText(r.Memory), app.BytesText(r.Plan.Total()))
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
