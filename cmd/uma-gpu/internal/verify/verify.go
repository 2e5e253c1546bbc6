// Package verify is the command that checks a model against the data it learned from.
package verify

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

func New() *cli.Command {
	flags := append([]cli.Flag{app.ModelFlag()},
		app.DataFlags("examples, those of the training for --retrain")...)
	flags = append(flags, app.MatchFlag(),
		&cli.BoolFlag{Name: "retrain", Usage: "also train again on the processor, and compare the bytes"})
	flags = append(flags, slices.DeleteFunc(device.Flags(),
		func(f cli.Flag) bool { return f.Names()[0] == "audit" })...)
	return &cli.Command{
		Name: "verify",
		Usage: "find out whether a model is whole, computes the same on two engines, and comes of its " +
			"data",
		Description: "Reads the model, whose checksums have to be right; computes scores, predictions " +
			"and class sums\nof the examples on the device and once more by cpu:plain, the loops that " +
			"define every result; " +
			"and,\nwith --retrain, trains again on cpu by what the model tells of its training. All bits " +
			"are compared.\nThe first that differs is an error that names it, and the exit code is 1.\n\n" +
			"--retrain wants the data of the training, by their hash, and a training that began with " +
			"nothing but them:\nneither --from nor --annotators. The device may differ, and nothing " +
			"else.\n\nExample: uma-gpu verify --model m.npz --data noisy.csv --device opencl --retrain",
		Flags:  append(flags, app.JSONFlag(), app.QuietFlag()),
		Action: verify,
	}
}

// Verification is what verify --json prints, of a model that is what it should be.
type Verification struct {
	Model        string        `json:"model"`
	SHA256       string        `json:"sha256"` // of the file
	Examples     int           `json:"examples"`
	Device       engine.Device `json:"device"` // where they were scored
	TrainingData bool          `json:"training_data"`
	Retrained    bool          `json:"retrained"` // to the same bytes
}

func verify(c *cli.Context) error {
	if err := app.CheckUsage(c, "model", "data"); err != nil {
		return err
	}
	if c.Bool("retrain") && c.String("data") == "-" {
		return app.Usagef(c, "--retrain reads the data twice, wanted a file for --data")
	}
	options, err := app.DataOptions(c)
	if err != nil {
		return err
	}
	where, err := device.Choose(c)
	if err != nil {
		return err
	}
	v := Verification{Model: c.String("model")}
	text, err := os.ReadFile(v.Model)
	if err != nil {
		return err
	}
	v.SHA256 = fmt.Sprintf("%x", sha256.Sum256(text))
	m, err := model.Load(v.Model)
	if err != nil {
		return err
	}
	n := app.NewNotes(c)
	g := training.Grounds{Model: m, Read: options}
	if err := v.score(c, &g, where, n); err != nil {
		return fmt.Errorf("model file %s is not verified: %w", v.Model, err)
	}
	if c.Bool("retrain") {
		if err := v.retrain(c, &g, n); err != nil {
			return fmt.Errorf("model file %s is not verified: %w", v.Model, err)
		}
	}
	if c.Bool("json") {
		return app.PrintJSON(c.App.Writer, v)
	}
	return v.print(c.App.Writer, len(text))
}

// score compares what the device and cpu:plain make of the examples.
func (v *Verification) score(c *cli.Context, g *training.Grounds, where *device.Device,
	n app.Notes) (err error) {
	d, err := g.ReadData(c, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	v.Examples, v.TrainingData = d.N, g.Model.Meta.TrainedOn(d)
	if err := features.PrepareBy(d, &g.Model.Meta.Preparation); err != nil {
		return err
	}
	work := device.WorkOn(d, g.Model.Q)
	if g.Model.Projection != nil {
		work = device.WorkOnComponents(d.N, g.Model.D, g.Model.Q)
	}
	e, err := where.Open(n, work)
	if err != nil {
		return err
	}
	e = audit.Engine(e, cpuref.New(), audit.Full)
	defer func() { err = errors.Join(err, e.Close()) }()
	v.Device = e.Device()
	if _, err := g.Model.PredictPrepared(c.Context, e, d); err != nil {
		return err
	}
	if _, err := g.Model.ScoresPrepared(c.Context, e, d); err != nil {
		return err
	}
	x := d.Stored()
	if k := g.Model.Map(); k != nil {
		if x, err = k.Apply(c.Context, e, x); err != nil {
			return err
		}
	}
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	return classSums(e, x, d.Y, engine.Weights{Q: g.Model.Q, D: g.Model.D, W: g.Model.W})
}

// classSums has an engine, which is audited, make the sums of all regions.
func classSums(e engine.Engine, x dataset.Rows, y []int32, w engine.Weights) (err error) {
	cells, err := e.LoadCells(x, y, w.Q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cells.Close()) }()
	all := make([]int, w.Q)
	for p := range all {
		all[p] = p
	}
	if err := cells.Rescore(w, all); err != nil {
		return err
	}
	if _, err := cells.Assign(0); err != nil {
		return err
	}
	sums := make([]int64, w.Q*w.D)
	for p := range all {
		if err := cells.ClassSums(sums, p); err != nil {
			return err
		}
	}
	return nil
}

