// Package training is the commands train, report and learners, and what other commands that train
// share with them: flags, the reading of data, and trainings without each part of the data.
package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/learners"
)

func NewTrain() *cli.Command {
	data := append(NoisyDataFlags(), AnnotatorFlags()...)
	data = append(data, &cli.Float64Flag{Name: "validate",
		Usage: "hold this `SHARE` of the examples out, and judge the model by them"})
	data = append(data, streamFlags()...)
	learner := append(LearningFlags(),
		&cli.IntFlag{Name: "temperature-folds",
			Usage: "fit the temperature of probabilities to `K` parts held out from K more trainings"},
	)
	output := []cli.Flag{
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "model",
			Usage: "model to write, `FILE`.npz (required, but for --dry-run)"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "checkpoint",
			Usage: "also write the training so far to `FILE`.npz, every so often"}},
		&cli.StringFlag{Name: "every", Value: host.DefaultEvery.String(),
			Usage: "`TIME` between checkpoints, or a number of steps"},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "resume",
			Usage: "go on from a checkpoint or an interrupted run's model, `FILE`.npz"}},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "from",
			Usage: "begin with weights, preparation and kernel of the model `FILE`.npz"}},
		&cli.BoolFlag{Name: "dry-run",
			Usage: "print what training would take of memory and time, and stop"},
		&cli.BoolFlag{Name: "verbose", Usage: "print a line for each step on stderr"},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "history",
			Usage: "also write errors step by step to `FILE`: .csv or .jsonl"}},
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "report",
			Usage: "also show model and labels as a page, `FILE`.html; see report --help"}},
		app.PrintedAxesFlag(nil), app.JSONFlag(), app.QuietFlag(),
	}
	var flags []cli.Flag
	flags = append(flags, append(data, app.MatchFlag())...)
	flags = append(flags, learner...)
	flags = append(flags, app.TrainKernelFlags()...)
	flags = append(flags, device.Flags()...)
	flags = append(flags, output...)
	return &cli.Command{
		Name:  "train",
		Usage: "learn a classifier from noisy labels and write a model",
		Description: "Reads examples and a confusion matrix C, C[p][q] = P(noisy = p | true = q), " +
			"prepares the features,\n" +
			"trains, and writes the model. Without C the labels are taken to be right. The same data, " +
			"flags and\n" +
			"seed give the same bytes, and on every device the same weights. With --kernel the " +
			"classifier is\n" +
			"linear in kernel principal components, and curved in the features.\n\n" +
			"With --annotators labels come from a table item,worker,label, whose items are examples, 0 " +
			"for the\n" +
			"first; what the data have as labels does not count, and each worker has a matrix, which is " +
			"learned;\n" +
			"those whom you --trust are right, and so tell how the others err.\n\n" +
			"--validate 0.2 learns from four fifths of the examples and judges the model by the others " +
			"as eval does,\n" +
			"by their noisy labels through C; cv judges by all of them, in as many trainings as there " +
			"are folds.\n\n" +
			"--stream sees each example once and keeps none, so that memory does not grow with their " +
			"number: for online\n" +
			"learners, and a preparation that needs no statistics (--normalize bias,l2) or is that of " +
			"--from.\n\n" +
			"What speaks against the confusion matrix or the result is a warning, and in the JSON object " +
			"an element of\n" +
			"doubts, with a code, a text and an advice. --history has the estimated error of the weights " +
			"after each step\n" +
			"and, with --validate, the error of some of them on the examples held out. --report trains " +
			"five times more\n" +
			"with C and five times without, each time without a fifth of the data, to say whether C " +
			"helps.\n\n" +
			"Ctrl-C finishes the step, writes the model and exits with 130; --resume goes on from that " +
			"model, or\n" +
			"from a checkpoint, and ends with the bytes of a run that nothing stopped. A second Ctrl-C " +
			"ends the\n" +
			"program at once. A checkpoint is written before the first step and then --every 30s, 5m or " +
			"so many\n" +
			"steps. Without --checkpoint, a training that fails after half a minute, for instance " +
			"because its\n" +
			"device is lost, leaves what it had learned in MODEL.checkpoint.npz.\n\n" +
			app.NormalizeHelp + "\n" +
			"More is told by uma-gpu learners (their flags), info --help (data), kpca fit --help " +
			"(kernels) and\n" +
			"devices --help (devices).\n\n" +
			"Examples: uma-gpu train --data noisy.csv --confusion C.csv --model m.npz\n" +
			"          uma-gpu train --data noisy.csv --confusion C.csv --model m.npz --kernel rbf " +
			"--gamma search",
		Flags:  flags,
		Action: train,
	}
}

