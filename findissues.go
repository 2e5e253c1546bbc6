package umagpu

import "github.com/uma-gpu/uma-gpu/host/engine"

// FindIssuesRequest asks which labels are likely wrong, given that some are.
type FindIssuesRequest struct {
	Data      Data       `json:"data,omitzero"`       // the zero value for none, with Probabilities
	Labels    *Labels    `json:"labels,omitempty"`    // noisy; nil for those of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // nil to estimate it
	// Probabilities are out-of-fold probabilities of classes by any program, n×Q; nil to train models.
	Probabilities []float32 `json:"-" array:"probabilities"`
	// Settings choose the only model that judges; zero values let several compete.
	Settings
	Folds   int     `json:"folds,omitempty"`
	Survey  bool    `json:"survey,omitempty"` // also say what is odd about the data as a whole
	Compute Compute `json:"-"`
}

// FindIssuesResult has a value for each example. An example without a label is no issue.
type FindIssuesResult struct {
	Request FindIssuesRequest `json:"request" array:"-"`
	Classes []string          `json:"classes"`
	// the label is more likely wrong than right
	Wrong    []bool    `json:"-" array:"wrong"`
	Quality  []float64 `json:"-" array:"quality"`  // probability that the label is right
	Likely   []int32   `json:"-" array:"likely"`   // most likely class
	Sure     []float64 `json:"-" array:"sure"`     // its probability
	Same     []int32   `json:"-" array:"same"`     // first example of equal features
	Conflict []bool    `json:"-" array:"conflict"` // equal examples have other labels
	Learner  string    `json:"learner"`            // that judged, or won
	Folds    int       `json:"folds,omitempty"`    // 0 if nothing was trained
	Method   string    `json:"estimated_by"`       // of the confusion; "" if it was given
	// that judged, [noisy][true]; nil of annotators
	Noise  [][]float64   `json:"confusion,omitempty"`
	Survey *Survey       `json:"survey,omitempty"`
	Notes  []Note        `json:"notes,omitempty"`
	Device engine.Device `json:"device"`
}

// Survey is what is odd about data as a whole. Examples are counted from 0.
type Survey struct {
	Neighbours     int       `json:"neighbours"` // of a row; 0: too few rows to tell
	NearDuplicates [][]int   `json:"near_duplicates"`
	Conflicts      int       `json:"near_duplicates_with_other_labels"` // sets
	Outliers       []Outlier `json:"outliers"`                          // the farthest first
	// that the order of the rows is by chance
	OrderP      float64   `json:"order_p"`
	BadClasses  []Group   `json:"bad_classes"`
	BadGroups   []Group   `json:"bad_groups"`
	RareClasses []string  `json:"rare_classes"`
	Missing     []Missing `json:"missing"`
}

// Outlier is an example far from all others, by the mean distance to its neighbours; 1 is the
// median.
type Outlier struct {
	Example  int     `json:"example"`
	Distance float64 `json:"distance"`
}

// Group is a class, or an example and its neighbours, whose labels are wrong more often.
type Group struct {
	Class    string `json:"class,omitempty"`
	Example  int    `json:"example,omitempty"`
	Examples int    `json:"examples"`
	Issues   int    `json:"issues"`
}

// Missing counts the missing values of a column.
type Missing struct {
	Column string `json:"column"`
	Values int    `json:"values"`
}
