// Package host is the loop: Train prepares data with noisy labels, fits a kernel map if one is
// asked for, and learns a model, with checkpoints; Run steps a learner to its end and chooses the
// weights.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/trees"
)

// OutOfTime is the code of the doubt about a training whose time was up.
const OutOfTime = "out-of-time"

// Train learns a model from the noisy labels of data. noise describes the noise of the labels; nil
// means that they are right. Raw data are prepared first, prepared data taken as they are. data is
// only read, unless Options.Memory has dataset.InPlace: then it may lose its examples.
//
// If ctx is cancelled before the learning begins, Train returns ctx's error. If it is cancelled
// later, Train finishes the step and returns the model so far: its Meta.Stop is "interrupted", and
// Options.Resume continues from it. If Options.Time is over, Meta.Stop is "time".
func Train(ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix,
	o Options) (*Trained, error) {
	began := now()
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	data, err := o.agreed(ctx, data)
	if err != nil {
		return nil, err
	}
	fit, held, err := o.holdOut(data)
	if err != nil {
		return nil, err
	}
	if fit, err = o.count(fit); err != nil {
		return nil, err
	}
	t, err := newTrainer(fit, noise, o)
	if err != nil {
		return nil, err
	}
	t.held = held
	if err := t.prepare(); err != nil {
		return nil, err
	}
	// What no model can hold is refused now, rather than when it is to be written.
	if err := cmp.Or(t.model.Meta.Check(), ctx.Err()); err != nil {
		return nil, err
	}
	t.phase(Prepared)
	if err := t.open(); err != nil {
		return nil, err
	}
	if o.Time > 0 {
		t.problem.Spent = func() float64 { return float64(now().Sub(began)) / float64(o.Time) }
	}
	if p, ok := o.Learner.(*trees.Params); ok {
		return t.grow(ctx, p)
	}
	if err := t.mapFeatures(ctx); err != nil {
		return nil, err
	}
	return t.learn(ctx)
}

// now is the clock of Options.Time.
var now = time.Now

// open opens the engine, if it is not there yet.
func (t *trainer) open() (err error) {
	if t.o.Open != nil {
		// What cannot be fitted needs no engine.
		if t.o.Kernel != nil && t.o.Learner.Definition().FitMap == nil {
			if err := t.o.Kernel.Check(t.data.Examples); err != nil {
				return err
			}
		}
		w := Work{Data: &t.data, Classes: len(t.data.Classes), Condition: t.inverse.Condition}
		switch base := t.o.base(); {
		case base != nil && base.Projection != nil:
			w.Components = base.D
		case t.o.Kernel == nil:
		case t.o.Learner.Definition().FitMap != nil:
			w.Components = w.Classes
		default:
			w.Components = t.o.Kernel.MostComponents(t.data.N, t.data.D)
		}
		if t.o.Engine, err = t.o.Open(w); err != nil {
			return err
		}
	}
	t.problem.Engine = t.o.Engine
	return nil
}

// trainer is a call of Train.
type trainer struct {
	o           Options
	given, held *dataset.Dataset // the caller's data to learn from, and those held out
	data        dataset.Dataset  // a copy, whose fields change
	problem     *learners.Problem
	inverse     *confusion.Inverse
	model       model.Model // as far as it is known
}

