package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel/meanmodel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/host/model"
)

func compressCommand() *cli.Command {
	flags := []cli.Flag{app.ModelFlag(),
		&cli.StringFlag{Name: "atoms", Usage: "keep `K` landmarks at most, or all (required)"},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "out",
			Usage: "model to write, `FILE`.npz (required)"}}}
	flags = append(flags, app.InputFlag{StringFlag: &cli.StringFlag{Name: "data",
		Usage: "examples on which to compare both models: `FILE`, or - for standard input"}})
	flags = append(flags, app.DataFlags("")[1:]...)
	flags = append(append(flags, app.NoLabelsFlag(), app.MatchFlag()), device.Flags()...)
	return &cli.Command{
		Name:  "compress",
		Usage: "write a kernel model that predicts faster, by fewer landmarks",
		Description: "Weights and components are folded to one row of landmarks' weights for each " +
			"class; with\n" +
			"--atoms K the K landmarks are kept, chosen one by one, whose span comes nearest to the " +
			"scores. How\n" +
			"far each score is from the old one in feature space is printed: at an example x it differs " +
			"by at most\n" +
			"that times √κ(x,x), which is 1 of rbf. All landmarks leave float32 rounding, which is " +
			"printed too.\n" +
			"No bit is promised to be that of the old model. A last step l2 of the components moves no " +
			"class, and\n" +
			"is left out with the temperature: calibrate again for probabilities. With --data both " +
			"models predict.\n\n" +
			"Example: uma-gpu compress --model m.npz --atoms 200 --out small.npz --data test.csv",
		Flags:  append(flags, app.JSONFlag(), app.QuietFlag()),
		Action: compress,
	}
}

// compressReport is what compress --json prints.
type compressReport struct {
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

func compress(c *cli.Context) (err error) {
	if err := app.CheckUsage(c, "model", "atoms", "out"); err != nil {
		return err
	}
	atoms := 0
	if text := c.String("atoms"); text != "all" {
		if atoms, err = app.ParseCount(text); err != nil || atoms < 1 {
			return app.Usagef(c, "--atoms are %q, wanted a number of at least 1, or all", text)
		}
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	path := c.String("model")
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	n := app.NewNotes(c)
	d, err := dataToCompare(c, m, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	todo := device.Work{Features: m.D, Classes: m.Q}
	if m.Projection != nil {
		todo = device.WorkOnComponents(max(d.N, m.Projection.Landmarks.N), m.D, m.Q)
	}
	e, err := where.Open(n, todo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	small, found, err := meanmodel.Compress(c.Context, e, m, atoms)
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, app.AdviseMemory(err))
	}
	r := compressReport{Model: c.String("out"),
		Landmarks: [2]int{m.Projection.Landmarks.N, small.Projection.Landmarks.N},
		Numbers:   [2]int{m.Meta.Kernel.Components, small.Q},
		Rounding:  means.Rounding(small.Map().Basis.Projection)}
	if found != nil {
		r.Length, r.Error = found.Length, found.Error
	}
	if d.N > 0 {
		if err := r.compare(c, e, m, small, d); err != nil {
			return err
		}
	}
	if m.Meta.Temperature != 0 && small.Meta.Temperature == 0 {
		n.Say("the temperature is left out with the step l2 of the components; uma-gpu calibrate fits " +
			"another")
	}
	if err := small.Save(r.Model); err != nil {
		return err
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, r)
	}
	return r.print(c)
}

// dataToCompare reads the examples of --data, prepared for m; none without the flag.
func dataToCompare(c *cli.Context, m *model.Model, n app.Notes) (*dataset.Dataset, error) {
	if c.String("data") == "" {
		return &dataset.Dataset{}, nil
	}
	options, err := app.DataOptions(c)
	if err != nil {
		return nil, err
	}
	options.NoLabels, options.Classes = c.Bool("no-labels"), m.Meta.Classes
	if m.Meta.Preparation.Steps.NeedsDense() {
		options.Storage = "dense"
	}
	d, err := app.ReadFor(c, options, m.Meta.Features, n)
	if err != nil {
		return nil, adviseNoLabels(c, err)
	}
	if err := d.PrepareBy(&m.Meta.Preparation); err != nil {
		d.Close() // of what was only read: nothing to lose
		return nil, err
	}
	return d, nil
}

// compare has both models predict.
func (r *compressReport) compare(
	c *cli.Context, e engine.Engine, before, after *model.Model, d *dataset.Dataset,
) error {
	var predicted [2][]int32
	for k, m := range []*model.Model{before, after} {
		start := time.Now()
		var err error
		if predicted[k], err = m.PredictPrepared(c.Context, e, d); err != nil {
			return fmt.Errorf("%s: %w", d.Path, app.AdviseMemory(err))
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

func (r compressReport) print(c *cli.Context) error {
	t := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "model\t%s\n", r.Model)
	fmt.Fprintf(t, "landmarks\t%d of %d\n", r.Landmarks[1], r.Landmarks[0])
	fmt.Fprintf(t, "numbers of an example\t%d, before %d\n", r.Numbers[1], r.Numbers[0])
	if r.Error != nil {
		fmt.Fprintf(t, "scores off by\t%.3g at most in feature space, where they are up to %.3g long\n",
			slices.Max(r.Error), slices.Max(r.Length))
	}
	fmt.Fprintf(t, "rounding\t%.2g at most\n", slices.Max(r.Rounding))
	if r.Examples > 0 {
		fmt.Fprintf(t, "another class\t%d of %d examples\n", r.Changed, r.Examples)
		fmt.Fprintf(t, "seconds to predict\t%.3f, before %.3f\n", r.Seconds[1], r.Seconds[0])
	}
	return t.Flush()
}

// adviseNoLabels adds to an error of reading data with labels what predict can
// do if there are none.
func adviseNoLabels(c *cli.Context, err error) error {
	if c.Command.Name != "predict" || c.Bool("no-labels") || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, app.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%w (if the file has no labels, say --no-labels)", err)
}
