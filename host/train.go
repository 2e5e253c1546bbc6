// Package host is the loop: Train prepares data with noisy labels, fits a kernel map if one is
// asked for, and learns a model, with checkpoints; Run steps a learner to its end and chooses the
// weights.
package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/contract"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/kernel/featuremap"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/learners"
)

// ErrResume marks errors of Options.Resume: a damaged state, or data, noise or options other than
// those with which the training began.
var ErrResume = errors.New("training cannot be resumed")

// ErrClasses marks a confusion matrix, annotations or a model with classes other than the data, or
// in another order.
var ErrClasses = errors.New("classes differ")

// NoSteps is the value of Options.MaxSteps that makes no step.
const NoSteps = -1

// Options of Train. Engine is required; the other fields may keep their zero values.
type Options struct {
	Engine engine.Engine // on which to compute: simd.New(), or what gpu.Open returns
	// Open returns the engine, in place of Engine, when the examples are prepared and their size is
	// known. The caller closes the engine.
	Open        func(Work) (engine.Engine, error)
	Learner     learners.Params  // uma.Defaults(), for instance; nil for the first of package catalog
	Preparation string           // steps as dataset.ParseSteps takes them; "" for those of Prepare
	Kernel      *fitting.Options // to be nonlinear in the features; nil to be linear
	MaxSteps    int              // 0 for the learner's default, NoSteps for none
	Weights     learners.Rule    // "" for the learner's default
	Seed        uint64           // of all random choices
	// share of the examples to keep from the training, in Trained.HeldOut; 0 for none
	HoldOut float64
	Memory  []dataset.Memory // how the memory of the data may be used; nil to only read them
	// TemperatureFolds is the number of further trainings, 2 to judge.MostFolds, whose examples held
	// out give the temperature of probabilities. 0 takes the training examples: then probabilities
	// are too confident where few examples were learned almost by heart. It never changes W.
	TemperatureFolds int

	// Annotations are labels by several annotators, in place of the labels of the data and of noise;
	// nil for none. Only some learners can use them.
	Annotations *crowd.Annotations

	// From is a model to begin with: its weights, preparation and kernel map; nil to begin with W =
	// 0.
	From *model.Model
	// Resume is an unfinished training to continue: a checkpoint, or the model of an interrupted run;
	// nil for none. The result is that of a training never interrupted. Data and noise must be those
	// with which it began. Learner, Weights and Seed must too, or have their zero values. MaxSteps
	// and TemperatureFolds may differ.
	Resume *model.Model
	// Checkpoint says where and how often to write the training so far.
	Checkpoint Checkpoint

	Tool  string // name of the version of the program, for the model file
	Watch Watch
}

// Watch holds functions that Train calls as it goes on; each may be nil.
type Watch struct {
	Note  func(format string, args ...any) // something worth knowing
	Phase func(Phase)                      // a phase has ended
	Step  func(Report)                     // a step was made
}

// Phase is a part of a training, named by its end.
type Phase int

// The phases, in order.
const (
	Prepared Phase = iota // the features are prepared
	Mapped                // the kernel map has mapped them; skipped without one
	Loaded                // the examples are on the engine
	Learned               // the weights are learned
)

// Work is what a learner reads: the size of it decides which engine suits.
type Work struct {
	Data       *dataset.Dataset // prepared, and not mapped; not to be changed
	Components int              // columns that the kernel map makes of them; 0 without a map
	Classes    int
	Condition  float64 // number of the confusion matrix, 1 or more
}

// Trained is a model, and the run that its weights come from.
type Trained struct {
	*model.Model
	Run Result
	// C⁻¹ of the given matrix; Run.Inverse is that of a learned one, if there is one
	Given *confusion.Inverse
	// Doubts speak against the confusion matrix or the result. Watch.Note has been told them.
	Doubts []learners.Doubt
	// the share Options.HoldOut of the data, not prepared by this training; nil for none
	HeldOut *dataset.Dataset
}

// Train learns a model from the noisy labels of data. noise describes the noise of the labels; nil
// means that they are right. Raw data are prepared first, prepared data taken as they are. data is
// only read, unless Options.Memory has dataset.InPlace: then it may lose its examples.
//
// If ctx is cancelled before the learning begins, Train returns ctx's error. If it is cancelled
// later, Train finishes the step and returns the model so far: its Meta.Stop is "interrupted", and
// Options.Resume goes on from it.
func Train(ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix,
	o Options) (*Trained, error) {
	t, err := begin(ctx, data, noise, o)
	if err != nil {
		return nil, err
	}
	defer t.release()
	if err := t.mapFeatures(ctx); err != nil {
		return nil, err
	}
	return t.learn(ctx)
}

