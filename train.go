package umagpu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/learners"
)

// TrainRequest is a training.
type TrainRequest struct {
	Data      Data       `json:"data,omitzero"`
	Labels    *Labels    `json:"labels,omitempty"`    // nil for the labels of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // of the labels; nil if they are right
	// EstimateConfusion estimates the noise of the labels and learns the model that Clean returns.
	// Besides the preparation and the seed, nothing else may choose a model.
	EstimateConfusion bool `json:"estimate_confusion,omitempty"`
	Settings
	// HoldOut is the share of the examples by which the model is judged, and that it has not seen.
	HoldOut float64 `json:"hold_out,omitempty"`
	// TrustConfusion trains even if the labels say that the axes of Confusion are exchanged.
	TrustConfusion bool `json:"trust_confusion,omitempty"`

	// From is a model to begin with: its weights, preparation and kernel. Resume is the model of a
	// training that was interrupted or out of time, which goes on: with the same data, confusion and
	// settings it ends with the bits of a training without a break.
	From   *Model `json:"-" array:"from"`
	Resume *Model `json:"-" array:"resume"`
	// Checkpoint says where and how often to save the training; the zero value saves none.
	Checkpoint host.Checkpoint `json:"-"`
	Compute    Compute         `json:"-"`
}

// Check returns the fault of options that no data could satisfy.
func (r *TrainRequest) Check() error {
	if r.From != nil && r.Resume != nil {
		return conflict("from", "from and resume", "one of them")
	}
	if err := checkParameters(r); err != nil {
		return err
	}
	if r.EstimateConfusion {
		return r.checkEstimate()
	}
	if r.Learner == AutoLearner {
		return r.checkAuto()
	}
	if err := r.checkSettled(); err != nil || r.Resume != nil {
		return err
	}
	o, err := r.Settings.options()
	if err != nil {
		return err
	}
	return r.Labels.checkLearner(o.Learner)
}

// checkSettled returns the fault of settings that the model to begin with, or to go on with, has.
func (r *TrainRequest) checkSettled() error {
	option, m := "from", r.From
	if r.Resume != nil {
		option, m = "resume", r.Resume
	}
	if m == nil {
		return nil
	}
	own := func(name string) error {
		return conflict(name, "a value beside "+quote.Option(option), "none: the model has its own")
	}
	for _, p := range Parameters(&r.Settings) {
		settled := p.Group == kernelGroup || p.Name == "normalize"
		if r.Resume != nil {
			settled = settled || p.Name == "learner" || p.Name == "weights" || p.Name == "seed"
		}
		if settled && !p.IsZero() {
			return own(p.Name)
		}
	}
	if r.Resume == nil && m.model.W == nil {
		return &Fault{Kind: Unfit, Option: "from", Got: "a model of learner " + m.model.Meta.Learner +
			", which has no weights", Want: "a linear or curved model"}
	}
	if r.Resume == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		return own(name)
	}
	if meta := &m.model.Meta; m.model.State == nil {
		return &Fault{Kind: Unfit, Option: "resume", Got: fmt.Sprintf(
			"a model whose training had ended (%s after %d steps)", meta.Stop, meta.Steps),
			Want:   "a checkpoint, or the model of an interrupted training",
			Advice: "--from begins with its weights"}
	} else if r.MaxSteps != nil && *r.MaxSteps < meta.Steps {
		return invalid("max_steps", fmt.Sprint(*r.MaxSteps), fmt.Sprintf(
			"at least %d, the steps that the training has made", meta.Steps))
	}
	return nil
}

// TrainResult is a model and how it was learned.
type TrainResult struct {
	Request TrainRequest `json:"request" array:"-"`
	Model   *Model       `json:"-" array:"model"`

	Learner  string   `json:"learner"`
	Classes  []string `json:"classes"`
	Examples int      `json:"examples"` // learned from
	Features int      `json:"features"`
	Steps    int      `json:"steps"`
	// why it ended: converged, max-steps, time, interrupted
	Stop string `json:"stop"`
	// of the training labels, corrected by the confusion; of a mixture by examples held out in turn
	EstimatedError float64 `json:"estimated_error"`
	Condition      float64 `json:"condition_number"`
	// Confusion is what the training has learned of the noise, P[noisy][true]; nil if nothing.
	Confusion  [][]float64 `json:"confusion,omitempty"`
	Annotators []Annotator `json:"annotators,omitempty"` // whose votes were learned
	// Of an estimated confusion matrix, as in CleanResult.
	WrongShare    *Share   `json:"wrong_labels,omitempty"`
	Evidence      string   `json:"evidence,omitempty"`
	NotIdentified []string `json:"not_identified,omitempty"`
	// what speaks against the confusion or the result
	Doubts     []learners.Doubt `json:"doubts"`
	Validation *Judgement       `json:"validation,omitempty"` // by HoldOut
	Notes      []Note           `json:"notes,omitempty"`
	Device     engine.Device    `json:"device"`
}

