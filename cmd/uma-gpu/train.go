package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

func trainCommand() *cli.Command {
	data := append(noisyDataFlags(), annotatorFlags()...)
	data = append(data, &cli.Float64Flag{Name: "validate",
		Usage: "hold this `SHARE` of the examples out, and judge the model by them"})
	data = append(data, streamFlags()...)
	learner := append(learningFlags(),
		&cli.IntFlag{Name: "temperature-folds",
			Usage: "fit the temperature of probabilities to `K` parts held out from K more trainings"},
	)
	output := []cli.Flag{
		outputFlag{&cli.StringFlag{Name: "model", Usage: "model to write, `FILE`.npz (required, but for --dry-run)"}},
		outputFlag{&cli.StringFlag{Name: "checkpoint",
			Usage: "also write the training so far to `FILE`.npz, every so often"}},
		&cli.StringFlag{Name: "every", Value: host.DefaultEvery.String(),
			Usage: "`TIME` between checkpoints, or a number of steps"},
		inputFlag{&cli.StringFlag{Name: "resume",
			Usage: "go on from a checkpoint or an interrupted run's model, `FILE`.npz"}},
		inputFlag{&cli.StringFlag{Name: "from",
			Usage: "begin with weights, preparation and kernel of the model `FILE`.npz"}},
		&cli.BoolFlag{Name: "dry-run", Usage: "print what training would take of memory and time, and stop"},
		&cli.BoolFlag{Name: "verbose", Usage: "print a line for each step on stderr"},
		outputFlag{&cli.StringFlag{Name: "history", Usage: "also write errors step by step to `FILE`: .csv or .jsonl"}},
		outputFlag{&cli.StringFlag{Name: "report",
			Usage: "also show model and labels as a page, `FILE`.html; see report --help"}},
		printedAxesFlag(), jsonFlag(), quietFlag(),
	}
	var flags []cli.Flag
	flags = append(flags, append(data, matchFlag())...)
	flags = append(flags, learner...)
	flags = append(flags, trainKernelFlags()...)
	flags = append(flags, deviceFlags()...)
	flags = append(flags, output...)
	return &cli.Command{
		Name:  "train",
		Usage: "learn a classifier from noisy labels and write a model",
		Description: "Reads examples and a confusion matrix C, C[p][q] = P(noisy = p | true = q), prepares the features,\n" +
			"trains, and writes the model. Without C the labels are taken to be right. The same data, flags and\n" +
			"seed give the same bytes, and on every device the same weights. With --kernel the classifier is\n" +
			"linear in kernel principal components, and curved in the features.\n\n" +
			"With --annotators labels come from a table item,worker,label, whose items are examples, 0 for the\n" +
			"first; what the data have as labels does not count, and each worker has a matrix, which is learned;\n" +
			"those whom you --trust are right, and so tell how the others err.\n\n" +
			"--validate 0.2 learns from four fifths of the examples and judges the model by the others as eval does,\n" +
			"by their noisy labels through C; cv judges by all of them, in as many trainings as there are folds.\n\n" +
			"--stream sees each example once and keeps none, so that memory does not grow with their number: for online\n" +
			"learners, and a preparation that needs no statistics (--normalize bias,l2) or is that of --from.\n\n" +
			"What speaks against the confusion matrix or the result is a warning, and in the JSON object an element of\n" +
			"doubts, with a code, a text and an advice. --history has the estimated error of the weights after each step\n" +
			"and, with --validate, the error of some of them on the examples held out. --report trains five times more\n" +
			"with C and five times without, each time without a fifth of the data, to say whether C helps.\n\n" +
			"Ctrl-C finishes the step, writes the model and exits with 130; --resume goes on from that model, or\n" +
			"from a checkpoint, and ends with the bytes of a run that nothing stopped. A second Ctrl-C ends the\n" +
			"program at once. A checkpoint is written before the first step and then --every 30s, 5m or so many\n" +
			"steps. Without --checkpoint, a training that fails after half a minute, for instance because its\n" +
			"device is lost, leaves what it had learned in MODEL.checkpoint.npz.\n\n" +
			normalizeHelp + "\n" +
			"More is told by uma-gpu learners (their flags), info --help (data), kpca fit --help (kernels) and\n" +
			"devices --help (devices).\n\n" +
			"Examples: uma-gpu train --data noisy.csv --confusion C.csv --model m.npz\n" +
			"          uma-gpu train --data noisy.csv --confusion C.csv --model m.npz --kernel rbf --gamma search",
		Flags:  flags,
		Action: train,
	}
}