// retrain trains again by what the model tells of its training, and compares the bytes.
func (v *Verification) retrain(c *cli.Context, g *training.Grounds, n app.Notes) error {
	meta := &g.Model.Meta
	for _, missing := range []struct {
		is   bool
		what string
	}{
		{!v.TrainingData, "these are not the data that it was trained on, whose SHA-256 is " +
			meta.DataSHA256},
		{meta.From != "", "its training began with the weights of another model, which are not in it"},
		{meta.AnnotationsSHA256 != "", "it was trained on the labels of annotators, which are not in it"},
		{g.Model.State != nil, "its training had not ended"},
		{meta.ContractVersion != contract.Version,
			fmt.Sprintf("its weights were computed by version %d of the contract, and this program "+
				"computes by version %d", meta.ContractVersion, contract.Version)},
	} {
		if missing.is {
			return fmt.Errorf("it cannot be trained again: %s", missing.what)
		}
	}
	d, err := g.ReadData(c, n)
	if err != nil {
		return err
	}
	defer d.Close() // of what was only read: nothing to lose
	o, noise, err := host.Settings(g.Model, d.N)
	if err != nil {
		return err
	}
	o.TemperatureFolds, o.Engine = meta.TemperatureFolds, device.Fastest(false)
	o.Watch.Note = n.Say
	again, err := host.Train(c.Context, d, noise, o)
	if err := errors.Join(app.Interrupted(c.Context), err, o.Engine.Close()); err != nil {
		return fmt.Errorf("trained again: %w", err)
	}
	if err := sameModel(again.Model, g.Model); err != nil {
		return fmt.Errorf("trained again, %w", err)
	}
	v.Retrained = true
	return nil
}

// sameModel compares two models, but for their devices.
func sameModel(found, wanted *model.Model) error {
	for k, w := range wanted.W[:min(len(wanted.W), len(found.W))] {
		if f := found.W[k]; f != w {
			return fmt.Errorf("it has other weights: of class %q in column %d found %v (%[3]x), wanted %v "+
				"(%[4]x)", wanted.Meta.Classes[k/wanted.D], k%wanted.D, f, w)
		}
	}
	same := *found
	same.Meta.Device = wanted.Meta.Device
	var a, b bytes.Buffer
	if err := errors.Join(same.Write(&a), wanted.Write(&b)); err != nil {
		return err
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		return errors.New("it has the same weights, and something else differs; see uma-gpu inspect " +
			"--json of both")
	}
	return nil
}

func (v *Verification) print(w io.Writer, size int) error {
	data, retrained := "others than those of the training", "not asked for, see --retrain"
	if v.TrainingData {
		data = "those of the training"
	}
	verdict := "it is whole, and " + v.Device.ID + " computes of it what cpu:plain does"
	if v.Retrained {
		retrained, verdict = "on cpu, to the same bytes", verdict+"; its data give the same file again"
	}
	fmt.Fprintf(w, "verified: %s: %s\n\n", v.Model, verdict)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "file\t%d bytes, SHA-256 %s\n", size, v.SHA256)
	fmt.Fprintf(t, "results\tscores, predictions and class sums of %d examples: the same bits on %s "+
		"and cpu:plain\n", v.Examples, v.Device.ID)
	fmt.Fprintf(t, "data\t%s\ntrained again\t%s\n", data, retrained)
	return t.Flush()
}
