package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
	"github.com/uma-gpu/uma-gpu/internal/wire"
)

// Meta is meta.json: all metadata of a model.
//
// Everything but Device follows from the data, the options and the seed; two models trained by the
// same command on different devices differ in Device and nowhere else. Times are not part of it, so
// that a repeated run gives the same file.
type Meta struct {
	// FormatVersion is the version of the file format. Write ignores what it finds here.
	FormatVersion int `json:"format_version"`
	Provenance
	// Classes are the names of the classes, at least two, all different, in the order of W's rows.
	Classes  []string `json:"classes"`
	Features Features `json:"features"`
	// Preparation is applied before predicting: from Features.Count features to the D columns of W.
	// It was fitted to the training features. Its float32 numbers survive JSON bit for bit.
	Preparation dataset.Preparation `json:"preparation"`
	// Kernel is the kernel PCA that follows, whose components W has for columns; nil if W has the
	// columns of the preparation.
	Kernel *Kernel `json:"kernel,omitempty"`
	// Trees says what the trees of the model look at; nil for a model without trees.
	Trees *Trees `json:"trees,omitempty"`
	// Shares are how much the probabilities of each member of a mixture count: above 0, with the sum
	// 1; empty of any other model.
	Shares []float64 `json:"shares,omitempty"`
	// Annotators are who labelled the training data; nil if nobody knows.
	Annotators []Annotator `json:"annotators,omitempty"`
	// Condition is the condition number of the confusion matrix, at least 1; 0 if it is not known, or
	// if there is no matrix.
	Condition float64 `json:"condition_number"`
	// EstimatedError is the estimated clean error of W on the training data (clause 10), nil if the
	// learner does not estimate it. Noise can push the estimate below 0 or above 1.
	EstimatedError *float64 `json:"estimated_error"`
	// Temperature is what scores are divided by before softmax makes probabilities of them: a normal
	// float32 above 0; 0 if none was fitted.
	Temperature float32 `json:"temperature,omitempty"`
	// Sets are rules of prediction sets by probabilities of Temperature, one for each level; empty if
	// none was calibrated.
	Sets []sets.Rule `json:"sets,omitempty"`
}

// Provenance says where a model comes from: what is needed to train it again, but for the data.
// Hashes are SHA-256 in hexadecimal.
type Provenance struct {
	ToolVersion string `json:"tool_version"` // of the program that trained the model
	// ContractVersion is the version of the numerics contract by which W was computed: models of the
	// same version, data and parameters are equal. 1 or more.
	ContractVersion int    `json:"contract_version"`
	Learner         string `json:"learner"` // its name in the catalog
	// Parameters are the learner's, one JSON object. Raw text keeps the order of keys and all digits
	// of numbers.
	Parameters json.RawMessage `json:"parameters"`
	Seed       uint64          `json:"seed"` // of every random choice
	// Weights says which of the run's weights W holds, as the learner names them: "last", "average",
	// "best".
	Weights  string `json:"weights"`
	MaxSteps int    `json:"max_steps"` // allowed
	Steps    int    `json:"steps"`     // made
	// Stop says why training ended: "converged", "max-steps", "time", "interrupted", or "checkpoint"
	// if it had not.
	Stop string `json:"stop"`
	// From is the hash of W.npy of the model whose weights the training began with; empty if it began
	// with W = 0.
	From       string `json:"from,omitempty"`
	DataSHA256 string `json:"data_sha256"` // of the training data; empty if it is not known
	// AnnotationsSHA256 is the hash of who labelled what how; empty if the labels were the data's
	// own.
	AnnotationsSHA256 string `json:"annotations_sha256,omitempty"`
	// Device is where the model was trained, without its ID: the only part of a model that may differ
	// from one device to another.
	Device engine.Device `json:"device"`
}

// Annotator is one of those who labelled.
type Annotator struct {
	Name   string `json:"name"`
	Labels int    `json:"labels"` // that the annotator gave
}

// Features describes the columns of the data file, before preparation.
type Features struct {
	// Count is the number of features, at least 1.
	Count int `json:"count"`
	// Names are their names, Count of them in order, or none.
	Names []string `json:"names,omitempty"`
	// Encoding says which columns of a table they were made of, nil if each is a column of numbers.
	Encoding *dataset.Encoding `json:"encoding,omitempty"`
}

// check says what is wrong with f.
func (f *Features) check() error {
	if f.Count < 1 {
		return fmt.Errorf("features: found a count of %d, wanted at least 1", f.Count)
	}
	if n := len(f.Names); n != 0 && n != f.Count {
		return fmt.Errorf("features: found %d names, wanted %d or none", n, f.Count)
	}
	e := f.Encoding
	if e == nil {
		return nil
	}
	if err := e.Check(); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	if e.Width() != f.Count || !slices.Equal(e.FeatureNames(), f.Names) {
		return fmt.Errorf("features: found an encoding of %d features, wanted one of the %d features "+
			"and of their names", e.Width(), f.Count)
	}
	return nil
}

