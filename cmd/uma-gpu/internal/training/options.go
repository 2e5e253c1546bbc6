// Package training has the options of the commands that train, reads their data, and makes the
// trainings without each part of the data.
package training

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/catalog"
)

// Options are the options of a command that trains. A command need not have all their flags.
type Options struct {
	app.Common
	Input
	Learner    Learner
	MaxSteps   int
	Weights    string
	Kernel     app.Kernel
	Device     app.Device
	Folds      int
	NeedLabels bool // an example without a label is a bad one

	Train host.Options // Check completes it
	// Set by Check.
	Read file.Options
}

// NoisyFlags returns the flags of examples with noisy labels, of texts in them and of the noise.
func (in *Input) NoisyFlags(o *app.Common) []cli.Flag {
	return app.Flags(in.Data.Flags(o, "examples with noisy labels"), in.TextFlag(),
		in.Noise.Flags("confusion matrix of the label noise: `FILE`, CSV or .npy"))
}

// NoisyDataFlags returns the flags of examples with noisy labels and their preparation.
func NoisyDataFlags(o *Options) []cli.Flag {
	return app.Flags(o.NoisyFlags(&o.Common), app.NormalizeFlag(&o.Train.Preparation))
}

// ReadExamples reads the data, for a training that goes on or begins with a model so that they
// match.
func (in *Input) ReadExamples(ctx context.Context, read file.Options, match string,
	base *model.Model) (*dataset.Dataset, error) {
	if base == nil {
		return in.Data.Read(ctx, read)
	}
	d, err := (&app.Model{Match: match}).ReadFor(ctx, &in.Data, read, base)
	if err == nil && d.SHA256 == "" && d.Prepared == nil { // whose columns traded places
		d.SHA256 = d.Hash()
	}
	return d, err
}

// DetailFlags returns the flags of details that only train and cv have.
func DetailFlags(o *Options) []cli.Flag {
	return app.Flags(o.Data.ColumnFlags(), o.Data.EncodingFlags(),
		app.Grouped("Label noise", o.TrustFlag()),
		o.Kernel.DetailFlags(), o.Kernel.StepsFlag(), o.Device.DetailFlags())
}

// AnnotatorFlags returns the flags of labels by several people.
func (in *Input) AnnotatorFlags() []cli.Flag {
	return app.Flags(
		app.Input(&in.Annotators, "annotators",
			"labels of several people instead of the data's: `FILE`, a CSV row,worker,label"),
		app.Switch(&in.NoLabels, "no-labels",
			"with --annotators: all columns of the data are features"))
}

// TrustFlag returns the flag of annotators that never err.
func (in *Input) TrustFlag() cli.Flag {
	return app.ListFlag(&in.Trust, "trust",
		"comma list of `WORKERS` of --annotators whose labels are right, as of a checker")
}

// LearningFlags returns the flags of the learner, of its parameters but for those without, and of
// its steps.
func LearningFlags(o *Options, without ...string) []cli.Flag {
	return app.Flags(o.Learner.Flags(&o.Common, without...), stepsFlag(o), seedFlag(o),
		&cli.StringFlag{Name: "weights", DefaultText: "the learner's", Destination: &o.Weights,
			Category: "Learner", Usage: "weights to keep, by `RULE`: best-average, best, average, last"})
}

// UsualFlags returns the flags of a training that matter most.
func UsualFlags(o *Options) []cli.Flag {
	return app.Flags(o.Learner.UsualFlags(&o.Common), stepsFlag(o), seedFlag(o))
}

// FoldFlags returns these flags and --folds.
func FoldFlags(o *Options) []cli.Flag { return app.Flags(UsualFlags(o), FoldFlag(o)) }

func stepsFlag(o *Options) cli.Flag {
	f := app.Count(&o.MaxSteps, "max-steps", 0, 0, math.MaxInt,
		"at most `STEPS` steps; passes, for online learners").Unless("the learner's")
	f.Aliases, f.Category = []string{"epochs"}, "Learner"
	return f
}

func seedFlag(o *Options) cli.Flag { return app.SeedFlag(&o.Train.Seed, "all random choices") }

// FoldFlag returns the flag --folds.
func FoldFlag(o *Options) cli.Flag {
	return app.Count(&o.Folds, "folds", 5, 2, judge.MostFolds,
		"hold out `K` parts in turn, from K trainings")
}

