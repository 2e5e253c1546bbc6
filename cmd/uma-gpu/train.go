package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/verify"
	"github.com/uma-gpu/uma-gpu/host/kernelpca"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

func trainCommand() *cli.Command {
	flags := dataFlags("examples with noisy labels")
	flags = append(flags,
		inputFlag{&cli.StringFlag{Name: "confusion", Usage: "confusion matrix of the label noise: `FILE` in CSV or .npy format (default: the identity, labels taken to be right)"}},
		axesFlag(),
		outputFlag{&cli.StringFlag{Name: "model", Usage: "model to write, `FILE`.npz, readable by numpy (required, but for --dry-run)"}},
		&cli.StringFlag{Name: "normalize", Value: "auto", Usage: normalizeUsage + "; the model keeps what was fitted; data that convert prepared stay as they are"},
		&cli.StringFlag{Name: "learner", Value: "uma", Usage: "`NAME` of the learner: uma (Louche & Ralaivola 2015); with the identity for C it is the batch perceptron"},
		&cli.StringFlag{Name: "select", Value: string(uma.SelectError), Usage: "`RULE` for the pair of classes to correct: error (largest estimated mistake), confusion (the same relative to the class's size) or random"},
		&cli.Float64Flag{Name: "alpha", Value: 0, Usage: "margin `A` that an example needs to count as predicted, in units of the score, at least 0"},
		&cli.Float64Flag{Name: "tol", Value: 1e-9, Usage: "norm `T` of an update vector up to which its mistake is left alone, at least 0; one example of length 1 weighs 1/n, so the default overlooks none"},
		&cli.IntFlag{Name: "max-steps", Value: 1000, Usage: "most `STEPS` (updates of the weights) to make, at least 0"},
		&cli.StringFlag{Name: "weights", Value: string(host.Best), Usage: "`WHICH` weights to keep: last, average (of all steps) or best (of least estimated error)"},
		seedFlag("--select random, landmarks and the search for gamma"),
	)
	flags = append(flags, trainKernelFlags()...)
	flags = append(flags, deviceFlags()...)
	flags = append(flags, jsonFlag(), quietFlag(),
		&cli.BoolFlag{Name: "dry-run", Usage: "read and prepare the data, print what training would take of the device and of time, and stop"},
		&cli.BoolFlag{Name: "verify", Usage: "compute everything from scratch as well, at each step, and compare bits: for those who doubt a device or change an engine; slow"},
		&cli.BoolFlag{Name: "verbose", Usage: "print one line for each step on stderr"})
	return &cli.Command{
		Name:  "train",
		Usage: "learn a classifier from noisy labels and write a model",
		Description: "Reads examples and a confusion matrix C, C[p][q] = P(noisy = p | true = q), prepares the features, trains, and\n" +
			"writes the model. The same data, flags and seed give the same bytes, and on every device the same weights.\n" +
			"With --kernel the classifier is linear in kernel principal components, and curved in the features.\n" +
			"Ctrl-C finishes the step, writes the model and exits with 130; a second one ends the program at once.\n\n" +
			"Examples: uma-gpu train --data noisy.csv --confusion C.csv --model m.npz --max-steps 600\n" +
			"          uma-gpu train --data noisy.csv --confusion C.csv --model m.npz --kernel rbf --components 640 --gamma search",
		Flags:  flags,
		Action: train,
	}
}

// training is what the flags of train ask for.
type training struct {
	data      string
	options   dataset.Options
	confusion string // "" is the identity
	trueRows  bool
	model     string
	steps     string // of the preparation, or auto
	learner   string
	uma       uma.Config // without the inverse
	maxSteps  int
	weights   host.Rule
	kernel    *kernelChoice   // nil for none
	features  *host.KernelMap // fitted; nil for none
	device    *device

	componentSteps []dataset.Steps // the one of the kernel's components; nil for auto
	notes          notes
	verbose        bool
	start, lap     time.Time
	seconds        trainSeconds
}

// trainSeconds is where the time went. Total is all of it, from the checking of
// the flags to the model on disk.
type trainSeconds struct {
	Read    float64 `json:"read"`    // data and confusion matrix
	Prepare float64 `json:"prepare"` // fitting and applying
	Open    float64 `json:"open"`    // the device, with compiling and the self-test
	Kernel  float64 `json:"kernel"`  // fitting kernel PCA and projecting
	Upload  float64 `json:"upload"`  // examples to the device
	Train   float64 `json:"train"`
	Total   float64 `json:"total"`
}