// Annotator is a voter whose errors were estimated.
type Annotator struct {
	Name      string      `json:"name"`
	Labels    int         `json:"labels"` // that it gave
	Right     float64     `json:"right"`  // share, if classes were equally frequent
	Confusion [][]float64 `json:"confusion"`
	Errors    [][]float64 `json:"standard_error,omitempty"`
	// Gain is how many labels of a Consensus its votes are expected to correct; nil of others.
	Gain *float64 `json:"gain,omitempty"`
}

// Interrupted reports whether the training was cancelled, or its time up: TrainRequest.Resume
// continues it.
func (r *TrainResult) Interrupted() bool {
	return slices.Contains([]string{string(host.Interrupted), string(host.TimeUp)}, r.Stop)
}

// Train learns a model from noisy labels. If the context is cancelled while it learns, it returns
// the model so far.
func Train(ctx context.Context, r *TrainRequest) (result *TrainResult, err error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.EstimateConfusion {
		return r.estimate(ctx)
	}
	t := training{notes: notes{to: r.Compute.Note}, compute: &r.Compute}
	if r.Compute.Open != nil {
		defer t.close(&err)
	}
	if r.Learner == AutoLearner {
		chosen, err := r.choose(ctx, &t)
		if err != nil {
			return nil, err
		}
		if len(chosen.ways) > 1 {
			return r.mixture(ctx, &t, chosen)
		}
		r = chosen.request(r, 0)
	}
	return r.train(ctx, &t)
}

// train learns the model of one learner. It leaves the engine open.
func (r *TrainRequest) train(ctx context.Context, t *training) (*TrainResult, error) {
	if err := t.read(ctx, &r.Data, r.Labels, r.Confusion, r.base(), r.Settings.seed()); err != nil {
		return nil, fault(ctx, err)
	}
	if b := r.Resume; r.Confusion == nil && b != nil && b.model.Confusion != nil {
		t.notes.say("confusion matrix: from the training to go on with")
		t.noise = &confusion.Matrix{Classes: t.data.Classes, P: b.model.Confusion}
	}
	o, err := r.options(t)
	if err != nil {
		return nil, err
	}
	trained, err := host.Train(ctx, t.data, t.noise, o)
	if errors.Is(err, host.ErrResume) {
		return nil, &Fault{Kind: Unfit, Option: "resume", Cause: err}
	}
	if err != nil {
		return nil, fault(ctx, err)
	}
	t.held = trained.HeldOut
	result, err := r.result(ctx, t, trained)
	if err != nil {
		return nil, fault(ctx, err)
	}
	return result, nil
}

// checkEstimate returns the fault of what EstimateConfusion does not go with.
func (r *TrainRequest) checkEstimate() error {
	name := r.Settings.besides("normalize", "seed")
	switch {
	case r.Confusion != nil:
		name = "confusion"
	case r.From != nil:
		name = "from"
	case r.Resume != nil:
		name = "resume"
	case r.HoldOut > 0:
		name = "hold_out"
	case r.Checkpoint.Path != "" && !r.Checkpoint.Failed:
		name = "checkpoint"
	}
	if name != "" {
		return conflict(name, "a value beside an estimated confusion matrix",
			"one of them: the estimate chooses the model")
	}
	_, err := preparation(r.Normalize)
	return err
}

// estimate is Clean, as a training.
func (r *TrainRequest) estimate(ctx context.Context) (*TrainResult, error) {
	found, err := Clean(ctx, &CleanRequest{Data: r.Data, Labels: r.Labels, Normalize: r.Normalize,
		Seed: r.Seed, Compute: r.Compute})
	if err != nil {
		return nil, err
	}
	meta := &found.Model.model.Meta
	result := &TrainResult{Request: *r, Model: found.Model, Learner: meta.Learner,
		Classes: meta.Classes, Examples: len(found.Cleaned), Features: meta.Features.Count,
		Steps: meta.Steps, Stop: meta.Stop, EstimatedError: found.Error.Value, Condition: 1,
		Confusion: found.Confusion, WrongShare: &found.WrongShare, Evidence: found.Evidence,
		NotIdentified: found.NotIdentified, Doubts: []learners.Doubt{}, Notes: found.Notes,
		Device: found.Device}
	result.Request.Data = found.Request.Data
	return result, nil
}

// base returns the model that the training begins with or goes on from; nil for none.
func (r *TrainRequest) base() *Model {
	if r.Resume != nil {
		return r.Resume
	}
	return r.From
}

// options returns the options of the loop.
func (r *TrainRequest) options(t *training) (o host.Options, err error) {
	if r.Resume == nil {
		if o, err = r.Settings.options(); err != nil {
			return o, err
		}
	} else {
		o = host.Options{Tool: Version, Time: r.time()}
		o.Resume = r.Resume.model
		if r.MaxSteps != nil {
			o.MaxSteps = steps(*r.MaxSteps)
		}
	}
	if r.From != nil {
		o.From = r.From.model
	}
	o.HoldOut, o.Checkpoint, o.Annotations = r.HoldOut, r.Checkpoint, t.annotations
	o.Memory = r.Data.memory
	o.Watch = host.Watch{Note: t.notes.say, Phase: r.Compute.Phase, Step: r.Compute.Step}
	if o.Engine = r.Compute.Engine; r.Compute.Open != nil {
		o.Open = t.open
	} else if o.Engine == nil {
		o.Engine, _, err = r.Compute.open(nil)
	}
	t.on = o.Engine
	return o, err
}

