package umagpu

import (
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
)

// PredictionSetsRequest asks for a model whose probabilities, and prediction sets of these levels,
// are fitted to examples that it has not seen.
type PredictionSetsRequest struct {
	Model     *Model     `json:"-" array:"model"`
	Data      Data       `json:"data,omitzero"`
	Labels    *Labels    `json:"labels,omitempty"`    // nil for those of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // of the labels; nil if they are right
	Sets      []float64  `json:"sets,omitempty"`      // levels, such as 0.9; nil for the temperature alone
	ByClass   bool       `json:"by_class,omitempty"`  // sets of each level hold within each class
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