// Plan returns the work that Train would do. It prepares the data and opens the engine, as Train
// does, and learns nothing.
func Plan(ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix, o Options,
) (*Work, error) {
	t, err := begin(ctx, data, noise, o)
	if err != nil {
		return nil, err
	}
	w := t.work()
	return &w, nil
}

// begin holds out, prepares the data and opens the engine.
func begin(ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix,
	o Options) (*trainer, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	fit, held, err := o.holdOut(data)
	if err != nil {
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
	if err = t.model.Meta.Check(); err == nil {
		err = ctx.Err()
	}
	if err == nil {
		t.phase(Prepared)
		err = t.open()
	}
	if err != nil {
		t.release()
		return nil, err
	}
	return t, nil
}

// holdOut divides the data into those to learn from and those held out, nil for none.
func (o *Options) holdOut(data *dataset.Dataset) (fit, held *dataset.Dataset, err error) {
	switch share := o.HoldOut; {
	case share == 0:
		return data, nil, nil
	case !(share > 0 && share < 1):
		return nil, nil, fmt.Errorf("train: share to hold out: got %v, want above 0 and below 1", share)
	case o.Annotations != nil:
		return nil, nil, errors.New("train: share to hold out: got annotations, want labels to judge by")
	}
	parts, err := dataset.SplitFractions(data, []float64{1 - o.HoldOut, o.HoldOut}, o.Seed,
		o.Memory...)
	if err != nil {
		return nil, nil, fmt.Errorf("train: hold out: %w", err)
	}
	fit, held = parts[0], parts[1]
	if o.inPlace() { // parts are copies
		if err := data.Close(); err != nil {
			return nil, nil, err
		}
		data.Put(dataset.Examples{})
	}
	if o.Watch.Note != nil {
		o.Watch.Note("validate: %d examples to learn from, %d to judge by", fit.N, held.N)
	}
	return fit, held, nil
}

// inPlace reports whether the training may write to the data.
func (o *Options) inPlace() bool { return slices.Contains(o.Memory, dataset.InPlace) }

// open opens the engine, if it is not there yet.
func (t *trainer) open() (err error) {
	if t.Options.Open != nil {
		if t.Kernel != nil && !fitting.HasOwnMap(t.Learner) { // what cannot be fitted needs no engine
			if _, err := t.Kernel.Plan(&t.data); err != nil {
				return err
			}
		}
		if t.Engine, err = t.Options.Open(t.work()); err != nil {
			return err
		}
	}
	t.problem.Engine = t.Engine
	return nil
}

// work returns what the learner will read.
func (t *trainer) work() Work {
	w := Work{Data: &t.data, Classes: len(t.data.Classes), Condition: t.inverse.Condition}
	switch base := t.base(); {
	case base != nil && base.Projection != nil:
		w.Components = base.D
	case t.Kernel == nil:
	case fitting.HasOwnMap(t.Learner):
		w.Components = w.Classes
	default:
		w.Components = t.Kernel.MostComponents(t.data.N, t.data.D)
	}
	return w
}

// release gives back examples that were prepared or mapped here, not those given, where ranks
// share them.
func (t *trainer) release() {
	if t.data.Stored().At.Shared() != t.given.Stored().At.Shared() {
		t.data.Stored().Close()
	}
}

// trainer is a call of Train.
type trainer struct {
	Options
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
		return nil, errors.New("train: got Preparation or Kernel, want those of the model in From or " +
			"Resume")
	}
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if err := errors.Join(o.Learner.Check(), checkFolds(o.TemperatureFolds)); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	about := o.Learner.Definition()
	if err := o.checkOwnMap(); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	rule, err := about.Rule(string(o.Weights))
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	o.Weights = rule
	switch {
	case o.MaxSteps == 0:
		o.MaxSteps = about.MaxSteps
	case o.MaxSteps < 0:
		o.MaxSteps = 0
	}
	if o.Resume != nil {
		base := *o.Resume
		base.Meta.TrainedOn(data)
		o.Resume = &base
	}
	t := &trainer{Options: o, given: data, data: *data}
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
		X: data.Examples, At: data.Stored().At, Y: t.data.Y, Q: len(data.Classes), Noise: noise,
		Annotations: o.Annotations,
		Engine:      o.Engine, Seed: o.Seed,
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
		t.note("learner %s takes labels to be right: the confusion matrix judges its weights, and "+
			"changes none%s", about.Name, insteadOf(about.New()))
	}
	if t.data.SHA256 == "" && t.data.Prepared == nil && o.HoldOut == 0 {
		t.data.SHA256 = t.data.Hash()
	}
	parameters, err := learners.Marshal(o.Learner)
	if err != nil {
		return nil, fmt.Errorf("train: parameters of learner %s: %w", about.Name, err)
	}
	t.model = model.Model{Q: t.problem.Q, Meta: model.Meta{
		ToolVersion: o.Tool, ContractVersion: contract.Version,
		Classes: data.Classes,
		Features: model.Features{Count: data.FeatureCount(), Names: data.Features,
			Encoding: data.Encoding},
		Learner: about.Name, Parameters: parameters, Seed: o.Seed, Weights: string(rule),
		MaxSteps:   o.MaxSteps,
		DataSHA256: t.data.SHA256, TemperatureFolds: o.TemperatureFolds,
	}}
	if o.Annotations != nil {
		t.model.Meta.AnnotationsSHA256 = o.Annotations.Hash()
	}
	if noise != nil {
		t.model.Confusion = noise.P
		// Its last digits depend on the processor (package confusion); six do not.
		if condition := t.inverse.Condition; !math.IsInf(condition, 1) {
			t.model.Meta.Condition = sixDigits(condition)
		}
		if noise.Inversion != (confusion.Inversion{}) && noise.Inversion.String() != confusion.Exact {
			t.model.Meta.Inverse = noise.Inversion.String()
		}
	}
	return t, nil
}