// trainReport is what train --json prints.
type trainReport struct {
	Steps          int     `json:"steps"`
	Stop           string  `json:"stop"`
	EstimatedError float64 `json:"estimated_error"`
	// P(predicted = row | true = column) as far as noisy labels tell.
	EstimatedConfusion [][]float64   `json:"estimated_confusion"`
	Classes            []string      `json:"classes"`
	Examples           int           `json:"examples"`
	Features           int           `json:"features"`
	Condition          float64       `json:"condition_number"`
	Device             engine.Device `json:"device"`
	Model              string        `json:"model"`
	Seconds            trainSeconds  `json:"seconds"`
}

func train(c *cli.Context) (err error) {
	t, err := newTraining(c)
	if err != nil {
		return err
	}
	ctx := c.Context
	d, matrix, err := t.read(ctx)
	if d != nil {
		defer d.Close() // of what was only read: nothing to lose
	}
	if err != nil {
		return err
	}
	inverse, err := matrix.Invert()
	if err != nil {
		return fmt.Errorf("%s: %w", t.confusion, err)
	}
	t.notes.say("confusion matrix: condition number %.4g", inverse.Condition)
	t.mark(&t.seconds.Read)

	where := t.device
	if t.kernel != nil || t.options.Storage == "dense" {
		where = nil // projection reads float32, and whoever asks for it gets it
	}
	if err := prepare(t.steps, t.kernel != nil, d, where); err != nil {
		return err
	}
	var plan kernelpca.Plan
	if t.kernel != nil {
		if plan, err = t.kernel.plan(d.N, d.D); err != nil {
			return fmt.Errorf("%s: %w", t.data, adviseKernel(err))
		}
	}
	// What no model can hold is refused now, rather than when it is to be written.
	if err := t.metadata(d, inverse, engine.Device{}, host.Result{}).Check(); err != nil {
		return fmt.Errorf("%s: %w", t.data, err)
	}
	t.mark(&t.seconds.Prepare)
	if err := interrupted(ctx); err != nil {
		return err
	}
	e, err := t.device.open(t.notes, d.Examples, len(d.Classes))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	t.mark(&t.seconds.Open)
	if err := checkTraining(e.Device(), d.N, d.D, len(d.Classes)); err != nil {
		return fmt.Errorf("%s: %w", t.data, err)
	}
	if c.Bool("verify") {
		e = verify.Engine(e)
	}
	if c.Bool("dry-run") && t.kernel != nil {
		return t.kernelDryRun(c, e.Device(), d, plan)
	}
	if c.Bool("dry-run") {
		return t.dryRun(c, e, d.Examples, d.Y, len(d.Classes))
	}

	if err := t.fitKernel(ctx, e, d, inverse); err != nil {
		return err
	}
	result, err := t.run(ctx, e, d.Examples, d.Y, inverse, d.Classes)
	if err != nil {
		return err
	}
	m := &model.Model{
		Q: result.W.Q, D: result.W.D, W: result.W.W, Confusion: matrix.P,
		Meta: *t.metadata(d, inverse, e.Device(), result),
	}
	if t.features != nil {
		m.Meta.Kernel, m.Projection = kernelOf(t.features)
	}
	if err := m.Save(t.model); err != nil {
		return err
	}
	t.seconds.Total = time.Since(t.start).Seconds()
	report := trainReport{
		Steps: result.Steps, Stop: string(result.Stop), EstimatedError: result.EstimatedError,
		EstimatedConfusion: rows(inverse.EstimatedConfusion(result.Counts, d.N), len(d.Classes)),
		Classes:            d.Classes, Examples: d.N, Features: d.FeatureCount(), Condition: sixDigits(inverse.Condition),
		Device: e.Device(), Model: t.model, Seconds: t.seconds,
	}
	if err := report.print(c); err != nil {
		return err
	}
	if result.Stop == host.Interrupted {
		return fmt.Errorf("%w after %d steps; %s holds the weights of these", errInterrupted, result.Steps, t.model)
	}
	return nil
}

