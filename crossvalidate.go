package umagpu

import (
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
)

// CrossValidateRequest asks how good settings are, by examples held out in turn.
type CrossValidateRequest struct {
	Data      Data       `json:"data,omitzero"`
	Labels    *Labels    `json:"labels,omitempty"`    // nil for those of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // to learn and judge by; nil if labels are right
	Settings
	Folds int `json:"folds,omitempty"`
	// Compare are other settings to compare on the same folds, in place of Settings.
	Compare []Candidate `json:"compare,omitempty"`
	Compute Compute     `json:"-"`
}

// Candidate is settings in a comparison.
type Candidate struct {
	Name string `json:"name"`
	Settings
	NoConfusion bool       `json:"no_confusion,omitempty"` // takes labels to be right
	Confusion   *Confusion `json:"confusion,omitempty"`    // to learn with, unlike the one that judges
}

// CrossValidateResult judges all examples, each by the training that has not seen it.
type CrossValidateResult struct {
	Request CrossValidateRequest `json:"request" array:"-"`
	Learner string               `json:"learner,omitempty"`
	Folds   int                  `json:"folds"`
	*Judgement
	Classes       []string      `json:"classes"`
	Codes         []int32       `json:"-" array:"codes"`         // predicted
	Probabilities []float32     `json:"-" array:"probabilities"` // n×Q; nil if the models have none
	Compared      []Compared    `json:"compared,omitempty"`      // of Compare, the best first
	Notes         []Note        `json:"notes,omitempty"`
	Device        engine.Device `json:"device"`
}

// Compared is how good a candidate is.
type Compared struct {
	Name string `json:"name"`
	// corrected, if there is a confusion; nil if unknown
	LogLoss     *float64         `json:"log_loss"`
	Behind      float64          `json:"behind"`       // the best, of its loss
	BehindError float64          `json:"behind_error"` // standard error of that
	Accuracy    *metric.Estimate `json:"accuracy"`     // corrected, likewise
	Failed      string           `json:"failed,omitempty"`
}
