package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/judge/sets"
)

// Meta is meta.json: all metadata of a model.
//
// Everything but Device follows from the data, the options and the seed; two
// models trained by the same command on different devices differ in Device and
// nowhere else. Times are not part of it, so that a repeated run gives the
// same file.
type Meta struct {
	// FormatVersion is the version of the file format. Write ignores what it finds here.
	FormatVersion int    `json:"format_version"`
	ToolVersion   string `json:"tool_version"` // of the program that trained the model
	// ContractVersion is the version of the numerics contract by which W was computed: models of the
	// same version, data and parameters are equal. 1 or more.
	ContractVersion int `json:"contract_version"`
	// Classes are the names of the classes, at least two, all different, in the order of W's rows.
	Classes  []string `json:"classes"`
	Features Features `json:"features"`
	Training
	// Preparation is applied before predicting: from Features.Count features to the D columns of W.
	// It was fitted to the training features. Its float32 numbers survive JSON bit for bit.
	Preparation dataset.Preparation `json:"preparation"`
	// Kernel is the kernel PCA that follows, whose components W has for columns; nil if W has the
	// columns of the preparation.
	Kernel *Kernel `json:"kernel,omitempty"`
	Data
	Outcome
	Device Device `json:"device"`
}

// Training is how a model was asked to be learnt.
type Training struct {
	Learner string `json:"learner"` // its name in the catalog
	// Parameters are the learner's, one JSON object. Raw text keeps the order of keys and all digits
	// of numbers. Empty counts as {}.
	Parameters json.RawMessage `json:"parameters"`
	Seed       uint64          `json:"seed"` // of every random choice
	// Weights says which of the run's weights W holds, as the learner names them: "last", "average",
	// "best".
	Weights  string `json:"weights"`
	MaxSteps int    `json:"max_steps"` // allowed, 0 or more
	// From is the SHA-256 of W.npy of the model whose weights the training began with, in
	// hexadecimal; empty if it began with W = 0.
	From string `json:"from,omitempty"`
}

// Data is what a model was learnt from. Hashes are 64 hexadecimal digits in lower case.
type Data struct {
	DataSHA256 string `json:"data_sha256"` // of the training data; empty if it is not known
	// AnnotationsSHA256 is the hash of who labelled what how; empty if the labels were the data's
	// own.
	AnnotationsSHA256 string `json:"annotations_sha256,omitempty"`
	// Annotators are a copy of Model.Learned.Annotators in the file; empty in memory.
	Annotators []Annotator `json:"annotators,omitempty"`
}

// Outcome is how a training ended, and what is known of its result.
type Outcome struct {
	// CompressionSet are the training examples, from 0 upwards in increasing order, whose sum the
	// last weights are; empty if the learner does not tell.
	CompressionSet []int `json:"compression_set,omitempty"`
	// Condition is the condition number of the confusion matrix, at least 1; 0 if it is not known, or
	// if there is no matrix.
	Condition float64 `json:"condition_number"`
	Steps     int     `json:"steps"` // made
	// Stop says why training ended: "converged", "max-steps", "time", "interrupted", or "checkpoint"
	// if it had not.
	Stop string `json:"stop"`
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

// Device is where a model was trained. The only part of a model that may differ
// from one device to another.
type Device struct {
	// Kind is "cpu" or "opencl".
	Kind string `json:"kind"`
	// Name, Platform and Driver are what the device says of itself.
	Name     string `json:"name"`
	Platform string `json:"platform"`
	Driver   string `json:"driver"`
	// Conforming is false if the device failed the self-test of clause 12 and was
	// used all the same: W may then differ from other devices' as well.
	Conforming bool `json:"conforming"`
}

// Check says what keeps m from being written: names that are not unique or not
// UTF-8, NaN or infinite numbers, values out of range. It does not look at
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
		if fault := dataset.ClassFault(c); fault != "" && utf8.ValidString(c) {
			return fmt.Errorf("classes: name %q of class %d (from 0) %s, wanted one that a file and a "+
				"terminal show as it is", c, i, fault)
		}
	}
	if err := m.Features.check(); err != nil {
		return err
	}
	if m.ContractVersion < 1 {
		return fmt.Errorf("contract_version: found %d, wanted 1 or more", m.ContractVersion)
	}
	if err := m.Training.check(); err != nil {
		return err
	}
	for field, hash := range map[string]string{"data_sha256": m.DataSHA256, "from": m.From,
		"annotations_sha256": m.AnnotationsSHA256} {
		if hash != "" && !isHash(hash) {
			return fmt.Errorf("%s: found %q, wanted 64 hexadecimal digits in lower case, or none", field,
				hash)
		}
	}
	if err := m.Outcome.check(); err != nil {
		return err
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
	return m.checkText()
}