// base is the model whose preparation and kernel map are taken over; nil for none.
func (t *trainer) base() *model.Model {
	if t.Resume != nil {
		return t.Resume
	}
	return t.From
}

// prepare prepares the data: the caller's own, if they may be overwritten, so that raw values need
// not be kept beside them.
func (t *trainer) prepare() error {
	d := &t.data
	if t.inPlace() {
		d = t.given
	}
	if base := t.base(); base != nil {
		if err := t.adopt(base, d); err != nil {
			return err
		}
	} else if err := Prepare(d, t.Preparation, t.Kernel != nil, t.Memory...); err != nil {
		return err
	}
	y, hash := t.data.Y, t.data.SHA256
	t.data = *d
	t.data.Y, t.data.SHA256 = y, hash
	t.model.Meta.Preparation = *d.Prepared
	t.problem = t.problem.On(&t.data, y)
	t.problem.Annotations = t.Annotations
	t.problem.Bias = d.Prepared.Steps.Bias
	return nil
}

// adopt prepares d as the data of base were, to begin with its weights or to go on with it.
func (t *trainer) adopt(base *model.Model, d *dataset.Dataset) error {
	if !slices.Equal(base.Meta.Classes, t.data.Classes) {
		return fmt.Errorf("train: %w: data: got %.40q, want %.40q as the model of From or Resume",
			ErrClasses, t.data.Classes, base.Meta.Classes)
	}
	if err := d.PrepareBy(&base.Meta.Preparation, t.Memory...); err != nil {
		return err
	}
	if t.From != nil {
		w, err := binary.Append(nil, binary.LittleEndian, base.W)
		if err != nil {
			return err
		}
		hash := sha256.Sum256(w)
		t.model.Meta.From = hex.EncodeToString(hash[:])
		return nil
	}
	t.model.Meta.From = base.Meta.From
	return t.checkSame(base)
}

