package umagpu

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
)

// EvaluateRequest asks how good a model is on examples with labels.
type EvaluateRequest struct {
	Model     *Model     `json:"-" array:"model"`
	Data      Data       `json:"data,omitzero"`
	Labels    *Labels    `json:"labels,omitempty"`    // nil for the labels of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // of the labels; nil if they are right
	Compute   Compute    `json:"-"`
}

// Check returns the fault of options that no data could satisfy.
func (r *EvaluateRequest) Check() error { return r.Model.check() }

// EvaluateResult is how good the model is.
type EvaluateResult struct {
	Request EvaluateRequest `json:"request" array:"-"`
	Judgement
	Sets    []sets.Judged `json:"sets,omitempty"` // of the prediction sets that the model has
	Classes []string      `json:"classes"`        // the model's
	Notes   []Note        `json:"notes,omitempty"`
	Device  engine.Device `json:"device"`
}

// Evaluate compares the predictions of a model with labels, which are right, or noisy by a
// confusion matrix.
func Evaluate(ctx context.Context, r *EvaluateRequest) (*EvaluateResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	c := classification{model: r.Model.model, scores: r.Model.model.Meta.Temperature > 0}
	c.notes.to = r.Compute.Note
	noise, err := c.judged(ctx, &r.Data, r.Labels, r.Confusion, &r.Compute)
	if err != nil {
		return nil, fault(ctx, err)
	}
	if !c.scores {
		c.notes.say("no log-loss, Brier score and calibration error: the model has no temperature, " +
			"which PredictionSets, or calibrate, fits")
	} else if err := c.model.ToProbabilities(c.found); err != nil {
		return nil, fault(ctx, err)
	}
	meta := &c.model.Meta
	j, err := judgement(c.data.Y, c.predicted, c.found, meta.Classes, noise)
	if err != nil {
		return nil, fault(ctx, err)
	}
	c.notes.doubt(judge.OfNoise(c.found, c.data.Y, noise, c.scores))
	result := &EvaluateResult{Request: *r, Judgement: *j, Classes: meta.Classes, Device: c.device}
	for _, rule := range meta.Sets {
		judged, err := rule.Judge(c.found, c.data.Y, noise)
		if err != nil {
			return nil, fault(ctx, err)
		}
		result.Sets = append(result.Sets, judged)
	}
	result.Request.Data, result.Notes = r.Data.described(), c.notes.all
	return result, nil
}