// Check says what keeps m from describing a model: classes that are not distinct names, features,
// preparations, temperatures and prediction sets that do not fit together. It does not look at
// FormatVersion. A program that trains for long can call it before it starts.
func (m *Meta) Check() error {
	if err := m.check(); err != nil {
		return fmt.Errorf("meta.json: %w", err)
	}
	return nil
}

func (m *Meta) check() error {
	if len(m.Classes) < 2 {
		return fmt.Errorf("classes: found %d, wanted at least 2", len(m.Classes))
	}
	first := make(map[string]int, len(m.Classes))
	for i, c := range m.Classes {
		if k, ok := first[c]; ok {
			return fmt.Errorf("classes: %q is found twice, as class %d and class %d (from 0), wanted "+
				"different names", c, k, i)
		}
		first[c] = i
		if fault := dataset.NameFault(c); fault != "" {
			return fmt.Errorf("classes: name %q of class %d (from 0) %s, wanted one that JSON holds", c, i,
				fault)
		}
	}
	if err := m.Features.check(); err != nil {
		return err
	}
	if t := m.Temperature; t != 0 && !(t >= 0x1p-126 && t <= math.MaxFloat32) {
		return fmt.Errorf("temperature: found %v, wanted a normal float32 above 0, or none", t)
	}
	if err := m.checkSets(); err != nil {
		return err
	}
	if err := checkPreparation(&m.Preparation, m.Features.Count, "the count of features"); err != nil {
		return fmt.Errorf("preparation: %w", err)
	}
	if m.Kernel != nil {
		if err := m.Kernel.check(); err != nil {
			return fmt.Errorf("kernel: %w", err)
		}
	}
	return nil
}

// checkSets says what is wrong with the rules of prediction sets.
func (m *Meta) checkSets() error {
	for k, r := range m.Sets {
		if err := r.Check(); err != nil {
			return fmt.Errorf("sets: %w", err)
		}
		if m.Temperature == 0 || len(r.Thresholds) != len(m.Classes) {
			return fmt.Errorf("sets: level %v: found %d thresholds and temperature %v, wanted one for each "+
				"of %d classes and a temperature", r.Level, len(r.Thresholds), m.Temperature, len(m.Classes))
		}
		for _, t := range r.Thresholds {
			if !(t >= 0 && t <= sets.Always) {
				return fmt.Errorf("sets: level %v: found threshold %v, wanted 0 to %d", r.Level, t, sets.Always)
			}
		}
		if k > 0 && r.Level <= m.Sets[k-1].Level {
			return fmt.Errorf("sets: found level %v after %v, wanted levels in increasing order", r.Level,
				m.Sets[k-1].Level)
		}
	}
	return nil
}

// checkPreparation judges a preparation of d numbers, which what names.
func checkPreparation(p *dataset.Preparation, d int, what string) error {
	if p.D != d {
		return fmt.Errorf("found one of %d features, wanted %d, %s", p.D, d, what)
	}
	if len(p.A) != len(p.B) || len(p.A) != 0 && len(p.A) != p.D {
		return fmt.Errorf("found %d factors a and %d offsets b, wanted %d of each or none", len(p.A),
			len(p.B), p.D)
	}
	if mapped := p.Steps.Standardize || p.Steps.MaxAbs; mapped != (len(p.A) > 0) {
		return fmt.Errorf("found %d factors a for the steps %s", len(p.A), p.Steps)
	}
	for j := range p.A {
		if !finite(float64(p.A[j])) || !finite(float64(p.B[j])) {
			return fmt.Errorf("found v·%v + %v for column %d (from 0), wanted finite numbers", p.A[j],
				p.B[j], j)
		}
	}
	return nil
}

// TrainedOn reports whether d are the data that m was trained on, as far as hashes tell.
func (m *Meta) TrainedOn(d *dataset.Dataset) bool {
	hash := d.SHA256
	if hash == "" && d.Prepared == nil {
		hash = d.Hash()
	}
	return hash != "" && hash == m.DataSHA256
}

// encode returns the text of meta.json. Names that are not UTF-8, which JSON would silently change,
// are an error.
func (m Meta) encode() ([]byte, error) {
	m.FormatVersion = FormatVersion
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // a class named <=50K should look like that
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("meta.json: %w", err)
	}
	if bytes.Contains(text.Bytes(), []byte(`\ufffd`)) { // in place of bytes that are no UTF-8
		return nil, errors.New("meta.json: found a name that is not UTF-8: convert the data file to " +
			"UTF-8 (iconv -t UTF-8)")
	}
	return text.Bytes(), nil
}

// decodeMeta reads the text of meta.json. The version is looked at first, because another version
// explains whatever else looks wrong.
func decodeMeta(text []byte) (m Meta, err error) {
	var version struct {
		V *int `json:"format_version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return m, err
	}
	switch v := version.V; {
	case v == nil:
		return m, errors.New("found no format_version: this is not a model of uma-gpu")
	case *v != FormatVersion:
		return m, fmt.Errorf("found format_version %d, wanted %d: the file was written by another "+
			"version of uma-gpu; train again, or use that version", *v, FormatVersion)
	case !utf8.Valid(text):
		return m, errors.New("found bytes that are not UTF-8")
	}
	return m, wire.Strict(text, &m)
}