// newTrainer checks the options and begins the metadata of the model.
func newTrainer(data *dataset.Dataset, noise *confusion.Matrix, o Options) (*trainer, error) {
	switch {
	case o.From != nil && o.Resume != nil:
		return nil, errors.New("train: got From and Resume, want one of them")
	case (o.From != nil || o.Resume != nil) && (o.Kernel != nil || o.Preparation != ""):
		return nil, errors.New("train: got Preparation or Kernel, want neither: the model in From or " +
			"Resume has them")
	}
	if err := learners.Check(o.Learner); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if o.Time < 0 {
		return nil, fmt.Errorf("train: time: got %v, want 0 for no limit, or more", o.Time)
	}
	about := o.Learner.Definition()
	if _, ok := o.Learner.(*trees.Params); ok {
		if err := o.settleTrees(data); err != nil {
			return nil, fmt.Errorf("train: %w", err)
		}
	}
	if err := o.checkOwnMap(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	rule, err := about.Rule(string(o.Weights))
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	o.Weights = rule
	if o.Kernel != nil {
		k := *o.Kernel
		k.Coordinates = learners.IsProbabilistic(o.Learner)
		o.Kernel = &k
	}
	switch {
	case o.MaxSteps == 0:
		o.MaxSteps = about.MaxSteps
	case o.MaxSteps < 0:
		o.MaxSteps = 0
	}
	t := &trainer{o: o, given: data, data: *data}
	if a := o.Annotations; a != nil {
		if err := a.Check(data.N, len(data.Classes)); err != nil {
			return nil, fmt.Errorf("train: %w", err)
		}
		if !slices.Equal(a.Classes, data.Classes) {
			return nil, fmt.Errorf("train: %w: annotations: got %.40q, want %.40q as the data", ErrClasses,
				a.Classes, data.Classes)
		}
		t.data.Y = a.Votes(o.Seed)
	}
	t.problem = &learners.Problem{
		X: data.Examples, Y: t.data.Y, Q: len(data.Classes), Noise: noise,
		Annotations: o.Annotations, Evidence: data.Evidence,
		Engine: o.Engine, Seed: o.Seed,
	}
	if err := t.problem.Check(); err != nil && !(o.Open != nil && errors.Is(err,
		learners.ErrNoEngine)) {
		return nil, fmt.Errorf("train: %w", err)
	}
	if noise != nil && !slices.Equal(noise.Classes, data.Classes) {
		return nil, fmt.Errorf("train: %w: confusion matrix: got %.40q, want %.40q as the data",
			ErrClasses, noise.Classes, data.Classes)
	}
	if t.inverse, err = t.problem.Inverse(); err != nil {
		return nil, err
	}
	if noise != nil && about.IgnoresNoise {
		t.o.note("learner %s takes labels to be right: the confusion matrix judges its weights, and "+
			"changes none; take a learner such as softmax to learn with it", about.Name)
	}
	if t.data.SHA256 == "" && t.data.Prepared == nil && o.HoldOut == 0 && !o.Trial {
		t.data.SHA256 = t.data.Hash()
	}
	parameters, err := learners.Marshal(o.Learner)
	if err != nil {
		return nil, fmt.Errorf("train: parameters of learner %s: %w", about.Name, err)
	}
	t.model = model.Model{Q: t.problem.Q, Meta: model.Meta{
		Provenance: model.Provenance{ToolVersion: o.Tool, ContractVersion: contract.Version,
			Learner: about.Name, Parameters: parameters, Seed: o.Seed, Weights: string(rule),
			MaxSteps: o.MaxSteps, DataSHA256: t.data.SHA256},
		Classes: data.Classes,
		Features: model.Features{Count: data.FeatureCount(), Names: data.Features,
			Encoding: data.Encoding},
	}}
	if o.Annotations != nil {
		t.model.Meta.AnnotationsSHA256 = o.Annotations.Hash()
	}
	if noise != nil {
		t.model.Confusion = noise.P
		// Its last digits depend on the processor (package confusion); six do not.
		t.model.Meta.Condition = sixDigits(t.inverse.Condition)
	}
	return t, nil
}

// prepare prepares the data: the caller's own, if they may be overwritten, so that raw values need
// not be kept with them.
func (t *trainer) prepare() error {
	d := &t.data
	if t.o.inPlace() {
		d = t.given
	}
	if base := t.o.base(); base != nil {
		if err := t.adopt(base, d); err != nil {
			return err
		}
	} else if err := Prepare(d, t.o.Preparation, t.o.Kernel != nil, t.o.Memory...); err != nil {
		return err
	}
	y, hash := t.data.Y, t.data.SHA256
	t.data = *d
	t.data.Y, t.data.SHA256 = y, hash
	t.model.Meta.Preparation = *d.Prepared
	t.problem = t.problem.On(t.data.Examples, y)
	t.problem.Annotations, t.problem.Evidence = t.o.Annotations, t.given.Evidence
	t.problem.Bias = d.Prepared.Steps.Bias
	return nil
}

// mapFeatures maps the prepared features, if there is a kernel function.
func (t *trainer) mapFeatures(ctx context.Context) (err error) {
	var k *pca.Map
	z := t.data.Examples
	if base := t.o.base(); base != nil {
		if k = base.Map(); k == nil {
			return nil
		}
		z, err = k.Apply(ctx, t.o.Engine, z)
	} else if t.o.Kernel != nil {
		learn := func(ctx context.Context, p *learners.Problem, maxSteps int) (engine.Weights, error) {
			r, err := Run(ctx, t.o.Learner, p, RunOptions{MaxSteps: maxSteps, Weights: t.o.Weights})
			return r.W, err
		}
		k, z, err = t.o.Kernel.Fit(ctx, t.problem, fitting.Learning{Learner: t.o.Learner,
			MaxSteps: t.o.MaxSteps, Learn: learn, Note: t.o.note})
	} else {
		return nil
	}
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.model.SetMap(k)
	t.model.Meta.Kernel.Examples = t.behindMeans()
	t.data.Examples = z
	if t.o.inPlace() { // nobody needs the features any more, which may be large
		t.given.Examples = dataset.Examples{N: t.given.N, D: t.given.D}
	}
	evidence := t.problem.Evidence
	t.problem = t.problem.On(z, t.data.Y)
	t.problem.Annotations, t.problem.Evidence = t.o.Annotations, evidence
	t.problem.Mapped = true
	t.problem.Bias, t.problem.OwnMap = k.Preparation.Steps.Bias, t.o.Learner.Definition().FitMap != nil
	t.phase(Mapped)
	return nil
}

// learn runs the learner and completes the model.
func (t *trainer) learn(ctx context.Context) (*Trained, error) {
	o := RunOptions{
		MaxSteps: t.o.MaxSteps, Weights: t.o.Weights, OnStep: t.o.Watch.Step,
		OnStart: func() { t.phase(Loaded) },
	}
	if t.o.From != nil {
		o.From = t.o.From.W
	}
	if r := t.o.Resume; r != nil {
		o.Resume = &Snapshot{Kept: engine.Weights{Q: r.Q, D: r.D, W: r.W},
			EstimatedError: r.Meta.EstimatedError, State: *r.State}
	}
	ended := t.checkpoints(&o)
	result, err := Run(ctx, t.o.Learner, t.problem, o)
	if err := ended(err); err != nil {
		return nil, err
	}
	m := t.with(result.W, &result.EstimatedError, result.Steps, string(result.Stop))
	if result.Noise != nil {
		setLearned(m, result.Noise)
	}
	if result.Snapshot != nil {
		m.State = &result.Snapshot.State
	}
	if t.o.Trial {
		t.phase(Learned)
		return &Trained{Model: m, Run: result, Given: t.inverse, HeldOut: t.held}, nil
	}
	if m.Meta.Temperature, err = t.temperature(ctx, result.W); err != nil {
		return nil, err
	}
	return t.judged(ctx, m, result)
}

// judged returns a model and the doubts about it.
func (t *trainer) judged(ctx context.Context, m *model.Model, result Result) (*Trained, error) {
	// A learner that may make more than two steps should not be done after one.
	atOnce := result.Stop == Converged && result.Steps <= 1 && t.o.base() == nil &&
		t.o.Learner.Definition().MaxSteps > 2
	found, err := judge.Doubts(ctx, &judge.Ended{Problem: t.problem, Classes: t.model.Meta.Classes,
		D:      m.D,
		Counts: result.Counts, Inverse: result.Inverse, EstimatedError: result.EstimatedError,
		Steps: result.Steps, AtOnce: atOnce, Doubts: result.Doubts})
	if err != nil {
		return nil, err
	}
	if result.Stop == TimeUp {
		found = append(found, learners.Doubt{Code: OutOfTime, Finding: fmt.Sprintf(
			"time was up after step %d, and learner %s had not ended", result.Steps,
			t.o.Learner.Definition().Name), Advice: "allow more time, or go on from this model (" +
			quote.Option("resume") + ")"})
	}
	for _, doubt := range found {
		if slices.Contains(result.Doubts, doubt) { // the learner's own
			t.o.note("%s", doubt)
		} else {
			t.o.note("warning: %s", doubt)
		}
	}
	t.phase(Learned)
	return &Trained{m, result, t.inverse, found, t.held}, nil
}

// with returns the model with weights w and what belongs to them.
func (t *trainer) with(w engine.Weights, estimate *float64, steps int, stop string) *model.Model {
	m := t.model
	m.D, m.W = w.D, w.W
	m.Meta.EstimatedError, m.Meta.Steps, m.Meta.Stop = estimate, steps, stop
	t.setDevice(&m)
	return &m
}

// setDevice enters the device in the metadata of m.
func (t *trainer) setDevice(m *model.Model) {
	m.Meta.Device = t.o.Engine.Device()
	m.Meta.Device.ID = "" // the place among devices, which changes
}

func (t *trainer) phase(p Phase) {
	if t.o.Watch.Phase != nil {
		t.o.Watch.Phase(p)
	}
}

func (o *Options) note(format string, args ...any) {
	if o.Watch.Note != nil {
		o.Watch.Note(format, args...)
	}
}

// setLearned gives m the noise n that its training learned, sharing memory.
func setLearned(m *model.Model, n *confusion.Learned) {
	m.Learned, m.Meta.Annotators = &model.Learned{Confusion: n.P, Error: n.Error}, nil
	for _, a := range n.Annotators {
		m.Meta.Annotators = append(m.Meta.Annotators, model.Annotator{Name: a.Name, Labels: a.Labels})
		m.Learned.Matrices = append(m.Learned.Matrices, a.P...)
	}
}

// sixDigits rounds to six significant digits.
func sixDigits(v float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // which never fails
	return rounded
}

// behindMeans returns how many examples each number of a learner's own map is the mean of; nil of
// kernel PCA.
func (t *trainer) behindMeans() []int64 {
	if base := t.o.base(); base != nil {
		return base.Meta.Kernel.Examples
	}
	if t.o.Learner.Definition().FitMap == nil {
		return nil
	}
	counts := make([]int64, t.problem.Q)
	for _, k := range t.problem.Y {
		counts[k]++
	}
	return counts
}
