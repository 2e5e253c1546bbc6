// Package verify is the command that checks a model against the data it learned from.
package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

type Options struct {
	app.Common
	Model   app.Model
	Data    app.Data
	Retrain bool
	Device  device.Device
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	o.Data.Resumes = true
	return &cli.Command{
		Name: "verify",
		Usage: "find out whether a model is whole, computes the same on two engines, and comes of its " +
			"data",
		Description: `Reads the model, whose checksums have to be right. Computes scores, predictions and class sums of the
examples on the device, and once more by cpu:plain, whose loops define every result. --retrain trains
again on cpu by what the model tells of its training. All bits are compared. The first that differs
is an error that names it, and the exit code is 1.

--retrain needs the data of the training, by their hash, and a training that began with nothing else:
neither --from nor --annotators. The device may differ, and nothing else.

Example: uma-gpu verify --model m.npz --data noisy.csv --device opencl --retrain`,
		Flags: app.Flags(o.Model.Flag(),
			o.Data.Flags(&o.Common, "examples, those of the training for --retrain"), o.Model.MatchFlag(),
			app.Switch(&o.Retrain, "retrain", "also train again on the processor, and compare the bytes"),
			app.Without(o.Device.Flags(), "audit"), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
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

// Run verifies a model.
func Run(ctx context.Context, o *Options) error {
	if o.Retrain && o.Data.Path == "-" {
		return app.Usage("--retrain reads the data twice, wanted a file for --data")
	}
	v := Verification{Model: o.Model.Path}
	text, err := os.ReadFile(v.Model)
	if err != nil {
		return err
	}
	v.SHA256 = fmt.Sprintf("%x", sha256.Sum256(text))
	m, err := model.Load(v.Model)
	if err != nil {
		return err
	}
	read := func() (*dataset.Dataset, error) {
		return training.ReadFor(ctx, &o.Data, o.Data.Options(), &o.Model, m)
	}
	err = v.score(ctx, m, read, &o.Device, o.Notes)
	if err == nil && o.Retrain {
		err = v.retrain(ctx, m, read, o.Notes)
	}
	if err != nil {
		return fmt.Errorf("model file %s is not verified: %w", v.Model, err)
	}
	return o.Print(v, func(w io.Writer) error { return v.text(w, len(text)) })
}

// score compares what the device and cpu:plain make of the examples.
func (v *Verification) score(ctx context.Context, m *model.Model,
	read func() (*dataset.Dataset, error), where *device.Device, n app.Notes) (err error) {
	d, err := read()
	if err != nil {
		return err
	}
	defer d.Close() // only read
	v.Examples, v.TrainingData = d.N, m.Meta.TrainedOn(d)
	if err := features.PrepareBy(d, &m.Meta.Preparation); err != nil {
		return err
	}
	e, err := where.Open(n, device.WorkOnModel(d, m))
	if err != nil {
		return err
	}
	e = audit.Engine(e, cpuref.New(), audit.Full)
	defer func() { err = errors.Join(err, e.Close()) }()
	v.Device = e.Device()
	if _, err := m.PredictPrepared(ctx, e, d); err != nil {
		return err
	}
	if _, err := m.ScoresPrepared(ctx, e, d); err != nil {
		return err
	}
	x := d.Stored()
	if k := m.Map(); k != nil {
		if x, err = k.Apply(ctx, e, x); err != nil {
			return err
		}
	}
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	return classSums(e, x, d.Y, engine.Weights{Q: m.Q, D: m.D, W: m.W})
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
func (v *Verification) retrain(ctx context.Context, m *model.Model,
	read func() (*dataset.Dataset, error), n app.Notes) error {
	meta := &m.Meta
	for _, missing := range []struct {
		is   bool
		what string
	}{
		{!v.TrainingData, "these are not the data that it was trained on, whose SHA-256 is " +
			meta.DataSHA256},
		{meta.From != "", "its training began with the weights of another model, which are not in it"},
		{meta.AnnotationsSHA256 != "", "it was trained on the labels of annotators, which are not in it"},
		{m.State != nil, "its training had not ended"},
		{meta.ContractVersion != contract.Version,
			fmt.Sprintf("its weights were computed by version %d of the contract, and this program "+
				"computes by version %d", meta.ContractVersion, contract.Version)},
	} {
		if missing.is {
			return fmt.Errorf("it cannot be trained again: %s", missing.what)
		}
	}
	d, err := read()
	if err != nil {
		return err
	}
	defer d.Close() // only read
	o, noise, err := host.Settings(m, d.N)
	if err != nil {
		return err
	}
	o.TemperatureFolds, o.Engine = meta.TemperatureFolds, simd.New()
	o.Watch.Note = n.Say
	again, err := host.Train(ctx, d, noise, o)
	if err := errors.Join(app.Interrupted(ctx), err, o.Engine.Close()); err != nil {
		return fmt.Errorf("trained again: %w", err)
	}
	if err := sameModel(again.Model, m); err != nil {
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

func (v *Verification) text(w io.Writer, size int) error {
	data, retrained := "others than those of the training", "not asked for, see --retrain"
	if v.TrainingData {
		data = "those of the training"
	}
	verdict := "it is whole, and " + v.Device.ID + " computes of it what cpu:plain does"
	if v.Retrained {
		retrained, verdict = "on cpu, to the same bytes", verdict+"; its data give the same file again"
	}
	fmt.Fprintf(w, "verified: %s: %s\n\n", v.Model, verdict)
	return app.Table(w, func(row app.Row) {
		row("file\t%d bytes, SHA-256 %s", size, v.SHA256)
		row("results\tscores, predictions and class sums of %d examples: the same bits on %s and "+
			"cpu:plain", v.Examples, v.Device.ID)
		row("data\t%s\ntrained again\t%s", data, retrained)
	})
}
