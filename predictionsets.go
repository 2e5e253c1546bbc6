package umagpu

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
)

// PredictionSetsRequest asks for a model whose probabilities, and prediction sets of these levels,
// are fitted to examples that it has not seen.
type PredictionSetsRequest struct {
	Model     *Model     `json:"-" array:"model"`
	Data      Data       `json:"data,omitzero"`
	Labels    *Labels    `json:"labels,omitempty"`    // nil for the labels of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // of the labels; nil if they are right
	Sets      []float64  `json:"sets,omitempty"`      // levels, such as 0.9; nil for the temperature alone
	ByClass   bool       `json:"by_class,omitempty"`  // sets of each level hold within each class
	Sure      bool       `json:"sure,omitempty"`      // they hold for 95 % of draws of the examples
	Compute   Compute    `json:"-"`
}

// PredictionSetsResult is a copy of the model that predicts sets.
type PredictionSetsResult struct {
	Request     PredictionSetsRequest `json:"request" array:"-"`
	Model       *Model                `json:"-" array:"model"`
	Temperature float32               `json:"temperature"`
	Before      *float32              `json:"before"` // of the model as it was; nil for none
	Examples    int                   `json:"examples"`
	Sets        []FittedSets          `json:"sets,omitempty"`
	Notes       []Note                `json:"notes,omitempty"`
	Device      engine.Device         `json:"device"`
}

// FittedSets is a rule of prediction sets and their size on the examples.
type FittedSets struct {
	sets.Rule
	Size float64 `json:"size"` // mean, of classes
}

// Check returns the fault of options that no data could satisfy.
func (r *PredictionSetsRequest) Check() error {
	for option, given := range map[string]bool{"by_class": r.ByClass, "sure": r.Sure} {
		if given && r.Sets == nil {
			return conflict(option, "no level", "levels of sets")
		}
	}
	if err := r.Model.check(); err != nil {
		return err
	}
	return checkParameters(r)
}

// PredictionSets fits the temperature of a model's probabilities, by which they have the smallest
// Brier score, and prediction sets, which have the true class for a share of the examples: of right
// labels, or of noisy ones by a confusion matrix.
func PredictionSets(ctx context.Context, r *PredictionSetsRequest) (*PredictionSetsResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	m := *r.Model.model
	c := classification{model: &m, scores: true}
	c.notes.to = r.Compute.Note
	noise, err := c.judged(ctx, &r.Data, r.Labels, r.Confusion, &r.Compute)
	if err != nil {
		return nil, fault(ctx, err)
	}
	if noise == nil {
		c.notes.say("no --confusion: all labels are assumed to be right")
	}
	found := &PredictionSetsResult{Request: *r, Model: &Model{&m}, Examples: c.data.N,
		Device: c.device}
	if t := m.Meta.Temperature; t > 0 {
		found.Before = &t
	}
	y := c.data.Y
	m.Meta.Temperature, err = confusion.Temperature(ctx, c.found, y, m.Q, noise)
	if err != nil {
		return nil, fault(ctx, err)
	}
	found.Temperature, m.Meta.Sets = m.Meta.Temperature, nil
	if err := m.ToProbabilities(c.found); err != nil {
		return nil, fault(ctx, err)
	}
	c.notes.doubt(judge.OfNoise(c.found, y, noise, true))
	for _, level := range slices.Compact(slices.Sorted(slices.Values(r.Sets))) {
		rule, err := sets.Calibrate(c.found, y, noise, sets.Rule{Level: level, ByClass: r.ByClass,
			Sure: r.Sure})
		if err != nil {
			return nil, fault(ctx, err)
		}
		judged, err := rule.Judge(c.found, y, noise)
		if err != nil {
			return nil, fault(ctx, err)
		}
		m.Meta.Sets = append(m.Meta.Sets, rule)
		found.Sets = append(found.Sets, FittedSets{rule, judged.Size})
		if n := rule.Unbounded(); n > 0 {
			c.notes.warn("sets of level %v: %d of %d classes are in every set, because %d examples are too "+
				"few for this noise: fit them to more, or with less noise", level, n, m.Q, c.data.N)
		}
	}
	found.Request.Data, found.Notes = r.Data.described(), c.notes.all
	return found, nil
}
