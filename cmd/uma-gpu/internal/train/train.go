// Package train is the command that learns a classifier from noisy labels.
package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

type Options struct {
	app.Common `json:"-"`
	Input      Input               `json:"input"`
	Request    umagpu.TrainRequest `json:"request,omitzero"`
	Output     Output              `json:"output"`
	Device     app.Device          `json:"-"`
	Verbose    bool                `json:"-"`
	Tables     bool                `json:"-"`

	clock clock
}

// Input are files and how they are read.
type Input struct {
	app.Labelled
	Match  string `json:"match_features,omitempty"` // with Resume or From
	Resume string `json:"resume,omitempty"`
	From   string `json:"from,omitempty"`
}

// Output are the files of the training.
type Output struct {
	Model      string `json:"model,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"`
	Every      string `json:"every,omitempty"` // between checkpoints
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "train",
		Usage: "learn a classifier from noisy labels and write a model",
		Description: `Reads examples and a confusion matrix C, C[p][q] = P(noisy = p | true = q). It
prepares the features, learns, and writes the model. Without C all labels are taken to be right;
with --confusion estimate it learns what clean learns. The same data, flags and seed give the same
bytes, and the same weights on every device. With --kernel classes have curved boundaries.

--annotators takes the labels from a table row,worker,label, or of a column for each annotator.
Labels in the data do not count. Each worker gets a confusion matrix, which is learned. The labels
of workers that --trust names are right, and tell how the others err.

--hold-out 0.2 learns from four fifths of the examples. It judges the model by the others as eval
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
		Flags: app.Rest(app.Flags(app.NoisyFlags(&o.Input.Labelled, &o.Common), o.Input.ReadingFlags(),
			app.ParameterFlags(&o.Input.TableOptions, "categories", "missing", "knots", "storage",
				"text_features", "text_min_df"),
			app.AnnotatorFlags(&o.Input.Labelled), app.TrustFlag(&o.Input.Labelled),
			app.EvidenceFlags(&o.Input.Labelled), app.MatchFlag(&o.Input.Match),
			app.Without(app.ParameterFlags(&o.Request), "coef0", "degree", "estimate-confusion"),
			app.LearnerFlags(&o.Request.Settings),
			o.Device.Flags(), o.Device.AuditFlag(), o.Device.DetailFlags(),
			app.Required(app.Output(&o.Output.Model, "model", "model to write, `FILE`.npz (required)")),
			app.Output(&o.Output.Checkpoint, "checkpoint",
				"also write the training so far to `FILE`.npz, every so often"),
			app.Text(&o.Output.Every, "every", "", "`TIME` between checkpoints, or a number of steps "+
				"(default: "+host.DefaultEvery.String()+")"),
			app.Input(&o.Input.Resume, "resume",
				"go on from a checkpoint or an interrupted run's model, `FILE`.npz"),
			app.Input(&o.Input.From, "from",
				"begin with weights, preparation and kernel of the model `FILE`.npz"),
			app.Switch(&o.Verbose, "verbose", "print a line for each step on stderr"),
			app.TablesFlag(&o.Tables), o.RequestFlag(o), o.JSONFlag(), o.QuietFlag()),
			"data", "label-column", "ignore-columns", "id-column", "text", "confusion", "annotators",
			"model", "learner", "l2", "max-steps", "seed", "time", "normalize", "kernel", "gamma",
			"hold-out", "checkpoint", "resume", "device", "request", "json", "quiet"),
		Action: app.Action(o, run),
	}
}

// estimated is --confusion of labels whose noise is to be estimated. A file of that name is
// ./estimate.
const estimated = "estimate"

// Run trains and writes the model.
func Run(ctx context.Context, o *Options) error {
	o.clock.start()
	if o.Input.Noise.Path == estimated {
		if !slices.Contains([]string{"", confusion.AxesAuto}, o.Input.Noise.Axes) {
			return app.Usage("--confusion-axes is given, and --confusion estimate reads no file")
		}
		o.Input.Noise.Path, o.Request.EstimateConfusion = "", true
	}
	r := o.Request
	base, err := o.check(&r)
	if err != nil {
		return err
	}
	read, err := o.Input.Check()
	if err != nil {
		return err
	}
	d, err := app.ReadExamples(ctx, &o.Input.Labelled, read, o.Input.Match, base)
	if err != nil {
		return err
	}
	defer d.Close() // only read
	if err := o.readLabels(ctx, d, &r, base); err != nil {
		return err
	}
	o.clock.mark(&o.clock.Read)
	if r.Time > 0 { // reading has used some of it
		r.Time = max(1e-9, r.Time-o.clock.passed().Seconds())
	}
	r.Data = umagpu.FromDataset(d, dataset.InPlace) // nothing else needs the examples
	r.Compute = o.compute(d.Classes, r.Confusion != nil || base != nil && base.Confusion != nil)
	found, err := umagpu.Train(ctx, &r)
	if err != nil {
		return o.adviseResume(err, r.Checkpoint.Path)
	}
	if err := found.Model.Save(o.Output.Model); err != nil {
		return err
	}
	o.clock.Total = o.clock.passed().Seconds()
	report := &Report{o, found, o.Output.Model, o.clock.seconds}
	if found.Validation != nil {
		app.WarnOf(o.Notes, found.Validation)
	}
	err = o.Print(report, func(w io.Writer) error { return report.text(w, o.Tables) })
	if err == nil && found.Stop == string(host.Interrupted) {
		return fmt.Errorf("%w after %d steps; %s holds the weights of these, and --resume %s goes on",
			app.ErrInterrupted, found.Steps, o.Output.Model, o.Output.Model)
	}
	return err
}

// check checks the options before a data file is read, enters the checkpoint in the request, and
// reads the model to begin with, if there is one.
func (o *Options) check(r *umagpu.TrainRequest) (base *model.Model, err error) {
	in := &o.Input
	switch {
	case o.Quiet && o.Verbose:
		return nil, app.Usage("--quiet and --verbose exclude each other")
	case in.Resume != "" && in.From != "":
		return nil, app.Usage("--resume and --from exclude each other")
	case in.Match != "" && in.Resume == "" && in.From == "":
		return nil, app.Usage("--match-features is given without --resume or --from")
	case r.HoldOut > 0 && in.Annotators != "":
		return nil, app.Usage("--hold-out and --annotators exclude each other: judge by eval, on " +
			"labels of their own")
	case r.Time > 0 && app.Launch.Ranks > 1:
		return nil, app.Usage("--time is given to one of %d ranks, and each has a clock of its own; "+
			"give --max-steps", app.Launch.Ranks)
	}
	if r.Checkpoint, err = o.Output.checkpoint(); err != nil {
		return nil, err
	}
	switch {
	case in.Resume != "":
		if base, err = model.Load(in.Resume); err != nil {
			return nil, err
		}
		r.Resume = umagpu.FromHost(base)
	case in.From != "":
		if base, err = model.Load(in.From); err != nil {
			return nil, err
		}
		r.From = umagpu.FromHost(base)
	}
	err = app.CheckRequest(&in.Labelled, r.Check, &r.Labels)
	if err == nil && r.Resume != nil {
		o.Notes.Say("resume: %s, after %d steps", in.Resume, base.Meta.Steps)
	}
	return base, err
}

// readLabels gives d the labels of other files, and r the votes and the confusion matrix.
func (o *Options) readLabels(ctx context.Context, d *dataset.Dataset, r *umagpu.TrainRequest,
	base *model.Model) error {
	learner, err := o.learner(base)
	if err != nil {
		return err
	}
	reader := &app.LabelReader{Input: &o.Input.Labelled, Notes: o.Notes, In: o.In, Seed: r.Seed,
		Base: base, Learner: learner, Estimated: r.EstimateConfusion}
	if r.Resume != nil {
		reader.Seed = base.Meta.Seed
	}
	r.Labels, r.Confusion, err = reader.Known(ctx, d)
	return err
}

// learner returns the learner, of the training to go on with if there is one.
func (o *Options) learner(base *model.Model) (learners.Params, error) {
	if o.Input.Resume == "" {
		settings := o.Request.Settings
		if settings.Learner == umagpu.AutoLearner {
			settings.Learner = "" // the first of the candidates
		}
		return settings.Choose()
	}
	p, err := catalog.Parse(base.Meta.Learner, base.Meta.Parameters)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Input.Resume, err)
	}
	return p, nil
}

// compute returns where the training computes, and has its phases timed.
func (o *Options) compute(classes []string, noisy bool) umagpu.Compute {
	c := o.Device.Compute(o.Notes, app.Training)
	open := c.Open
	c.Open = func(w host.Work) (*engine.Engine, error) {
		o.clock.mark(&o.clock.Prepare)
		defer o.clock.mark(&o.clock.Open)
		if noisy {
			o.Notes.Say("confusion matrix: condition number %.4g", w.Condition)
		}
		return open(w)
	}
	c.Phase = o.clock.phase
	if o.Verbose {
		c.Step = func(r host.Report) { fmt.Fprint(o.Notes.W, stepLine(r, classes)) }
	}
	return c
}

// checkpoint returns where and how often to save the training. Without --checkpoint a training that
// fails leaves one next to its model.
func (o *Output) checkpoint() (k host.Checkpoint, err error) {
	if o.Checkpoint == "" {
		if o.Every != "" {
			return k, app.Usage("--every is given without --checkpoint")
		}
		k = host.Checkpoint{Path: strings.TrimSuffix(o.Model, ".npz") + ".checkpoint.npz", Failed: true}
		return k, nil
	}
	k.Path = o.Checkpoint
	if o.Every == "" {
		k.Every = host.DefaultEvery
		return k, nil
	}
	if k.Steps, err = app.ParseCount(o.Every); err != nil {
		k.Every, err = time.ParseDuration(o.Every)
	}
	if err != nil || k.Steps < 0 || k.Every < 0 || k.Steps == 0 && k.Every == 0 {
		return k, app.Usage("--every is %q, wanted a time above 0 such as 30s or 5m, or a number of "+
			"steps of at least 1", o.Every)
	}
	return k, nil
}

// adviseResume adds to an error of going on with another training what to do.
func (o *Options) adviseResume(err error, checkpoint string) error {
	switch {
	case errors.Is(err, host.ErrSaved):
		return app.Advised(err, fmt.Sprintf("train --resume %s with the same data goes on, to the same "+
			"bytes, on this device or another, such as --device cpu", checkpoint))
	case errors.Is(err, host.ErrResume):
		return app.Advised(err, fmt.Sprintf("give what the training began with, or --from %s to begin "+
			"anew with its weights", o.Input.Resume))
	}
	return err
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