// newTraining checks all that can be checked before a file is read.
func newTraining(c *cli.Context) (*training, error) {
	required := []string{"data", "model"}
	if c.Bool("dry-run") {
		required = required[:1]
	}
	if err := checkUsage(c, required...); err != nil {
		return nil, err
	}
	t := &training{
		data: c.String("data"), confusion: c.String("confusion"), model: c.String("model"),
		maxSteps: c.Int("max-steps"), notes: newNotes(c), verbose: c.Bool("verbose"),
	}
	t.start = time.Now()
	t.lap = t.start
	if t.notes.quiet && t.verbose {
		return nil, usagef(c, "--quiet and --verbose exclude each other")
	}
	if c.IsSet("confusion-axes") && t.confusion == "" {
		return nil, usagef(c, "--confusion-axes is given without --confusion")
	}
	if t.maxSteps < 0 {
		return nil, usagef(c, "--max-steps is %d, wanted at least 0", t.maxSteps)
	}
	var err error
	if t.options, err = dataOptions(c); err != nil {
		return nil, err
	}
	if t.trueRows, err = trueRows(c); err != nil {
		return nil, err
	}
	if t.steps, err = normalizeSteps(c); err != nil {
		return nil, err
	}
	if t.kernel, err = newKernelChoice(c, true); err != nil {
		return nil, err
	}
	if text := c.String("normalize-components"); text != "auto" {
		steps, err := dataset.ParseSteps(text)
		if err != nil {
			return nil, usagef(c, "--normalize-components: %v", err)
		}
		t.componentSteps = []dataset.Steps{steps}
	}
	if t.learner, err = oneOf(c, "learner", "uma"); err != nil {
		return nil, err
	}
	rule, err := oneOf(c, "weights", string(host.Last), string(host.Average), string(host.Best))
	if err != nil {
		return nil, err
	}
	t.weights = host.Rule(rule)
	t.uma = uma.Config{
		Select: uma.Select(c.String("select")), Alpha: float32(c.Float64("alpha")),
		Tol: c.Float64("tol"), Seed: c.Uint64("seed"),
	}
	// The inverse comes with the data; everything else can be judged now.
	trial := t.uma
	trial.Inverse = &confusion.Inverse{}
	if _, err := uma.New(trial); err != nil {
		return nil, usagef(c, "%v", err)
	}
	if t.device, err = chooseDevice(c); err != nil {
		return nil, err
	}
	return t, nil
}

// mark stores the seconds since the last mark.
func (t *training) mark(seconds *float64) {
	now := time.Now()
	*seconds = now.Sub(t.lap).Seconds()
	t.lap = now
}

// read reads the data and the confusion matrix of its labels.
func (t *training) read(ctx context.Context) (*dataset.Dataset, *confusion.Matrix, error) {
	d, err := readData(ctx, t.data, t.options, t.notes)
	if err != nil {
		return nil, nil, err
	}
	if t.confusion == "" {
		t.notes.say("confusion matrix: none given, so the identity: all labels are taken to be right")
		m, err := confusion.Identity(d.Classes)
		return d, m, err
	}
	m, err := confusion.Read(t.confusion, confusion.ReadOptions{Classes: d.Classes, TrueRows: t.trueRows})
	return d, m, err
}

// run loads the examples and trains.
func (t *training) run(ctx context.Context, e engine.Engine, x dataset.Examples, y []int32, inverse *confusion.Inverse, classes []string) (_ host.Result, err error) {
	examples, err := e.Load(x, y, len(classes))
	if err != nil {
		return host.Result{}, adviseMemory(err)
	}
	defer func() { err = errors.Join(err, examples.Close()) }()
	t.mark(&t.seconds.Upload)
	if err := interrupted(ctx); err != nil {
		return host.Result{}, err
	}
	config := t.uma
	config.Inverse = inverse
	l, err := uma.New(config)
	if err != nil {
		return host.Result{}, err
	}
	p := newProgress(t.notes, t.verbose, classes)
	result, err := host.Run(ctx, examples, l, host.Options{
		MaxSteps: t.maxSteps, Weights: t.weights, Inverse: inverse, OnStep: p.step,
	})
	p.done()
	t.mark(&t.seconds.Train)
	return result, err
}

// parameters are the learner's in the model, in the order of the flags.
type parameters struct {
	Select   uma.Select `json:"select"`
	Alpha    float32    `json:"alpha"`
	Tol      float64    `json:"tol"`
	MaxSteps int        `json:"max_steps"`
}

// metadata fills the model's metadata. Nothing in it but the device depends on
// where or when the model is made.
func (t *training) metadata(d *dataset.Dataset, inverse *confusion.Inverse, e engine.Device, r host.Result) *model.Meta {
	return &model.Meta{
		ToolVersion: version,
		Classes:     d.Classes,
		Features:    model.Features{Count: d.FeatureCount(), Names: d.Features},
		Learner:     t.learner,
		Parameters:  mustJSON(parameters{t.uma.Select, t.uma.Alpha, t.uma.Tol, t.maxSteps}),
		Seed:        t.uma.Seed,
		Weights:     string(t.weights),
		Preparation: *d.Prepared,
		DataSHA256:  d.SHA256,
		// Its last digits depend on the processor (package confusion); six do not.
		Condition:      sixDigits(inverse.Condition),
		Steps:          r.Steps,
		Stop:           string(r.Stop),
		EstimatedError: &r.EstimatedError,
		Device: model.Device{
			Kind: e.Kind, Name: e.Name, Platform: e.Platform, Driver: e.Driver, Conforming: e.Conforming,
		},
	}
}

// mustJSON encodes a value that has only finite numbers and plain text. If that
// were wrong, what it returns would be no JSON object and Meta.Check refuse it.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(err.Error())
	}
	return raw
}