// OutOfFoldFlags returns the flags that the commands with trainings without each part share.
func OutOfFoldFlags(o *Options) []cli.Flag {
	return app.Flags(NoisyDataFlags(o), o.AnnotatorFlags(), FoldFlags(o), EngineFlags(o))
}

// EngineFlags returns the flags of the kernel and of the device.
func EngineFlags(o *Options) []cli.Flag {
	return app.Flags(o.Kernel.Flag(&o.Common), o.Device.Flags())
}

// Check checks all that can be checked before a file is read, and completes the options.
func (o *Options) Check() (err error) {
	if o.Read, err = o.Input.Check(); err != nil {
		return err
	}
	if err := o.CheckLearning(); err != nil {
		return err
	}
	if about := o.Train.Learner.Definition(); o.Annotators != "" &&
		!learners.IsProbabilistic(o.Train.Learner) {
		return app.Usage("learner %s cannot learn from the labels of --annotators; use --learner softmax",
			about.Name)
	}
	return nil
}

// CheckLearning checks the preparation, the kernel, the learner and its steps, and completes Train.
func (o *Options) CheckLearning() (err error) {
	t := &o.Train
	t.Tool = app.Version
	if t.Kernel, err = o.Kernel.FitOptions(); err != nil {
		return err
	}
	if t.Learner, err = o.Learner.Choose(); err != nil {
		return err
	}
	if o.Given("weights") {
		about := t.Learner.Definition()
		if t.Weights, err = about.Rule(o.Weights); err != nil {
			return app.Usage("--weights: %v", err)
		}
	}
	if t.MaxSteps = o.MaxSteps; o.Given("max-steps") && o.MaxSteps == 0 {
		t.MaxSteps = host.NoSteps
	}
	return nil
}

// Base returns the model that the training begins with or goes on from; nil for none.
func (o *Options) Base() *model.Model {
	if o.Train.Resume != nil {
		return o.Train.Resume
	}
	return o.Train.From
}

// ReadExamples reads the data, for a training that goes on or begins with a model so that they
// match. match is used with a model alone.
func (o *Options) ReadExamples(ctx context.Context, match *app.Model,
) (d *dataset.Dataset, err error) {
	if base := o.Base(); base != nil {
		d, err := ReadFor(ctx, &o.Data, o.Read, match, base)
		// whose columns traded places
		if err == nil && d.SHA256 == "" && d.Prepared == nil {
			d.SHA256 = d.Hash()
		}
		return d, err
	}
	return o.Data.Read(ctx, o.Read)
}

// ReadFor reads raw data as the features of a model.
func ReadFor(ctx context.Context, d *app.Data, o file.Options, match *app.Model, m *model.Model,
) (*dataset.Dataset, error) {
	return match.ReadFor(ctx, d, o, m)
}

// ReadNoise reads the confusion matrix, nil for none.
func (o *Options) ReadNoise(ctx context.Context, classes []string) (*confusion.Matrix, error) {
	m, err := o.Noise.Read(ctx, classes)
	if err != nil {
		return nil, err
	}
	if m != nil {
		return m, nil
	}
	if r := o.Train.Resume; r != nil && r.Confusion != nil {
		o.Notes.Say("confusion matrix: from the training to go on with")
		return &confusion.Matrix{Classes: classes, P: r.Confusion}, nil
	}
	learn, ok := learners.Lookup(o.Train.Learner, "learn_confusion")
	if o.Annotators != "" || ok && learn.String() == "true" {
		o.Notes.Say("confusion matrix: none given; it is learned")
	} else {
		o.Notes.Say("confusion matrix: none given, so the identity: all labels are taken to be right")
	}
	return nil, nil
}

// Work returns what the learner will see of examples.
func (o *Options) Work(d *dataset.Dataset) app.Work {
	classes, components := len(d.Classes), 0
	switch {
	case o.Train.Kernel == nil:
	case o.Train.Learner.Definition().FitMap != nil:
		components = classes
	default:
		components = o.Train.Kernel.MostComponents(d.N, d.D)
	}
	return app.WorkOn(d.Examples, components, classes)
}

// Learner are the options that choose a learner and set its parameters.
type Learner struct {
	Name       string
	Parameters []string // names of the flags of parameters

	common *app.Common
}

