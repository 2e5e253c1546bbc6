package umagpu

import "github.com/uma-gpu/uma-gpu/host/engine"

// QueryRequest asks which examples without a label an expert should label next.
type QueryRequest struct {
	Data Data `json:"data,omitzero"`
	// below 0 without one; nil for those of FromDataset
	Labels    *Labels    `json:"labels,omitempty"`
	Confusion *Confusion `json:"confusion,omitempty"` // of the expert's errors; nil for none
	// Aside are examples not to ask for, which the expert could not tell; nil for none.
	Aside    []int32 `json:"-" array:"aside"`
	K        int     `json:"k,omitempty"`
	Strategy string  `json:"strategy,omitempty"`
	Settings
	Compute Compute `json:"-"`
}

// QueryResult is the examples to label next.
type QueryResult struct {
	Request  QueryRequest  `json:"request" array:"-"`
	Rows     []int         `json:"rows"` // examples from 0, the best first
	Strategy string        `json:"strategy"`
	Learner  string        `json:"learner"`
	Labelled int           `json:"labelled"` // examples with a label
	Left     int           `json:"left"`     // examples neither labelled nor chosen
	Notes    []Note        `json:"notes,omitempty"`
	Device   engine.Device `json:"device"`
}
