package model

import "encoding/json"

// Provenance says where a model comes from: what is needed to train it again, but for the data.
type Provenance struct {
	Tool string `json:"tool_version"`
	// of the numerics, by which the weights were computed
	Contract    int             `json:"contract_version"`
	Learner     string          `json:"learner"`
	Parameters  json.RawMessage `json:"parameters"` // of the learner
	Seed        uint64          `json:"seed"`
	Weights     string          `json:"weights"` // which of the run's: last, average, best, …
	Steps       int             `json:"steps"`
	MaxSteps    int             `json:"max_steps"`
	Stop        string          `json:"stop"` // why the training ended
	Preparation string          `json:"preparation"`
	From        string          `json:"from,omitempty"` // SHA-256 of the weights that it began with
	DataSHA256  string          `json:"data_sha256"`    // of the training data; empty if not known
	Annotations string          `json:"annotations_sha256,omitempty"`
	Device      Device          `json:"device"`
}

// Provenance returns the provenance of the model, sharing its parameters.
func (t *Meta) Provenance() Provenance {
	p := Provenance{Tool: t.ToolVersion, Contract: t.ContractVersion, Learner: t.Learner,
		Parameters: t.Parameters,
		Seed:       t.Seed, Weights: t.Weights, Steps: t.Steps, MaxSteps: t.MaxSteps, Stop: t.Stop,
		Preparation: t.Preparation.Steps.String(), From: t.From, DataSHA256: t.DataSHA256,
		Annotations: t.AnnotationsSHA256, Device: t.Device}
	if len(p.Parameters) == 0 {
		p.Parameters = json.RawMessage("{}")
	}
	return p
}