// noisyDataFlags say which examples with noisy labels to read, and how to prepare them.
func noisyDataFlags() []cli.Flag {
	return append(dataFlags("examples with noisy labels"),
		inputFlag{&cli.StringFlag{Name: "confusion", Usage: "confusion matrix of the label noise: `FILE`, CSV or .npy"}},
		axesFlag(),
		&cli.StringFlag{Name: "inverse", Value: confusion.Exact, Usage: "`RULE` for its inverse: exact, " +
			"pinv, tikhonov or mix[:STRENGTH]"},
		&cli.StringFlag{Name: "normalize", Value: "auto", Usage: normalizeUsage},
	)
}

// learningFlags say how to learn from them.
func learningFlags() []cli.Flag {
	return append(learnerFlags(),
		&cli.IntFlag{Name: "max-steps", Aliases: []string{"epochs"}, DefaultText: "its own",
			Usage: "most `STEPS` to make; passes, of online learners"},
		&cli.StringFlag{Name: "weights", DefaultText: "its own",
			Usage: "`RULE` for what to keep: best-average, best, average, last"},
		seedFlag("all random choices"),
	)
}

// training is what the flags of a command that trains ask for.
type training struct {
	data       string
	read       dataset.Options
	confusion  string   // "" is none
	annotators string   // "" is none
	trusted    []string // of them
	trueRows   bool
	inverse    confusion.Inversion
	estimates  bool    // the confusion matrix, as none is given
	validate   float64 // share of the examples to hold out
	axes       string  // of printed matrices
	history    string  // file for the errors of each step, "" for none
	page       string  // file for the report, "" for none
	steps      string  // of the preparation, or auto
	model      string
	device     *device
	host.Options

	notes      notes
	verbose    bool
	start, lap time.Time
	seconds    trainSeconds
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

func train(c *cli.Context) (err error) {
	required := []string{"data", "model"}
	if c.Bool("dry-run") {
		required = required[:1]
	}
	t, err := newTraining(c, required...)
	if err != nil {
		return err
	}
	if c.Bool("stream") {
		return t.stream(c)
	}
	if t.Checkpoint.Path == "" {
		t.Checkpoint = ifItFails(t.model)
	}
	ctx := c.Context
	d, noise, err := t.readAll(c)
	if d != nil {
		defer d.Close() // of what was only read: nothing to lose
	}
	if err != nil {
		return err
	}
	d, held, err := t.holdOut(d)
	if err != nil {
		return err
	}
	if t.Resume != nil {
		t.Resume.Meta.TrainedOn(d) // or its hash may be of an earlier kind, which nobody knows of prepared data
	}
	if err := t.prepare(d); err != nil {
		return err
	}
	if err := interrupted(ctx); err != nil {
		return err
	}
	t.device.data = d.SHA256
	e, err := t.device.open(t.notes, t.work(d))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	t.mark(&t.seconds.Open)
	if err := checkTraining(e.Device(), d.N, d.D, len(d.Classes)); err != nil {
		return fmt.Errorf("%s: %w", t.data, err)
	}
	if c.Bool("dry-run") {
		return t.dryRun(c, e, d)
	}
	t.Engine = e
	var passes []map[string]any
	history := host.History{Keeps: held != nil && (t.history != "" || t.page != "")}
	step := func(r host.Report) {
		history.Step(r)
		if t.verbose {
			t.notes.step(r, d.Classes)
		}
		if t.Learner.Definition().Scores { // a step is a pass
			passes = append(passes, passReport(r))
		}
	}
	if !c.Bool("json") && !t.notes.watched() && !t.verbose && t.history == "" && t.page == "" {
		step = nil // nobody would see it, and a pass need not be counted
	}
	t.Watch = host.Watch{Note: t.notes.say, Step: step, Phase: func(p host.Phase) {
		if t.phase(p); p == host.Mapped { // nobody needs the features any more, which may be large
			d.Put(dataset.Examples{N: d.N, D: d.D})
		}
	}}
	trained, err := host.Train(ctx, d, noise, t.Options)
	if err != nil {
		if err := interrupted(ctx); err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", t.data, adviseKernel(adviseMemory(t.adviseResume(c, err))))
	}
	if err := trained.Save(t.model); err != nil {
		return err
	}
	report := t.report(trained, d.N)
	report.Passes = passes
	if held != nil && trained.Run.Stop != host.Interrupted {
		if report.Validation, err = t.judgeHeld(ctx, trained.Model, held, noise); err != nil {
			return err
		}
		if err := history.HoldOut(ctx, e, trained.Model, held, noise); err != nil {
			return err
		}
	}
	if t.history != "" {
		if err := writeHistory(t.history, history.Moments); err != nil {
			return err
		}
	}
	if err := report.print(c, t.axes); err != nil {
		return err
	}
	if trained.Run.Stop != host.Interrupted {
		return t.reported(c, trained, noise, &history)
	}
	return fmt.Errorf("%w after %d steps; %s holds the weights of these, and --resume %s goes on",
		errInterrupted, trained.Run.Steps, t.model, t.model)
}

// report says what was trained from n examples.
func (t *training) report(trained *host.Trained, n int) trainReport {
	t.seconds.Total = time.Since(t.start).Seconds()
	run, meta := trained.Run, trained.Meta
	return trainReport{
		Learner: meta.Learner, Steps: run.Steps, Stop: meta.Stop, EstimatedError: run.EstimatedError,
		EstimatedConfusion: rows(run.Inverse.EstimatedConfusion(run.Counts, n), len(meta.Classes)),
		Classes:            meta.Classes, Examples: n, Features: meta.Features.Count, Condition: max(1, meta.Condition),
		Device: t.Engine.Device(), Model: t.model, Seconds: t.seconds, Doubts: append([]host.Doubt{}, trained.Doubts...),
		CompressionSet: run.CompressionSet, Traffic: trafficOfRanks(),
	}
}

// newTraining checks all that can be checked before a data file is read. The flags required
// must be given; a command need not have all flags of train.
func newTraining(c *cli.Context, required ...string) (*training, error) {
	if err := checkUsage(c, required...); err != nil {
		return nil, err
	}
	t := &training{data: c.String("data"), confusion: c.String("confusion"), model: c.String("model"),
		axes: trueColumns, notes: newNotes(c), verbose: c.Bool("verbose")}
	t.start = time.Now()
	t.lap = t.start
	if t.notes.quiet && t.verbose {
		return nil, usagef(c, "--quiet and --verbose exclude each other")
	}
	if c.IsSet("confusion-axes") && t.confusion == "" {
		return nil, usagef(c, "--confusion-axes is given without --confusion")
	}
	var err error
	if t.read, err = dataOptions(c); err != nil {
		return nil, err
	}
	if visible(c, "confusion-axes") { // bootstrap reads no matrix that others made
		if t.trueRows, err = trueRows(c); err != nil {
			return nil, err
		}
		if t.inverse, err = confusion.ParseInversion(c.String("inverse")); err != nil {
			return nil, usagef(c, "--inverse: %v", err)
		}
		if c.IsSet("inverse") && t.confusion == "" {
			return nil, usagef(c, "--inverse is given without --confusion")
		}
	}
	if t.steps, err = normalizeSteps(c); err != nil {
		return nil, err
	}
	if c.IsSet("axes") {
		if t.axes, err = printedAxes(c); err != nil {
			return nil, err
		}
	}
	t.Seed, t.Tool = c.Uint64("seed"), version
	if t.Kernel, err = newTrainKernel(c); err != nil {
		return nil, err
	}
	if t.Checkpoint, err = checkpointOf(c); err != nil {
		return nil, err
	}
	base, err := t.continueFrom(c)
	if err != nil {
		return nil, err
	}
	if t.Learner, err = chooseLearner(c, base); err != nil {
		return nil, err
	}
	if err := t.annotated(c); err != nil {
		return nil, err
	}
	if err := t.stopping(c, base); err != nil {
		return nil, err
	}
	if t.TemperatureFolds = c.Int("temperature-folds"); c.IsSet("temperature-folds") &&
		(t.TemperatureFolds < 2 || t.TemperatureFolds > host.MostFolds) {
		return nil, usagef(c, "--temperature-folds is %d, wanted 2 to %d", t.TemperatureFolds, host.MostFolds)
	}
	if t.validate = c.Float64("validate"); c.IsSet("validate") && !(t.validate > 0 && t.validate < 1) {
		return nil, usagef(c, "--validate is %v, wanted a share above 0, below 1", t.validate)
	}
	if t.validate > 0 && t.annotators != "" {
		return nil, usagef(c, "--validate and --annotators exclude each other: judge by eval, on labels of their own")
	}
	if err := t.streamed(c); err != nil {
		return nil, err
	}
	if err := t.checkReport(c); err != nil {
		return nil, err
	}
	t.device, err = chooseDevice(c)
	return t, err
}

// stopping checks --weights and --max-steps, of a training that began with base if that is not
// nil.
func (t *training) stopping(c *cli.Context, base learners.Params) error {
	if c.IsSet("weights") {
		rule, err := t.Learner.Definition().Rule(c.String("weights"))
		if err != nil {
			return usagef(c, "--weights: %v", err)
		}
		if base != nil {
			if err := asBegun(c, "weights", string(rule), t.Resume.Meta.Weights); err != nil {
				return err
			}
		}
		t.Weights = rule
	}
	if steps := c.Int("max-steps"); c.IsSet("max-steps") {
		if steps < 0 {
			return usagef(c, "--max-steps is %d, wanted at least 0", steps)
		}
		if t.MaxSteps = steps; steps == 0 {
			t.MaxSteps = host.NoSteps
		}
	}
	return nil
}

// mark stores the seconds since the last mark.
func (t *training) mark(seconds *float64) {
	now := time.Now()
	*seconds = now.Sub(t.lap).Seconds()
	t.lap = now
}

// phase is host.Watch.Phase.
func (t *training) phase(p host.Phase) {
	switch p {
	case host.Mapped:
		t.mark(&t.seconds.Kernel)
	case host.Loaded:
		t.mark(&t.seconds.Upload)
	case host.Learned:
		t.mark(&t.seconds.Train)
	}
}

// readAll reads the data and the confusion matrix of its labels, nil if they are right,
// and inverts that.
func (t *training) readAll(c *cli.Context) (*dataset.Dataset, *confusion.Matrix, error) {
	d, err := t.readExamples(c)
	if err != nil {
		return nil, nil, err
	}
	if t.annotators != "" {
		if err := t.readAnnotations(c.Context, d); err != nil {
			return d, nil, err
		}
	}
	noise, err := t.readNoise(c.Context, d.Classes)
	if err != nil {
		return d, nil, err
	}
	inverse, err := (&learners.Problem{Q: len(d.Classes), Noise: noise}).Inverse()
	if err != nil {
		return d, nil, fmt.Errorf("%s: %w", cmp.Or(t.confusion, t.data), err)
	}
	if noise != nil {
		t.notes.say("confusion matrix: condition number %.4g", inverse.Condition)
	}
	t.mark(&t.seconds.Read)
	return d, noise, nil
}

// readExamples reads the data; for a training that goes on, or begins with a model, so
// that they match.
func (t *training) readExamples(c *cli.Context) (*dataset.Dataset, error) {
	if t.sharesExamples() {
		if err := shareReading(t.data, &t.read); err != nil {
			return nil, err
		}
	}
	base := t.base()
	if base == nil {
		o := t.read
		if o.Prepare = t.steps; t.steps == "auto" && t.Kernel != nil {
			o.Prepare = host.DefaultStepsKernel
		}
		return readData(c.Context, t.data, o, t.notes)
	}
	o := t.read
	o.Classes = base.Meta.Classes
	if base.Meta.Preparation.Steps.NeedsDense() && o.Storage != "narrow" {
		o.Storage = "dense"
	}
	d, err := readFor(c, o, base.Meta.Features, t.notes)
	if err == nil && d.SHA256 == "" && d.Prepared == nil { // a mapped file, whose columns traded places, or an old one
		d.SHA256 = d.Hash()
	}
	return d, err
}

// sharesExamples reports whether no step of the training needs other examples than those of the rank that makes it,
// but for some that it picks.
func (t *training) sharesExamples() bool {
	return t.Learner.Definition().Shared && t.page == "" && !t.estimates
}

// readNoise reads the confusion matrix, nil for none.
func (t *training) readNoise(ctx context.Context, classes []string) (*confusion.Matrix, error) {
	switch {
	case t.confusion != "":
		m, err := readMatrix(ctx, t.confusion, confusion.ReadOptions{Classes: classes, TrueRows: t.trueRows})
		if err == nil {
			m.Inversion = t.inverse
		}
		return m, err
	case t.Resume != nil && t.Resume.Confusion != nil:
		t.notes.say("confusion matrix: that of the training to go on with")
		m := &confusion.Matrix{Classes: classes, P: t.Resume.Confusion}
		if text := t.Resume.Meta.Inverse; text != "" {
			var err error
			m.Inversion, err = confusion.ParseInversion(text)
			return m, err
		}
		return m, nil
	}
	switch {
	case t.learnsNoise():
		t.notes.say("confusion matrix: none given; it is learned")
	case t.estimates:
		t.notes.say("confusion matrix: none given; it is estimated")
	default:
		t.notes.say("confusion matrix: none given, so the identity: all labels are taken to be right")
	}
	return nil, nil
}

// prepare prepares the data where they are, so that raw ones need not be kept.
func (t *training) prepare(d *dataset.Dataset) error {
	where := t.device
	if t.mapped() || t.read.Storage == "dense" {
		where = nil // projection reads float32, and whoever asks for it gets it
	}
	if base := t.base(); base != nil {
		how := memoryFor(where, d, []dataset.Memory{dataset.InPlace})
		if err := d.PrepareBy(&base.Meta.Preparation, how...); err != nil {
			return err
		}
	} else if err := prepare(t.steps, t.mapped(), d, where, dataset.InPlace); err != nil {
		return err
	}
	if t.Kernel != nil && !t.ownMap() {
		if _, err := t.Kernel.Plan(d); err != nil {
			return fmt.Errorf("%s: %w", t.data, adviseKernel(err))
		}
	}
	t.mark(&t.seconds.Prepare)
	return nil
}

// mapped says whether there is a kernel function.
func (t *training) mapped() bool {
	return t.Kernel != nil || t.base() != nil && t.base().Projection != nil
}

// ownMap says whether the kernel function is for a map of the learner's own, instead of kernel PCA.
func (t *training) ownMap() bool {
	_, own := t.Learner.(learners.Mapper)
	return own && t.Kernel != nil
}

// work is what the learner will see of prepared data.
func (t *training) work(d *dataset.Dataset) work {
	q, components := len(d.Classes), 0
	switch base := t.base(); {
	case base != nil && base.Projection != nil:
		q, components = base.Q, base.D
	case t.ownMap():
		components = q
	case t.Kernel != nil:
		components = t.Kernel.MostComponents(d.N, d.D)
	default:
		return workOn(d, q)
	}
	w := workOnComponents(d.N, components, q)
	w.shared = d.Stored().At.Shared() != nil
	return w
}

// dryRun prints what training would take.
func (t *training) dryRun(c *cli.Context, e engine.Engine, d *dataset.Dataset) error {
	switch {
	case t.ownMap():
		return t.ownMapDryRun(c, e.Device(), d)
	case t.Kernel != nil:
		return t.kernelDryRun(c, e.Device(), d)
	}
	return t.linearDryRun(c, e, d.Stored(), d.Y, len(d.Classes))
}