// NoisyDataFlags say which examples with noisy labels to read, and how to prepare them.
func NoisyDataFlags() []cli.Flag {
	return append(app.DataFlags("examples with noisy labels"),
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "confusion",
			Usage: "confusion matrix of the label noise: `FILE`, CSV or .npy"}},
		app.AxesFlag(),
		&cli.StringFlag{Name: "inverse", Value: confusion.Exact,
			Usage: "`RULE` for its inverse: exact, " +
				"pinv, tikhonov or mix[:STRENGTH]"},
		&cli.StringFlag{Name: "normalize", Value: "auto", Usage: app.NormalizeUsage},
	)
}

// LearningFlags say how to learn from them.
func LearningFlags() []cli.Flag {
	return append(LearnerFlags(),
		&cli.IntFlag{Name: "max-steps", Aliases: []string{"epochs"}, DefaultText: "its own",
			Usage: "most `STEPS` to make; passes, of online learners"},
		&cli.StringFlag{Name: "weights", DefaultText: "its own",
			Usage: "`RULE` for what to keep: best-average, best, average, last"},
		app.SeedFlag(nil, "all random choices"),
	)
}

// Training is what the flags of a command that trains ask for.
type Training struct {
	Data       string
	Read       dataset.Options
	Confusion  string   // "" is none
	Annotators string   // "" is none
	Trusted    []string // of them
	TrueRows   bool
	inverse    confusion.Inversion
	estimates  bool   // the confusion matrix, as none is given
	Axes       string // of printed matrices
	history    string // file for the errors of each step, "" for none
	page       string // file for the report, "" for none
	Steps      string // of the preparation, or auto
	Model      string
	Device     *device.Device
	host.Options

	Notes      app.Notes
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
	t, err := New(c, required...)
	if err != nil {
		return err
	}
	if c.Bool("stream") {
		return t.stream(c)
	}
	if t.Checkpoint.Path == "" {
		t.Checkpoint = ifItFails(t.Model)
	}
	ctx := c.Context
	d, noise, err := t.readLabelled(c)
	if d != nil {
		defer d.Close() // of what was only read: nothing to lose
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.closeEngine()) }()
	t.giveUp(d)
	if c.Bool("dry-run") {
		work, err := host.Plan(ctx, d, noise, t.Options)
		if err != nil {
			return t.explain(c, err)
		}
		return t.dryRun(c, t.Engine, work.Data)
	}
	history, passes := t.watch(c, d.Classes)
	trained, err := host.Train(ctx, d, noise, t.Options)
	if err != nil {
		return t.explain(c, err)
	}
	if err := trained.Save(t.Model); err != nil {
		return err
	}
	report := t.report(trained)
	report.Passes = *passes
	if held := trained.HeldOut; held != nil && trained.Run.Stop != host.Interrupted {
		if report.Validation, err = t.judgeHeld(ctx, trained.Model, held, noise); err != nil {
			return err
		}
		if err := history.HoldOut(ctx, t.Engine, trained.Model, held, trained.Given); err != nil {
			return err
		}
	}
	if t.history != "" {
		if err := writeHistory(t.history, history.Moments); err != nil {
			return err
		}
	}
	if err := report.print(c, t.Axes); err != nil {
		return err
	}
	if trained.Run.Stop != host.Interrupted {
		return t.reported(c, trained, noise, history)
	}
	return fmt.Errorf("%w after %d steps; %s holds the weights of these, and --resume %s goes on",
		app.ErrInterrupted, trained.Run.Steps, t.Model, t.Model)
}

// giveUp lets the training have the examples d, which nobody else needs, and says how to prepare
// them and when to open the device.
func (t *Training) giveUp(d *dataset.Dataset) {
	if t.base() == nil {
		t.Preparation = t.Steps
	}
	t.Memory = []dataset.Memory{dataset.InPlace}
	// Projection reads float32, and --storage dense asks for it.
	if !t.mapped() && t.Read.Storage != "dense" && t.Device.WantsNarrow(d) {
		t.Memory = append(t.Memory, dataset.WithCodes)
	}
	t.Options.Open = func(w host.Work) (engine.Engine, error) {
		t.mark(&t.seconds.Prepare)
		if t.base() == nil {
			if err := w.Data.CheckNarrow(); err != nil {
				return nil, err
			}
		}
		e, err := t.open(w)
		t.mark(&t.seconds.Open)
		return e, err
	}
}