// Flags returns the flags of all learners, except the names in without, which the command defines.
// Help shows the flags of the default learner; the command learners lists the others.
func (l *Learner) Flags(o *app.Common, without ...string) []cli.Flag {
	return l.flags(o, catalog.All(), without)
}

// UsualFlags returns the flags that matter most. Other parameters have their defaults.
func (l *Learner) UsualFlags(o *app.Common) []cli.Flag {
	usual := []string{"learner", "correction", "learn-confusion", "l2"}
	all := l.flags(o, catalog.All()[:1], nil)
	l.Parameters = usual[1:]
	return slices.DeleteFunc(all, func(f cli.Flag) bool {
		return !slices.Contains(usual, f.Names()[0])
	})
}

func (l *Learner) flags(o *app.Common, of []*learners.Definition, without []string) []cli.Flag {
	l.common = o
	flags := []cli.Flag{app.Text(&l.Name, "learner", catalog.All()[0].Name,
		"`NAME` of the learner; uma-gpu learners NAME tells its flags")}
	for k, d := range of {
		for _, p := range d.Parameters {
			name := app.FlagOf(p.Name)
			if slices.Contains(without, name) || slices.Contains(l.Parameters, name) {
				continue
			}
			if l.Parameters = append(l.Parameters, name); p.Kind == learners.Switch {
				flags = append(flags, &cli.BoolFlag{Name: name, Hidden: k > 0, Usage: p.Sentence})
				continue
			}
			flags = append(flags, &cli.StringFlag{Name: name, Hidden: k > 0, DefaultText: p.String(),
				Usage: "`" + app.ValueName(p) + "`: " + p.Sentence + ": " + p.Wanted})
		}
	}
	return app.Grouped("Learner", flags)
}

// Parameter returns the parameter of p that a flag sets.
func Parameter(p learners.Params, flag string) (learners.Parameter, bool) {
	return learners.Lookup(p, strings.ReplaceAll(flag, "-", "_"))
}

// Find returns the learner of a name that a flag, or an argument if flag is "", gives.
func Find(flag, name string) (*learners.Definition, error) {
	d, err := catalog.Find(name)
	if err == nil {
		return d, nil
	}
	var known []*cli.Command // which the cli package compares with a name
	for _, d := range catalog.All() {
		known = append(known, &cli.Command{Name: d.Name})
	}
	if err = fmt.Errorf("%w. %s", err, cli.SuggestCommand(known, name)); flag != "" {
		return nil, app.Usage("--%s: %v", flag, err)
	}
	return nil, app.Usage("%v", err)
}

// names returns the learners that have all these flags.
func names(flags ...string) (all []string) {
	for _, d := range catalog.All() {
		own := d.New()
		if !slices.ContainsFunc(flags, func(flag string) bool {
			_, has := Parameter(own, flag)
			return !has
		}) {
			all = append(all, d.Name)
		}
	}
	return all
}

// Choose returns the learner that the flags ask for, with its parameters.
func (l *Learner) Choose() (learners.Params, error) {
	d, err := Find("learner", l.Name)
	if err != nil {
		return nil, err
	}
	p := d.New()
	for _, name := range l.Parameters {
		if !l.common.Given(name) {
			continue
		}
		parameter, ok := Parameter(p, name)
		if !ok {
			return nil, app.Usage("--%s is a flag of learner %s, not of %s", name,
				app.OrList(names(name)), d.Name)
		}
		text := l.common.Text(name)
		if err := setParameter(parameter, text); err != nil {
			return nil, app.Usage("--%s is %q, wanted %s", name, text, parameter.Wanted)
		}
	}
	var wrong *learners.ParameterError
	if err := learners.Check(p); errors.As(err, &wrong) {
		return nil, app.Usage("--%s: got %s, want %s", app.FlagOf(wrong.Parameter), wrong.Got, wrong.Want)
	} else if err != nil {
		return nil, app.Usage("%v", err)
	}
	return p, nil
}

// setParameter sets a learner's parameter; a whole number may be written like 1e6.
func setParameter(p learners.Parameter, text string) error {
	if p.Kind == learners.Whole {
		n, err := app.ParseCount(text)
		if err != nil {
			return err
		}
		text = strconv.Itoa(n)
	}
	return p.Set(text)
}
