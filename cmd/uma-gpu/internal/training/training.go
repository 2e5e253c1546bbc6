package training

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/learners"
)

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
	Read       file.Options
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