// open opens the device for the work, and keeps it until closeEngine.
func (t *Training) open(w host.Work) (e engine.Engine, err error) {
	if t.Confusion != "" || t.Resume != nil && t.Resume.Confusion != nil {
		t.Notes.Say("confusion matrix: condition number %.4g", w.Condition)
	}
	t.Device.Data = w.Data.SHA256
	if t.Engine, err = t.Device.Open(t.Notes, workOf(w)); err != nil {
		return nil, &openError{err}
	}
	return t.Engine, app.CheckTraining(t.Engine.Device(), w.Data.N, w.Data.D, w.Classes)
}

// openError is the error of a device that could not be opened: no fault of the data.
type openError struct{ error }

// Unwrap returns the error of the device.
func (e *openError) Unwrap() error { return e.error }

// closeEngine closes the device, if it was opened.
func (t *Training) closeEngine() error {
	if t.Engine == nil {
		return nil
	}
	return t.Engine.Close()
}

// watch has the training tell of its steps, as far as anybody looks. It returns the errors step by
// step, and the passes of an online learner.
func (t *Training) watch(c *cli.Context, classes []string) (*judge.History, *[]map[string]any) {
	history := &judge.History{Keeps: t.HoldOut > 0 && (t.history != "" || t.page != "")}
	passes := new([]map[string]any)
	t.Watch = host.Watch{Note: t.Notes.Say, Phase: t.phase}
	if !c.Bool("json") && !t.Notes.Watched() && !t.verbose && t.history == "" && t.page == "" {
		return history, passes // nobody would see a step, and a pass need not be counted
	}
	t.Watch.Step = func(r host.Report) {
		history.Step(r.Step, r.EstimatedError, r.W)
		if t.verbose {
			t.Notes.Step(r, classes)
		}
		if t.Learner.Definition().Passes {
			*passes = append(*passes, passReport(r))
		}
	}
	return history, passes
}