// check says what is wrong with t.
func (t *Training) check() error {
	if t.Learner == "" {
		return errors.New("learner: found no name, wanted one of the catalog")
	}
	if t.Weights == "" {
		return errors.New("weights: found no name, wanted one of the learner's, such as best")
	}
	if !slices.Contains([]string{"last", "average", "best", "best-average"}, t.Weights) {
		return fmt.Errorf("weights: found %.60q, wanted last, average, best or best-average", t.Weights)
	}
	if t.MaxSteps < 0 {
		return fmt.Errorf("max_steps: found %d, wanted 0 or more", t.MaxSteps)
	}
	if raw := bytes.TrimSpace(t.Parameters); len(t.Parameters) > 0 &&
		(!json.Valid(raw) || raw[0] != '{' || !utf8.Valid(raw)) {
		return fmt.Errorf("parameters: found %.40q, wanted one JSON object", raw)
	}
	return nil
}

// check says what is wrong with o.
func (o *Outcome) check() error {
	for k, i := range o.CompressionSet {
		if i < 0 || k > 0 && i <= o.CompressionSet[k-1] {
			return fmt.Errorf("compression_set: found example %d at place %d, wanted examples from 0 "+
				"upwards, in increasing order", i, k)
		}
	}
	if !finite(o.Condition) || o.Condition < 0 {
		return fmt.Errorf("condition_number: found %v, wanted a finite number of at least 1, or 0 for "+
			"unknown", o.Condition)
	}
	if o.Steps < 0 {
		return fmt.Errorf("steps: found %d, wanted 0 or more", o.Steps)
	}
	if o.Temperature != 0 && !(o.Temperature >= 0x1p-126 && o.Temperature <= math.MaxFloat32) {
		return fmt.Errorf("temperature: found %v, wanted a normal float32 above 0, or none",
			o.Temperature)
	}
	if o.EstimatedError != nil && !finite(*o.EstimatedError) {
		return fmt.Errorf("estimated_error: found %v, wanted a finite number, or null", *o.EstimatedError)
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

// checkText refuses text that JSON would silently change: a byte that is no UTF-8
// becomes U+FFFD there, and two classes could become one.
func (m *Meta) checkText() error {
	texts := []struct {
		field string
		text  []string
	}{
		{"classes", m.Classes},
		{"features", m.Features.Names},
		{"tool_version", []string{m.ToolVersion}},
		{"learner", []string{m.Learner}},
		{"weights", []string{m.Weights}},
		{"stop", []string{m.Stop}},
		{"annotators", names(m.Annotators)},
		{"device", []string{m.Device.Kind, m.Device.Name, m.Device.Platform, m.Device.Driver}},
	}
	for _, f := range texts {
		for _, s := range f.text {
			if !utf8.ValidString(s) {
				return fmt.Errorf("%s: found %q, which is not UTF-8: convert the data file to UTF-8 (iconv -t "+
					"UTF-8)", f.field, s)
			}
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

func isHash(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// encode returns the text of meta.json: one field to a line, for people, and each
// field without spaces, for a file of many columns is long enough.
func (m Meta) encode() ([]byte, error) {
	m.FormatVersion = FormatVersion
	if len(m.Parameters) == 0 {
		m.Parameters = json.RawMessage("{}")
	}
	var flat bytes.Buffer
	enc := json.NewEncoder(&flat)
	enc.SetEscapeHTML(false) // a class named <=50K should look like that
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("meta.json: %w", err)
	}
	dec := json.NewDecoder(&flat)
	if _, err := dec.Token(); err != nil { // the opening brace
		return nil, fmt.Errorf("meta.json: %w", err)
	}
	var out bytes.Buffer
	separator := "{\n  "
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("meta.json: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("meta.json: %w", err)
		}
		fmt.Fprintf(&out, "%s%q: %s", separator, key, value)
		separator = ",\n  "
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

// decodeMeta reads the text of meta.json. The version is looked at first, because another version
// explains whatever else looks wrong.
func decodeMeta(text []byte) (Meta, error) {
	var version struct {
		V *int `json:"format_version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return Meta{}, err
	}
	switch v := version.V; {
	case v == nil:
		return Meta{}, errors.New("found no format_version: this is not a model of uma-gpu")
	case *v != FormatVersion:
		return Meta{}, fmt.Errorf("found format_version %d, wanted %d: the file was written by another "+
			"version of uma-gpu; train again, or use that version", *v, FormatVersion)
	}
	if !utf8.Valid(text) {
		return Meta{}, errors.New("found bytes that are not UTF-8")
	}
	var m Meta
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return Meta{}, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return Meta{}, errors.New("found more text after the object, wanted none")
	}
	if len(m.Parameters) == 0 {
		return Meta{}, errors.New("found no parameters, wanted them, or {} if there are none")
	}
	return m, nil
}
