package umagpu

import "github.com/uma-gpu/uma-gpu/host/engine"

// CleanRequest asks which labels are wrong, if any are, for the right ones, and for a model.
type CleanRequest struct {
	Data   Data    `json:"data"`
	Labels *Labels `json:"labels,omitempty"` // nil for those of FromDataset
	// Checked are the true classes of rows that somebody has checked, below 0 of others; nil for none.
	Checked   []int32 `json:"-" array:"checked"`
	Normalize string  `json:"normalize,omitempty"`
	Seed      uint64  `json:"seed,omitempty"`
	Compute   Compute `json:"-"`
}

// CleanResult has a value for each example, and the model of the corrected labels.
type CleanResult struct {
	Request CleanRequest `json:"request" array:"-"`
	Classes []string     `json:"classes"`
	Model   *Model       `json:"-" array:"model"`

	Wrong            []bool    `json:"-" array:"wrong"`
	WrongProbability []float64 `json:"-" array:"wrong_probability"`
	Suggested        []int32   `json:"-" array:"suggested"` // class
	Sure             []float64 `json:"-" array:"sure"`      // its probability
	Cleaned          []int32   `json:"-" array:"cleaned"`   // the label, or the suggestion
	Review           []int32   `json:"-" array:"review"`    // examples to check next, in order
	// why a label is wrong, "" if it is not
	Reasons []string `json:"reasons,omitempty"`
	// of the true classes, out of fold, n×Q
	Probabilities []float32 `json:"-" array:"probabilities"`

	CheckedRows int              `json:"checked"`
	WrongShare  *Share           `json:"wrong_labels"` // nil: unknown
	Corrected   int              `json:"corrected"`
	Candidates  []CleanCandidate `json:"candidates"`
	Chosen      string           `json:"chosen"`
	Error       Share            `json:"expected_error"` // of the model
	Confusion   [][]float64      `json:"confusion"`      // [noisy][true]; nil: no label is changed
	Errors      [][]float64      `json:"standard_error,omitempty"`
	Pairs       []Pair           `json:"pairs"` // of corrected labels, the most frequent first
	Judgement   *Judgement       `json:"judgement"`
	Notes       []Note           `json:"notes,omitempty"`
	Device      engine.Device    `json:"device"`
}

// Share is a share of the examples, with its 95 % interval if checked rows tell it.
type Share struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// CleanCandidate is a model of the contest and its result on held-out rows.
type CleanCandidate struct {
	Name    string   `json:"name"`
	Loss    *float64 `json:"loss"` // of noisy labels; nil if it does not predict them
	Wrong   int      `json:"wrong"`
	Checked int      `json:"checked"`
	Share   float64  `json:"share"` // of the model
}

// Pair counts the corrected rows of a pair of labels.
type Pair struct {
	From string `json:"given_label"`
	To   string `json:"right_label"`
	Rows int    `json:"rows"`
}
