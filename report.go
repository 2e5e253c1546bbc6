package umagpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// ReportRequest asks how good a model and the labels of examples are.
type ReportRequest struct {
	Model     *Model     `json:"-" array:"model"`
	Data      Data       `json:"data,omitzero"`
	Labels    *Labels    `json:"labels,omitempty"`    // nil for the labels of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // of the labels; nil for what the model knows
	Judge     string     `json:"judge,omitempty"`
	Folds     int        `json:"folds,omitempty"`
	Compute   Compute    `json:"-"`
}

// Check returns the fault of options that no data could satisfy.
func (r *ReportRequest) Check() error {
	if err := r.Model.check(); err != nil {
		return err
	}
	return checkParameters(r)
}

// ReportResult is how good the model is, and what it says about the labels.
type ReportResult struct {
	Request ReportRequest `json:"request" array:"-"`
	Classes []string      `json:"classes"` // the model's
	// Folds is 0 if the model has predicted the examples; else the trainings that did, each without
	// those it predicts.
	Folds int `json:"folds"`
	*Judgement
	Check       *judge.NoiseCheck `json:"check,omitempty"`           // nil: C was not compared
	Noise       [][]float64       `json:"noise,omitempty"`           // that judged, [noisy][true]
	Errors      [][]float64       `json:"standard_errors,omitempty"` // of Noise
	Given       bool              `json:"noise_given,omitempty"`     // by the request
	Reliability []metric.Bin      `json:"reliability,omitempty"`
	// of each example; nil of models without probabilities
	Wrong   []bool        `json:"-" array:"wrong"`
	Quality []float64     `json:"-" array:"quality"` // probability that the label is right
	Likely  []int32       `json:"-" array:"likely"`  // class
	Notes   []Note        `json:"notes,omitempty"`
	Device  engine.Device `json:"device"`
}

// Report judges a model by examples with labels, and the labels by the model. Examples that the
// model was trained on are predicted by trainings with its settings that have not seen them, with
// its confusion matrix and without it; γ and the number of components are kept.
func Report(ctx context.Context, r *ReportRequest) (*ReportResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	m := r.Model.model
	j := &judging{ReportRequest: r, classification: classification{model: m, scores: true},
		result: &ReportResult{Request: *r, Classes: m.Meta.Classes}}
	j.notes.to = r.Compute.Note
	if err := j.run(ctx); err != nil {
		return nil, fault(ctx, err)
	}
	j.result.Request.Data, j.result.Notes = r.Data.described(), j.notes.all
	j.result.Device = j.device
	return j.result, nil
}

// judging is a call of Report.
type judging struct {
	*ReportRequest
	classification
	result *ReportResult
	noise  *confusion.Matrix // of the labels; nil if they are right
	held   *judge.HeldOut
}

func (j *judging) run(ctx context.Context) (err error) {
	if j.noise, err = j.labelled(ctx, &j.Data, j.Labels, j.Confusion); err != nil {
		return err
	}
	m, r := j.model, j.result
	r.Given = j.noise != nil
	first := dataset.Firsts(j.data.Examples)
	if j.Judge == "folds" || j.Judge != "model" && m.Meta.TrainedOn(j.data) {
		r.Folds = cmp.Or(j.Folds, 5)
		j.learned()
		err = j.fold(ctx)
	} else {
		if err = j.predict(ctx, &j.Compute); err == nil {
			j.held = &judge.HeldOut{Q: m.Q, Scores: j.found, Temperature: m.Meta.Temperature}
		}
	}
	if err != nil {
		return err
	}
	q := m.Q
	if j.noise != nil {
		r.Noise, r.Errors = rows(j.noise.P, q), rows(j.noise.Error, q)
	}
	p, err := j.held.Probabilities()
	if err != nil && !errors.Is(err, model.ErrNoTemperature) {
		return err
	} else if err != nil {
		p = nil
	}
	y := j.data.Y
	r.Judgement, err = judgement(y, engine.Predicted(j.held.Scores, q), p, r.Classes, j.noise)
	if err != nil || p == nil {
		return err
	}
	if r.Reliability, err = reliability(y, p, q, j.noise); err != nil {
		return err
	}
	found, err := estimate.FindIssues(p, y, first, q, j.noise)
	for _, is := range found {
		r.Wrong, r.Quality = append(r.Wrong, is.Wrong), append(r.Quality, is.Quality)
		r.Likely = append(r.Likely, is.Likely)
	}
	return err
}

// learned takes the noise of the training labels from the model, unless it was given.
func (j *judging) learned() {
	switch m := j.model; {
	case j.noise != nil:
	case m.Confusion != nil:
		j.noise = &confusion.Matrix{Classes: m.Meta.Classes, P: m.Confusion}
	case m.Learned != nil:
		j.noise = &confusion.Matrix{Classes: m.Meta.Classes, P: m.Learned.Confusion,
			Error: m.Learned.Error}
	}
}

// fold predicts out of fold with the settings of the model, with its matrix and without.
func (j *judging) fold(ctx context.Context) error {
	d, k := j.data, j.result.Folds
	o, told, err := host.Settings(j.model, d.N-(d.N+k-1)/k)
	if err != nil {
		return err
	}
	if j.model.Meta.From != "" {
		j.notes.say("report: the model was trained from initial weights; the folds start from 0")
	}
	if d.Prepared != nil {
		o.Preparation = ""
	}
	j.notes.say("report: %d trainings, each without one fold", k)
	work := progress.Work{Name: "judging the settings", Unit: "way", Total: 1}
	if told != nil {
		work.Total = 2
	}
	ctx, task := progress.Begin(ctx, work)
	defer task.End()
	o.Watch = host.Watch{Note: j.notes.say}
	return j.Compute.use(j.work, func(e *engine.Engine) (err error) {
		o.Engine, j.device = e, e.Device()
		learn := func(noise *confusion.Matrix) (*judge.HeldOut, error) {
			held, err := host.OutOfFold(ctx, d, noise, o, k)
			task.Add(1)
			return held, err
		}
		if told == nil {
			if j.held, err = learn(nil); err != nil || j.noise == nil {
				return err
			}
			// learned, not given to the trainings
			j.held.Temperature, err = confusion.Temperature(ctx, j.held.Scores, d.Y, j.held.Q, j.noise)
			if err != nil {
				j.held.Temperature = 0
			}
			return nil
		}
		if j.held, err = learn(j.noise); err != nil {
			return err
		}
		j.notes.say("report: the same without the confusion matrix")
		without, err := learn(nil)
		if err != nil {
			return err
		}
		j.result.Check, err = judge.CheckNoise(ctx, d.Y, j.noise, j.held, without)
		return err
	})
}

// reliability bins the predictions, corrected for noisy labels; nil if that cannot be.
func reliability(y []int32, p []float32, q int, noise *confusion.Matrix) ([]metric.Bin, error) {
	if noise == nil {
		return metric.Reliability(y, p, q, nil)
	}
	inverse, err := noise.Invert()
	if inseparable := new(confusion.InseparableError); errors.As(err, &inseparable) {
		return nil, nil // the judgement has warned of it
	}
	if err != nil {
		return nil, fmt.Errorf("reliability: %w", err)
	}
	return metric.Reliability(y, p, q, inverse.V)
}