// checkSame returns an error if the training to resume began in another way.
func (t *trainer) checkSame(base *model.Model) error {
	is, was := &t.model, base
	then := string(was.Meta.Parameters)
	// with what an older file leaves out
	if p, err := t.Learner.Definition().Parse(was.Meta.Parameters); err == nil {
		if text, err := learners.Marshal(p); err == nil {
			then = string(text)
		}
	}
	for _, c := range []struct {
		what      string
		same      bool
		now, then any
	}{
		{"contract version", is.Meta.ContractVersion == was.Meta.ContractVersion, is.Meta.ContractVersion,
			was.Meta.ContractVersion},
		{"learner", is.Meta.Learner == was.Meta.Learner, is.Meta.Learner, was.Meta.Learner},
		{"parameters", string(is.Meta.Parameters) == then, string(is.Meta.Parameters), then},
		{"weights", is.Meta.Weights == was.Meta.Weights, is.Meta.Weights, was.Meta.Weights},
		{"seed", is.Meta.Seed == was.Meta.Seed, is.Meta.Seed, was.Meta.Seed},
		{"data", is.Meta.DataSHA256 == was.Meta.DataSHA256, cmp.Or(is.Meta.DataSHA256, "without a hash") +
			t.onRanks(), was.Meta.DataSHA256},
		{"annotations", is.Meta.AnnotationsSHA256 == was.Meta.AnnotationsSHA256, "others",
			"those of the file"},
		{"inverse", is.Meta.Inverse == was.Meta.Inverse, cmp.Or(is.Meta.Inverse, confusion.Exact),
			cmp.Or(was.Meta.Inverse, confusion.Exact)},
		{"confusion matrix", slices.Equal(is.Confusion, was.Confusion), "another one",
			"that of the file"},
	} {
		if !c.same {
			return fmt.Errorf("train: %w: %s: got %v, want %v as it began", ErrResume, c.what, c.now, c.then)
		}
	}
	if made := base.Meta.Steps; made > t.MaxSteps {
		return fmt.Errorf("train: %w: most steps: got %d, want at least the %d that it has made",
			ErrResume, t.MaxSteps, made)
	}
	if base.State == nil {
		return fmt.Errorf("train: Resume: got a model whose training had ended (%s after %d steps), "+
			"want a checkpoint or the model of an interrupted run (From begins with its weights)",
			base.Meta.Stop, base.Meta.Steps)
	}
	return nil
}

// onRanks returns a remark on hashes that ranks cannot compare: one process makes those of earlier
// versions.
func (t *trainer) onRanks() string {
	if t.data.Stored().At.Shared() == nil {
		return ""
	}
	return " (of this version; one process can resume a training of an earlier version)"
}

