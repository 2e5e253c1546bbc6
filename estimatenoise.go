package umagpu

import (
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// EstimateNoiseRequest asks for the confusion matrix of labels. It is estimated from the first of
// these that is given: Counts; Probabilities; Data; True alone.
type EstimateNoiseRequest struct {
	Data   Data    `json:"data,omitzero"`    // the zero value for none
	Labels *Labels `json:"labels,omitempty"` // noisy; nil for those of FromDataset
	// True are the true classes of some examples, below 0 where they are unknown; nil for none.
	True []int32 `json:"-" array:"true"`
	// Probabilities are out-of-fold probabilities of the labels, n×Q; nil for none.
	Probabilities []float32  `json:"-" array:"probabilities"`
	Counts        *Confusion `json:"counts,omitempty"` // true against noisy labels
	Method        string     `json:"method,omitempty"`
	Folds         int        `json:"folds,omitempty"`
	Settings
	Compute Compute `json:"-"`
}

// EstimateNoiseResult is the estimate. Matrices are [noisy][true].
type EstimateNoiseResult struct {
	Request   EstimateNoiseRequest `json:"request" array:"-"`
	Method    string               `json:"method"`
	Classes   []string             `json:"classes"`
	Confusion [][]float64          `json:"confusion"`
	Errors    [][]float64          `json:"standard_error,omitempty"` // nil where nothing tells
	Assumes   string               `json:"assumes"`
	// NotIdentified are the true classes whose columns the labels do not tell.
	NotIdentified []string               `json:"not_identified,omitempty"`
	Candidates    []clean.NoiseCandidate `json:"candidates,omitempty"` // of the contest
	Notes         []Note                 `json:"notes,omitempty"`
	Device        engine.Device          `json:"device"`
}