// explain adds to the error of a training its file, and what to do.
func (t *Training) explain(c *cli.Context, err error) error {
	if failed := (*openError)(nil); errors.As(err, &failed) {
		return failed.error
	}
	if err := app.Interrupted(c.Context); err != nil {
		return err
	}
	file := t.Data
	if inseparable := (*confusion.InseparableError)(nil); errors.As(err, &inseparable) {
		file = cmp.Or(t.Confusion, t.Data)
	}
	err = app.AdviseKernel(app.AdviseMemory(t.adviseResume(c, err)))
	if strings.HasPrefix(err.Error(), file+": ") { // of the preparation, which knows it
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// report returns the report of a training.
func (t *Training) report(trained *host.Trained) TrainReport {
	n := 0
	for _, count := range trained.Run.Counts {
		n += int(count)
	}
	t.seconds.Total = time.Since(t.start).Seconds()
	run, meta := trained.Run, trained.Meta
	return TrainReport{
		Learner: meta.Learner, Steps: run.Steps, Stop: meta.Stop, EstimatedError: run.EstimatedError,
		EstimatedConfusion: app.Rows(run.Inverse.EstimatedConfusion(run.Counts, n), len(meta.Classes)),
		Classes:            meta.Classes, Examples: n, Features: meta.Features.Count, Condition: max(1,
			meta.Condition),
		Device: t.Engine.Device(), Model: t.Model, Seconds: t.seconds, Doubts: append([]learners.Doubt{},
			trained.Doubts...),
		CompressionSet: run.CompressionSet, Traffic: device.TrafficOfRanks(),
	}
}

// newTraining checks all that can be checked before a data file is read. The flags required
// must be given; a command need not have all flags of train.
func New(c *cli.Context, required ...string) (*Training, error) {
	if err := app.CheckUsage(c, required...); err != nil {
		return nil, err
	}
	t := &Training{Data: c.String("data"), Confusion: c.String("confusion"), Model: c.String("model"),
		Axes: app.TrueColumns, Notes: app.NewNotes(c), verbose: c.Bool("verbose")}
	t.start = time.Now()
	t.lap = t.start
	if t.Notes.Quiet && t.verbose {
		return nil, app.Usagef(c, "--quiet and --verbose exclude each other")
	}
	if c.IsSet("confusion-axes") && t.Confusion == "" {
		return nil, app.Usagef(c, "--confusion-axes is given without --confusion")
	}
	var err error
	if t.Read, err = app.DataOptions(c); err != nil {
		return nil, err
	}
	if app.Visible(c, "confusion-axes") { // bootstrap reads no matrix that others made
		if t.TrueRows, err = app.TrueRows(c); err != nil {
			return nil, err
		}
		if t.inverse, err = confusion.ParseInversion(c.String("inverse")); err != nil {
			return nil, app.Usagef(c, "--inverse: %v", err)
		}
		if c.IsSet("inverse") && t.Confusion == "" {
			return nil, app.Usagef(c, "--inverse is given without --confusion")
		}
	}
	if t.Steps, err = app.NormalizeSteps(c); err != nil {
		return nil, err
	}
	if c.IsSet("axes") {
		if t.Axes, err = app.PrintedAxes(c); err != nil {
			return nil, err
		}
	}
	t.Seed, t.Tool = c.Uint64("seed"), app.Version
	if t.Kernel, err = app.NewTrainKernel(c); err != nil {
		return nil, err
	}
	if t.Checkpoint, err = checkpointOf(c); err != nil {
		return nil, err
	}
	base, err := t.continueFrom(c)
	if err != nil {
		return nil, err
	}
	if t.Learner, err = ChooseLearner(c, base); err != nil {
		return nil, err
	}
	if err := t.annotated(c); err != nil {
		return nil, err
	}
	if err := t.stopping(c, base); err != nil {
		return nil, err
	}
	if t.TemperatureFolds = c.Int("temperature-folds"); c.IsSet("temperature-folds") &&
		(t.TemperatureFolds < 2 || t.TemperatureFolds > judge.MostFolds) {
		return nil, app.Usagef(c, "--temperature-folds is %d, wanted 2 to %d", t.TemperatureFolds,
			judge.MostFolds)
	}
	if t.HoldOut = c.Float64("validate"); c.IsSet("validate") && !(t.HoldOut > 0 && t.HoldOut < 1) {
		return nil, app.Usagef(c, "--validate is %v, wanted a share above 0, below 1", t.HoldOut)
	}
	if t.HoldOut > 0 && t.Annotators != "" {
		return nil, app.Usagef(c,
			"--validate and --annotators exclude each other: judge by eval, on labels of their own")
	}
	if err := t.streamed(c); err != nil {
		return nil, err
	}
	if err := t.checkReport(c); err != nil {
		return nil, err
	}
	t.Device, err = device.Choose(c)
	return t, err
}

// stopping checks --weights and --max-steps, of a training that began with base if that is not
// nil.
func (t *Training) stopping(c *cli.Context, base learners.Params) error {
	if c.IsSet("weights") {
		rule, err := t.Learner.Definition().Rule(c.String("weights"))
		if err != nil {
			return app.Usagef(c, "--weights: %v", err)
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
			return app.Usagef(c, "--max-steps is %d, wanted at least 0", steps)
		}
		if t.MaxSteps = steps; steps == 0 {
			t.MaxSteps = host.NoSteps
		}
	}
	return nil
}

// mark stores the seconds since the last mark.
func (t *Training) mark(seconds *float64) {
	now := time.Now()
	*seconds = now.Sub(t.lap).Seconds()
	t.lap = now
}

// phase is host.Watch.Phase.
func (t *Training) phase(p host.Phase) {
	switch p {
	case host.Mapped:
		t.mark(&t.seconds.Kernel)
	case host.Loaded:
		t.mark(&t.seconds.Upload)
	case host.Learned:
		t.mark(&t.seconds.Train)
	}
}

// readLabelled reads the data and the confusion matrix of its labels, nil if they are right.
func (t *Training) readLabelled(c *cli.Context) (*dataset.Dataset, *confusion.Matrix, error) {
	d, err := t.readExamples(c)
	if err != nil {
		return nil, nil, err
	}
	if t.Annotators != "" {
		if err := t.ReadAnnotations(c.Context, d); err != nil {
			return d, nil, err
		}
	}
	noise, err := t.ReadNoise(c.Context, d.Classes)
	t.mark(&t.seconds.Read)
	return d, noise, err
}

// checkInverse inverts the confusion matrix, so that one without an inverse is told before
// trainings begin.
func (t *Training) checkInverse(noise *confusion.Matrix) error {
	if noise == nil {
		return nil
	}
	inverse, err := noise.Invert()
	if err != nil {
		return fmt.Errorf("%s: %w", cmp.Or(t.Confusion, t.Data), err)
	}
	t.Notes.Say("confusion matrix: condition number %.4g", inverse.Condition)
	return nil
}

// readExamples reads the data; for a training that goes on, or begins with a model, so
// that they match.
func (t *Training) readExamples(c *cli.Context) (*dataset.Dataset, error) {
	if t.sharesExamples() {
		if err := device.ShareReading(t.Data, &t.Read); err != nil {
			return nil, err
		}
	}
	base := t.base()
	if base == nil {
		o := t.Read
		if o.Prepare = t.Steps; t.Steps == "auto" && t.Kernel != nil {
			o.Prepare = host.DefaultStepsKernel
		}
		return app.ReadData(c.Context, t.Data, o, t.Notes)
	}
	o := t.Read
	o.Classes = base.Meta.Classes
	if base.Meta.Preparation.Steps.NeedsDense() && o.Storage != "narrow" {
		o.Storage = "dense"
	}
	d, err := app.ReadFor(c, o, base.Meta.Features, t.Notes)
	// a mapped file, whose columns traded places, or an old one
	if err == nil && d.SHA256 == "" && d.Prepared == nil {
		d.SHA256 = d.Hash()
	}
	return d, err
}

// sharesExamples reports whether no step of the training needs other examples than those of the
// rank that makes it, but for some that it picks.
func (t *Training) sharesExamples() bool {
	return t.Learner.Definition().Shared && t.page == "" && !t.estimates
}

// ReadNoise reads the confusion matrix, nil for none.
func (t *Training) ReadNoise(ctx context.Context, classes []string) (*confusion.Matrix, error) {
	switch {
	case t.Confusion != "":
		m, err := app.ReadMatrix(ctx, t.Confusion, confusion.ReadOptions{Classes: classes,
			TrueRows: t.TrueRows})
		if err == nil {
			m.Inversion = t.inverse
		}
		return m, err
	case t.Resume != nil && t.Resume.Confusion != nil:
		t.Notes.Say("confusion matrix: that of the training to go on with")
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
		t.Notes.Say("confusion matrix: none given; it is learned")
	case t.estimates:
		t.Notes.Say("confusion matrix: none given; it is estimated")
	default:
		t.Notes.Say("confusion matrix: none given, so the identity: all labels are taken to be right")
	}
	return nil, nil
}

// mapped says whether there is a kernel function.
func (t *Training) mapped() bool {
	return t.Kernel != nil || t.base() != nil && t.base().Projection != nil
}

// OwnMap says whether the kernel function is for a map of the learner's own, instead of kernel
// PCA.
func (t *Training) OwnMap() bool {
	_, own := t.Learner.(learners.Mapper)
	return own && t.Kernel != nil
}

// workOf returns what the learner will see of prepared data.
func workOf(w host.Work) device.Work {
	if w.Components == 0 {
		return device.WorkOn(w.Data, w.Classes)
	}
	see := device.WorkOnComponents(w.Data.N, w.Components, w.Classes)
	see.Shared = w.Data.Stored().At.Shared() != nil
	return see
}

// Work returns what the learner will see of data that a command of several trainings has read.
func (t *Training) Work(d *dataset.Dataset) device.Work {
	w := host.Work{Data: d, Classes: len(d.Classes)}
	switch base := t.base(); {
	case base != nil && base.Projection != nil:
		w.Classes, w.Components = base.Q, base.D
	case t.OwnMap():
		w.Components = w.Classes
	case t.Kernel != nil:
		w.Components = t.Kernel.MostComponents(d.N, d.D)
	}
	return workOf(w)
}

// dryRun prints what training would take.
func (t *Training) dryRun(c *cli.Context, e engine.Engine, d *dataset.Dataset) error {
	switch {
	case t.OwnMap():
		return t.ownMapDryRun(c, e.Device(), d)
	case t.Kernel != nil:
		return t.kernelDryRun(c, e.Device(), d)
	}
	return t.linearDryRun(c, e, d.Stored(), d.Y, len(d.Classes))
}
