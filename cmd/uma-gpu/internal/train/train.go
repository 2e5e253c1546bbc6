// Package train is the command that learns a classifier from noisy labels.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

type Options struct {
	training.Options
	Match   app.Model // features, with From or Resume
	Model   string
	Every   string // between checkpoints
	Time    time.Duration
	Resume  string
	From    string
	Verbose bool
	Tables  bool
	// TrustConfusion keeps a matrix that explains labels only with its axes exchanged.
	TrustConfusion bool

	clock clock
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "train",
		Usage: "learn a classifier from noisy labels and write a model",
		Description: `Reads examples and a confusion matrix C, C[p][q] = P(noisy = p | true = q). It prepares the
features, learns, and writes the model. Without C all labels are taken to be right. The same data,
flags and seed give the same bytes. The weights are the same on every device. With --kernel the
classifier is linear in kernel principal components, and curved in the features.

--annotators takes the labels from a table row,worker,label, or of a column for each annotator.
Labels in the data do not count. Each worker gets a confusion matrix, which is learned. The labels
of workers that --trust names are right, and tell how the others err.

--validate 0.2 learns from four fifths of the examples. It judges the model by the others as eval
does, by their noisy labels through C. cv judges by all examples, with one training for each fold.

A warning tells what speaks against the confusion matrix or the result. The JSON object lists the
same as doubts, with a code, a text and an advice. The command report then says whether C helps.

--time 10s limits the time from the start of the command. Half of it may go to searches, such as
that for a penalty. When it is over, the step under way ends the training, the model is written and
a warning says how far it got; the exit code is 0. One step is always made: reading, preparing and a
kernel map are not cut short. How many steps there are depends on the machine, so the weights do
too. --resume goes on.

Ctrl-C finishes the step, writes the model and exits with 130. A second Ctrl-C ends the program at
once. --resume goes on from that model or from a checkpoint, and ends with the bytes of a run that
nothing stopped. A checkpoint is written before the first step, and then --every 30s, 5m or number
of steps. Without --checkpoint, a training that fails after half a minute writes what it has learned
to MODEL.checkpoint.npz.

` + app.NormalizeHelp + `
See also: uma-gpu learners (their flags), info --help (data) and devices --help (devices).

Example: uma-gpu train --data noisy.csv --confusion C.csv --model m.npz
Example: uma-gpu train --data noisy.csv --confusion C.csv --model m.npz --kernel rbf --gamma search`,
		Flags: app.Flags(training.NoisyDataFlags(&o.Options), training.AnnotatorFlags(&o.Options),
			training.EvidenceFlags(&o.Options),
			app.Number(&o.Train.HoldOut, "validate", 0,
				"hold this `SHARE` of the examples out, and judge the model by them"),
			o.Match.MatchFlag(), training.LearningFlags(&o.Options),
			training.EngineFlags(&o.Options), training.DetailFlags(&o.Options),
			app.Switch(&o.TrustConfusion, "trust-confusion",
				"train even if the labels say that the axes of --confusion are exchanged"),
			app.Required(app.Output(&o.Model, "model", "model to write, `FILE`.npz (required)")),
			app.Output(&o.Train.Checkpoint.Path, "checkpoint",
				"also write the training so far to `FILE`.npz, every so often"),
			&cli.DurationFlag{Name: "time", DefaultText: "no limit", Destination: &o.Time,
				Usage: "end within this `TIME`, such as 10s or 5m, and keep what was learned"},
			app.Text(&o.Every, "every", host.DefaultEvery.String(),
				"`TIME` between checkpoints, or a number of steps"),
			app.Input(&o.Resume, "resume",
				"go on from a checkpoint or an interrupted run's model, `FILE`.npz"),
			app.Input(&o.From, "from",
				"begin with weights, preparation and kernel of the model `FILE`.npz"),
			app.Switch(&o.Verbose, "verbose", "print a line for each step on stderr"),
			judgement.TablesFlag(&o.Tables), o.JSONFlag(), o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// Run trains and writes the model.
func Run(ctx context.Context, o *Options) (err error) {
	o.clock.start()
	if err := check(o); err != nil {
		return err
	}
	d, err := o.ReadExamples(ctx, &o.Match)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	noise, err := readLabels(ctx, o, d)
	if err != nil {
		return err
	}
	o.clock.mark(&o.clock.Read)
	t := &o.Train
	if o.Time > 0 { // reading has used some of it
		t.Time = max(1, o.Time-o.clock.passed())
	}
	t.Watch = host.Watch{Note: o.Notes.Say, Phase: o.clock.phase}
	if o.Verbose {
		t.Watch.Step = func(r host.Report) { fmt.Fprint(o.Notes.W, stepLine(r, d.Classes)) }
	}
	t.Memory = []dataset.Memory{dataset.InPlace} // nothing else needs the examples
	t.Open = func(w host.Work) (*engine.Engine, error) { return open(o, w) }
	defer func() {
		if t.Engine != nil {
			err = errors.Join(err, t.Engine.Close())
		}
	}()
	trained, err := host.Train(ctx, d, noise, *t)
	if failed := (*openError)(nil); errors.As(err, &failed) {
		return failed.error
	}
	if err != nil {
		return o.Failure(ctx, adviseResume(o, err))
	}
	if err := checkTrained(o, d, trained); err != nil {
		return err
	}
	if err := trained.Save(o.Model); err != nil {
		return err
	}
	r := report(o, trained)
	stopped := trained.Run.Stop == host.Interrupted
	if held := trained.HeldOut; held != nil && !stopped {
		if r.Validation, err = validate(ctx, o, trained.Model, held, noise); err != nil {
			return err
		}
		r.Validation.Warn(o.Notes)
	}
	if err := o.Print(r, func(w io.Writer) error { return r.text(w, o.Tables) }); err != nil {
		return err
	}
	if stopped {
		return fmt.Errorf("%w after %d steps; %s holds the weights of these, and --resume %s goes on",
			app.ErrInterrupted, trained.Run.Steps, o.Model, o.Model)
	}
	return nil
}

// check checks all options before a data file is read, and reads the model to begin with.
func check(o *Options) error {
	t := &o.Train
	if o.Quiet && o.Verbose {
		return app.Usage("--quiet and --verbose exclude each other")
	}
	if err := checkCheckpoint(o); err != nil {
		return err
	}
	if err := begin(o); err != nil {
		return err
	}
	if err := o.Options.Check(); err != nil {
		return err
	}
	if m := t.Resume; m != nil {
		var err error
		if t.Learner, err = catalog.Parse(m.Meta.Learner, m.Meta.Parameters); err != nil {
			return fmt.Errorf("%s: %w", o.Resume, err)
		}
		t.Seed = m.Meta.Seed
	}
	if o.Base() != nil { // has them
		t.Preparation, t.Kernel = "", nil
	}
	switch {
	case o.Given("validate") && !(t.HoldOut > 0 && t.HoldOut < 1):
		return app.Usage("--validate is %v, wanted a share above 0, below 1", t.HoldOut)
	case t.HoldOut > 0 && o.Annotators != "":
		return app.Usage("--validate and --annotators exclude each other: judge by eval, on labels of " +
			"their own")
	case o.Given("time") && o.Time <= 0:
		return app.Usage("--time is %v, wanted a time above 0 such as 10s or 5m", o.Time)
	case o.Time > 0 && app.Launch.Ranks > 1:
		return app.Usage("--time is given to one of %d ranks, and each has a clock of its own; give "+
			"--max-steps", app.Launch.Ranks)
	}
	return nil
}

// readLabels gives d the labels of other files, and returns the confusion matrix.
func readLabels(ctx context.Context, o *Options, d *dataset.Dataset) (*confusion.Matrix, error) {
	if o.Annotators != "" {
		if err := training.ReadAnnotations(ctx, &o.Options, d); err != nil {
			return nil, err
		}
	}
	if err := training.ReadEvidence(ctx, &o.Options, d); err != nil {
		return nil, err
	}
	return o.ReadNoise(ctx, d.Classes)
}

// openError is the error of a device that could not be opened: no fault of the data.
type openError struct{ error }

func (e *openError) Unwrap() error { return e.error }

// open opens the device for the work of a training.
func open(o *Options, w host.Work) (*engine.Engine, error) {
	o.clock.mark(&o.clock.Prepare)
	defer o.clock.mark(&o.clock.Open)
	if r := o.Train.Resume; o.Noise.Path != "" || r != nil && r.Confusion != nil {
		o.Notes.Say("confusion matrix: condition number %.4g", w.Condition)
	}
	o.Device.Data = w.Data.SHA256
	e, err := o.Device.Open(o.Notes, app.WorkOn(w.Data.Examples, w.Components, w.Classes))
	if err != nil {
		return nil, &openError{err}
	}
	o.Train.Engine = e
	return e, app.CheckTraining(e.Device(), w.Data.N, w.Data.D, w.Classes)
}

// checkTrained returns an error if the training has shown that the confusion matrix is turned, and
// warns of classes of a learned matrix that are not identified, as confusion estimate does.
func checkTrained(o *Options, d *dataset.Dataset, t *host.Trained) error {
	for _, d := range t.Doubts {
		if d.Code == judge.TurnedConfusion && !o.TrustConfusion {
			return fmt.Errorf("%s: %s; no model was written; %s, or give --trust-confusion to train "+
				"all the same", cmp.Or(o.Noise.Path, o.Data.Path), d.Finding, d.Advice)
		}
	}
	if t.Run.Noise == nil || o.Train.Annotations != nil || t.Run.Stop == host.Interrupted {
		return nil
	}
	found, err := estimate.FromLearned(d.Classes, t.Run.Noise)
	if err != nil {
		return err
	}
	found.DoubtFeatures(d.N, d.D)
	for _, note := range found.Notes {
		o.Notes.Warn("learned confusion matrix: %s", note)
	}
	return nil
}

// validate judges a model by examples that it has not seen.
func validate(ctx context.Context, o *Options, m *model.Model, held *dataset.Dataset,
	noise *confusion.Matrix) (*judgement.Judgement, error) {
	of := m.Scores
	if held.Prepared != nil {
		of = m.ScoresPrepared
	}
	scores, err := of(ctx, o.Train.Engine, held.Examples)
	if err != nil {
		return nil, fmt.Errorf("examples held out: %w", err)
	}
	predicted := engine.Predicted(scores, m.Q)
	if m.Meta.Temperature == 0 {
		scores = nil
	} else if err := m.ToProbabilities(scores); err != nil {
		return nil, err
	}
	if e := held.Evidence; e != nil && e.Classes != nil {
		o.Notes.Say("validate: a prediction among the candidate classes counts as right")
	}
	y := held.Evidence.Labels(predicted, held.Y, m.Q)
	j, err := judgement.Of(y, predicted, scores, m.Meta.Classes, noise)
	return &j, err
}

// checkCheckpoint checks --checkpoint and --every. Without these a training that fails leaves a
// checkpoint next to its model.
func checkCheckpoint(o *Options) (err error) {
	k := &o.Train.Checkpoint
	switch {
	case k.Path == "" && o.Given("every"):
		return app.Usage("--every is given without --checkpoint")
	case k.Path == "":
		*k = host.Checkpoint{Path: strings.TrimSuffix(o.Model, ".npz") + ".checkpoint.npz", Failed: true}
	}
	if k.Failed {
		return nil
	}
	if k.Steps, err = app.ParseCount(o.Every); err != nil {
		k.Every, err = time.ParseDuration(o.Every)
	}
	if err != nil || k.Steps < 0 || k.Every < 0 || k.Steps == 0 && k.Every == 0 {
		return app.Usage("--every is %q, wanted a time above 0 such as 30s or 5m, or a number of "+
			"steps of at least 1", o.Every)
	}
	return nil
}

// begin reads the model of --resume or --from. Its settings hold, so no flag may give others.
func begin(o *Options) (err error) {
	flag, path := "resume", o.Resume
	switch {
	case o.Resume != "" && o.From != "":
		return app.Usage("--resume and --from exclude each other")
	case o.From != "":
		flag, path = "from", o.From
	case o.Resume == "" && o.Given("match-features"):
		return app.Usage("--match-features is given without --resume or --from")
	case o.Resume == "":
		return nil
	}
	settled := append(slices.Clone(app.KernelDetails), "kernel", "normalize")
	if flag == "resume" {
		settled = append(settled, append(o.Learner.Parameters, "learner", "weights", "seed")...)
	}
	for _, name := range settled {
		if o.Given(name) {
			return app.Usage("--%s is given with --%s, whose model has its own; leave it out", name, flag)
		}
	}
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	if flag == "from" {
		o.Train.From = m
		return nil
	}
	if m.State == nil {
		return fmt.Errorf("%s: found a model whose training had ended (%s after %d steps), wanted a "+
			"checkpoint or the model of an interrupted run; --from begins with its weights", path,
			m.Meta.Stop, m.Meta.Steps)
	}
	if o.Given("max-steps") && o.MaxSteps < m.Meta.Steps {
		return app.Usage("--max-steps is %d, wanted at least %d, the steps that the training has made",
			o.MaxSteps, m.Meta.Steps)
	}
	o.Train.Resume = m
	o.Notes.Say("resume: %s, after %d steps", path, m.Meta.Steps)
	return nil
}

// adviseResume adds to an error of going on with another training what to do.
func adviseResume(o *Options, err error) error {
	if errors.Is(err, host.ErrSaved) {
		return fmt.Errorf("%w; train --resume %s with the same data goes on, to the same bytes, on this "+
			"device or another, such as --device cpu", err, o.Train.Checkpoint.Path)
	}
	if !errors.Is(err, host.ErrResume) {
		return err
	}
	return fmt.Errorf("%s: %w; give what the training began with, or --from %[1]s to begin anew with "+
		"its weights", o.Resume, err)
}

// stepLine describes a step, whose learner's fields may name classes.
func stepLine(r host.Report, classes []string) string {
	var b strings.Builder
	for _, f := range r.Fields {
		switch v := f.Value.(type) {
		case engine.Pair:
			fmt.Fprintf(&b, "predicted %q to true %q, ", classes[v.P], classes[v.Q])
		case float64:
			fmt.Fprintf(&b, "%s %.4g, ", f.Name, v)
		default:
			fmt.Fprintf(&b, "%s %v, ", f.Name, v)
		}
	}
	return fmt.Sprintf("step %d: %sestimated error %.4f\n", r.Step, b.String(), r.EstimatedError)
}