// training is the data of a call that trains.
type training struct {
	data        *dataset.Dataset
	examples    int // of the input, some of which may not be in data
	noise       *confusion.Matrix
	annotations *dataset.Annotations
	notes       notes
	compute     *Compute
	on          *engine.Engine
	held        *dataset.Dataset // held out
}

// read takes over the data and what is known of their labels: of the features of base if that is
// not nil.
func (t *training) read(ctx context.Context, d *Data, l *Labels, c *Confusion, base *Model,
	seed uint64) (err error) {
	if base != nil {
		t.data, err = d.examplesFor(ctx, base.model)
	} else {
		t.data, err = d.examples(ctx)
	}
	if err != nil {
		return err
	}
	t.examples = t.data.N
	if t.annotations, err = l.enter(ctx, t.data, seed); err != nil {
		return err
	}
	t.notes.of(t.data)
	if t.annotations == nil && base == nil {
		t.notes.giveAway(t.data)
	}
	if t.annotations != nil && c != nil {
		return conflict("confusion", "a matrix beside annotators",
			"one of them: each annotator's is learned")
	}
	t.noise, err = c.matrix(t.data, &t.notes)
	return err
}

// open opens the engine that the work of a training suits.
func (t *training) open(w host.Work) (e *engine.Engine, err error) {
	if e, err = t.compute.Open(w); err != nil {
		return nil, &Fault{Kind: Device, Cause: err}
	}
	t.on = e
	return e, nil
}

// close closes the engine that open has opened.
func (t *training) close(err *error) {
	if t.on != nil {
		*err = errors.Join(*err, t.on.Close())
	}
}

// result returns what a training has found.
func (r *TrainRequest) result(ctx context.Context, t *training, trained *host.Trained,
) (*TrainResult, error) {
	if !r.TrustConfusion {
		for _, d := range trained.Doubts {
			if d.Code == judge.TurnedConfusion {
				return nil, &Fault{Kind: Unfit, Option: "confusion", Got: d.Finding,
					Want:   "columns that are true classes",
					Advice: d.Advice + ", or give --trust-confusion to train all the same"}
			}
		}
	}
	run, meta, q := trained.Run, &trained.Meta, trained.Q
	n := int64(0)
	for _, count := range run.Counts {
		n += count
	}
	found := &TrainResult{Request: *r, Model: &Model{trained.Model}, Learner: meta.Learner,
		Classes: meta.Classes, Examples: int(n), Features: meta.Features.Count, Steps: run.Steps,
		Stop: meta.Stop, EstimatedError: run.EstimatedError, Condition: max(1, meta.Condition),
		Doubts: append([]learners.Doubt{}, trained.Doubts...),
		Device: t.on.Device()}
	found.Request.Data = r.Data.described()
	if l := run.Noise; l != nil {
		found.Confusion = rows(l.P, q)
		for k := range l.Annotators {
			found.Annotators = append(found.Annotators, newAnnotator(&l.Annotators[k], q))
		}
	}
	if held := trained.HeldOut; held != nil && run.Stop != host.Interrupted {
		if e := held.Evidence; e != nil && e.Classes != nil {
			t.notes.say("validate: a prediction among the candidate classes counts as right")
		}
		var err error
		if found.Validation, err = validate(ctx, t.on, trained.Model, held, t.noise); err != nil {
			return nil, err
		}
	}
	found.Notes = t.notes.all
	return found, nil
}

func newAnnotator(a *confusion.Annotator, q int) Annotator {
	return Annotator{Name: a.Name, Labels: a.Labels, Right: a.Right(q), Confusion: rows(a.P, q),
		Errors: rows(a.Error, q)}
}

// rows cuts a q×q matrix in rows; nil for none.
func rows(m []float64, q int) [][]float64 {
	return slices.Collect(slices.Chunk(m, max(1, q)))
}

// validate judges a model by examples that it has not seen.
func validate(ctx context.Context, e *engine.Engine, m *model.Model, held *dataset.Dataset,
	noise *confusion.Matrix) (*Judgement, error) {
	scores := m.Scores
	if held.Prepared != nil {
		scores = m.ScoresPrepared
	}
	s, err := scores(ctx, e, held.Examples)
	if err != nil {
		return nil, err
	}
	predicted := engine.Predicted(s, m.Q)
	if m.Meta.Temperature == 0 {
		s = nil
	} else if err := m.ToProbabilities(s); err != nil {
		return nil, err
	}
	y := held.Evidence.Labels(predicted, held.Y, m.Q)
	return judgement(y, predicted, s, m.Meta.Classes, noise)
}