// mapFeatures maps the prepared features, if there is a kernel function.
func (t *trainer) mapFeatures(ctx context.Context) (err error) {
	var k *featuremap.Map
	z := t.data.Stored()
	if base := t.base(); base != nil {
		if k = base.Map(); k == nil {
			return nil
		}
		z, err = k.Apply(ctx, t.Engine, z)
	} else if t.Kernel != nil {
		k, z, err = t.Kernel.Fit(ctx, t.problem, fitting.Learning{Learner: t.Learner,
			MaxSteps: t.MaxSteps, Learn: t.trial, Note: t.note})
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
	t.release()
	t.data.Put(z)
	if t.inPlace() { // nobody needs the features any more, which may be large
		t.given.Put(dataset.Examples{N: t.given.N, D: t.given.D})
	}
	t.problem = t.problem.On(z, t.data.Y)
	t.problem.Annotations = t.Annotations
	t.problem.Bias, t.problem.OwnMap = k.Preparation.Steps.Bias, fitting.HasOwnMap(t.Learner)
	t.phase(Mapped)
	return nil
}

// learn runs the learner and completes the model.
func (t *trainer) learn(ctx context.Context) (*Trained, error) {
	o := RunOptions{
		MaxSteps: t.MaxSteps, Weights: t.Weights, OnStep: t.Watch.Step,
		OnStart: func() { t.phase(Loaded) },
	}
	if t.From != nil {
		o.From = t.From.W
	}
	if r := t.Resume; r != nil {
		o.Resume = &Snapshot{Kept: engine.Weights{Q: r.Q, D: r.D, W: r.W},
			EstimatedError: r.Meta.EstimatedError, State: *r.State}
	}
	ended := t.checkpoints(&o)
	result, err := Run(ctx, t.Learner, t.problem, o)
	if err := ended(err); err != nil {
		return nil, err
	}
	m := t.with(result.W, &result.EstimatedError, result.Steps, string(result.Stop))
	if result.Noise != nil {
		m.Learned = learnedOf(result.Noise)
	}
	m.Meta.CompressionSet = result.CompressionSet
	if result.Snapshot != nil {
		m.State = &result.Snapshot.State
	}
	if m.Meta.Temperature, err = t.temperature(ctx, result.W); err != nil {
		return nil, err
	}
	found, err := judge.Doubts(ctx, &judge.Ended{Problem: t.problem, Classes: t.model.Meta.Classes,
		D:      result.W.D,
		Counts: result.Counts, Inverse: result.Inverse, EstimatedError: result.EstimatedError,
		Steps: result.Steps, AtOnce: t.endedAtOnce(&result), Doubts: result.Doubts})
	if err != nil {
		return nil, err
	}
	for _, doubt := range found {
		if slices.Contains(result.Doubts, doubt) { // the learner's own
			t.note("%s", doubt)
		} else {
			t.note("warning: %s", doubt)
		}
	}
	t.phase(Learned)
	return &Trained{m, result, t.inverse, found, t.held}, nil
}

// with returns the model with weights w and what belongs to them.
func (t *trainer) with(w engine.Weights, estimate *float64, steps int, stop string) *model.Model {
	m := t.model
	d := t.Engine.Device()
	m.Meta.Device = model.Device{Kind: d.Kind, Name: d.Name, Platform: d.Platform, Driver: d.Driver,
		Conforming: d.Conforming}
	m.D, m.W = w.D, w.W
	m.Meta.EstimatedError, m.Meta.Steps, m.Meta.Stop = estimate, steps, stop
	return &m
}

func (t *trainer) phase(p Phase) {
	if t.Watch.Phase != nil {
		t.Watch.Phase(p)
	}
}

func (t *trainer) note(format string, args ...any) {
	if t.Watch.Note != nil {
		t.Watch.Note(format, args...)
	}
}

// insteadOf returns advice on wrong labels for the user of a learner that takes labels to be
// right.
func insteadOf(p learners.Params) string {
	if _, ok := learners.Lookup(p, "correction"); ok {
		return ", unless its correction is steps"
	}
	return "; learn from labels that are made clean, or with another learner, such as softmax"
}

// learnedOf returns n as a model keeps it, sharing memory.
func learnedOf(n *confusion.Learned) *model.Learned {
	l := &model.Learned{Confusion: n.P, Error: n.Error}
	for _, a := range n.Annotators {
		l.Annotators = append(l.Annotators, model.Annotator{Name: a.Name, Labels: a.Labels})
		l.Matrices = append(l.Matrices, a.P...)
	}
	return l
}

// sixDigits rounds to six significant digits.
func sixDigits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil { // never: what FormatFloat writes ParseFloat reads
		return v
	}
	return rounded
}

// trial returns the weights that a trial of the search for γ learns.
func (t *trainer) trial(ctx context.Context, p *learners.Problem, maxSteps int,
) (engine.Weights, error) {
	result, err := Run(ctx, t.Learner, p, RunOptions{MaxSteps: maxSteps, Weights: t.Weights})
	return result.W, err
}

// endedAtOnce returns whether a training that might have made more steps has converged after one
// at most.
func (t *trainer) endedAtOnce(r *Result) bool {
	const oneStep = 2 // the most steps of learners that need only one
	return r.Stop == Converged && r.Steps <= 1 && t.base() == nil &&
		t.Learner.Definition().MaxSteps > oneStep
}

// checkOwnMap says what of the options means nothing to a learner with a kernel map of its own.
func (o *Options) checkOwnMap() error {
	if !fitting.HasOwnMap(o.Learner) {
		return nil
	}
	found := ""
	switch k := o.Kernel; {
	case o.From != nil && o.From.Projection != nil:
		found = "a model with a kernel map to begin with"
	case k == nil:
	case k.Components != 0 || k.Variance != 0:
		found = "a number of components"
	case k.Landmarks != 0 || k.Choice != "" && k.Choice != pca.Uniform:
		found = "landmarks"
	case k.Steps != nil:
		found = "a preparation of components"
	}
	if found == "" {
		return nil
	}
	return fmt.Errorf("found %s, wanted none: learner %s has a kernel map of its own", found,
		o.Learner.Definition().Name)
}

// behindMeans returns how many examples each number of a learner's own map is the mean of; nil of
// kernel PCA.
func (t *trainer) behindMeans() []int64 {
	if base := t.base(); base != nil {
		return base.Meta.Kernel.Examples
	}
	if !fitting.HasOwnMap(t.Learner) {
		return nil
	}
	counts := make([]int64, t.problem.Q)
	for _, k := range t.problem.Y {
		counts[k]++
	}
	return counts
}
