// Package exchange trades models with other programs: it writes them as ONNX, as LIBLINEAR's text and as
// JSON, and makes them of coefficients that scikit-learn has found.
//
// What is written predicts what the model does, but for rounding: the readers add in another order than the
// numerics contract, so scores differ in their last bits, and classes where two scores are as near.
package exchange

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/model"
)

// ErrForm marks models that a form has no room for.
var ErrForm = errors.New("the model cannot be written so")

// Provenance says where a model comes from: what is needed to train it again, but for the data.
type Provenance struct {
	Tool        string          `json:"tool_version"`
	Contract    int             `json:"contract_version"` // of the numerics, by which the weights were computed
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
	Device      model.Device    `json:"device"`
}

// ProvenanceOf returns that of m, sharing its parameters.
func ProvenanceOf(m *model.Model) Provenance {
	t := &m.Meta
	p := Provenance{Tool: t.ToolVersion, Contract: t.ContractVersion, Learner: t.Learner, Parameters: t.Parameters,
		Seed: t.Seed, Weights: t.Weights, Steps: t.Steps, MaxSteps: t.MaxSteps, Stop: t.Stop,
		Preparation: t.Preparation.Steps.String(), From: t.From, DataSHA256: t.DataSHA256,
		Annotations: t.AnnotationsSHA256, Device: t.Device}
	if len(p.Parameters) == 0 {
		p.Parameters = json.RawMessage("{}")
	}
	return p
}

// integers returns the names of classes as integers of that many bits, if all are some and written as Go and
// Python write them: 7, but not 07.
func integers(names []string, bits int) ([]int64, bool) {
	list := make([]int64, len(names))
	for i, name := range names {
		v, err := strconv.ParseInt(name, 10, bits)
		if err != nil || strconv.FormatInt(v, 10) != name {
			return nil, false
		}
		list[i] = v
	}
	return list, true
}
