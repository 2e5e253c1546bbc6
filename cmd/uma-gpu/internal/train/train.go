// Package training is the commands train, report and learners, and what other commands that train
// share with them: flags, the reading of data, and trainings without each part of the data.
package training

import (
	"cmp"
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
