package umagpu

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// EstimateNoiseRequest asks for the confusion matrix of labels. It is estimated from the first of
// these that is given: Counts; Probabilities; Data; True alone.
type EstimateNoiseRequest struct {
	Data   Data    `json:"data,omitzero"`    // the zero value for none
	Labels *Labels `json:"labels,omitempty"` // noisy; nil for the labels of FromDataset
	// True are the true classes of some examples, below 0 where they are unknown; nil for none.
	True []int32 `json:"-" array:"true"`
	// Probabilities are out-of-fold probabilities of the labels, n×Q; nil for none.
	Probabilities []float32  `json:"-" array:"probabilities"`
	Counts        *Confusion `json:"counts,omitempty"` // true against noisy labels, or shares
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
	// NotIdentified are the true classes whose columns the labels do not tell. By method auto, their
	// share of right labels is not known to 0.1, and the true classes of the examples ToIdentify, in
	// order, would tell it.
	NotIdentified []string      `json:"not_identified,omitempty"`
	ToIdentify    []int32       `json:"-" array:"to_identify"`
	Evidence      string        `json:"evidence,omitempty"`   // of method auto, that labels are wrong
	Hypotheses    []Hypothesis  `json:"hypotheses,omitempty"` // of method auto
	Notes         []Note        `json:"notes,omitempty"`
	Device        engine.Device `json:"device"`
}

// Check returns the fault of options that no data could satisfy.
func (r *EstimateNoiseRequest) Check() error {
	if err := checkParameters(r); err != nil {
		return err
	}
	if name := r.Settings.besides("seed", "time", "normalize", "kernel", "gamma", "coef0", "degree",
		"components", "landmarks", "normalize_components"); name != "" {
		return conflict(name, "a value", "none: the models are those of the method")
	}
	if r.Labels == nil && r.Data.set == nil {
		return invalid("labels", "none", "classes, and the noisy labels unless there are counts")
	}
	methods, source := []string{string(clean.CleanCounts)}, "counts"
	switch {
	case r.Counts != nil:
	case r.Probabilities != nil:
		methods = []string{string(clean.AutoNoise), string(clean.ConfidentJoint)}
		source = "probabilities"
	case r.Data.given() > 0:
		methods, source = nil, "data"
		for _, m := range clean.NoiseMethods {
			methods = append(methods, string(m))
		}
	case r.True == nil:
		return invalid("true", "none", "counts, probabilities, data, or true classes of some examples")
	}
	if r.Method != "" && !slices.Contains(methods, r.Method) {
		return invalid("method", strconv.Quote(r.Method),
			fmt.Sprintf("%s, for %s", strings.Join(methods, ", "), source))
	}
	_, err := r.Settings.options()
	return err
}

// besides names the first setting that has a value, besides some; "" for none.
func (s *Settings) besides(some ...string) (name string) {
	each(reflect.ValueOf(s).Elem(), func(field string, v reflect.Value) {
		none := v.IsZero() || v.Kind() == reflect.Map && v.Len() == 0
		if name == "" && !none && !slices.Contains(some, field) {
			name = field
		}
	})
	return name
}

// EstimateNoise estimates the confusion matrix of noisy labels. Examples without a label say
// nothing.
func EstimateNoise(ctx context.Context, r *EstimateNoiseRequest) (*EstimateNoiseResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	n := noiseEstimate{request: r, notes: notes{to: r.Compute.Note},
		result: &EstimateNoiseResult{Request: *r}}
	err := n.read(ctx)
	var found *estimate.Estimate
	if err == nil {
		found, err = n.find(ctx)
	}
	if err != nil {
		return nil, fault(ctx, err)
	}
	e, q := n.result, found.Q()
	e.Request.Data, e.Method, e.Classes = r.Data.described(), found.Method, found.Classes
	e.Confusion, e.Errors, e.Assumes = rows(found.P, q), rows(found.Error, q), found.Assumes
	e.NotIdentified = lists.At(found.Classes, found.Unidentified)
	for _, note := range found.Notes {
		n.notes.say("%s", note)
	}
	e.Notes = n.notes.all
	return e, nil
}

// noiseEstimate is a call of EstimateNoise.
type noiseEstimate struct {
	request *EstimateNoiseRequest
	result  *EstimateNoiseResult
	notes   notes
	set     *dataset.Dataset // of examples with a label; without features for none
	some    []int            // these, of those given
	right   []int32          // their true classes, below 0 where unknown; nil for none
	p       []float32        // their probabilities; nil for none
}

// read takes over the examples that have a label.
func (n *noiseEstimate) read(ctx context.Context) (err error) {
	r := n.request
	if l := r.Labels; r.Counts != nil && l == nil {
		n.set = r.Data.set
		return nil
	} else if r.Counts != nil {
		n.set = &dataset.Dataset{Classes: l.Classes, Examples: dataset.Examples{N: len(l.Codes)}}
		if l.Codes != nil {
			err = l.single(n.set)
		}
		return err
	}
	if r.Data.given() > 0 {
		n.set, err = r.Data.examples(ctx)
	} else {
		n.set = &dataset.Dataset{Examples: dataset.Examples{N: len(r.Labels.Codes)}}
	}
	if err != nil {
		return err
	}
	n.notes.read(n.set)
	if err = r.Labels.single(n.set); err == nil {
		err = checkTrue(r.True, "true", n.set)
	}
	q := len(n.set.Classes)
	if err == nil && r.Probabilities != nil {
		err = checkProbabilities(r.Probabilities, n.set.N, q)
	}
	if err != nil {
		return err
	}
	n.notes.giveAway(n.set)
	n.right, n.p = r.True, r.Probabilities
	some, labelled := withLabel(n.set)
	n.some = labelled
	switch {
	case len(labelled) == n.set.N:
		return nil
	case labelled == nil:
		return invalid("labels", "none", "a label of one example at least")
	}
	n.notes.say("%d of %d examples have no label, and say nothing", n.set.N-some.N, n.set.N)
	if n.set = some; n.right != nil {
		n.right = lists.At(n.right, labelled)
	}
	if n.p != nil {
		n.p = nil
		for _, i := range labelled {
			n.p = append(n.p, r.Probabilities[i*q:(i+1)*q]...)
		}
	}
	return nil
}

// find estimates from the first that is given.
func (n *noiseEstimate) find(ctx context.Context) (*estimate.Estimate, error) {
	r := n.request
	if r.Counts != nil {
		return n.byCounts()
	}
	o, err := r.Settings.options()
	if err != nil {
		return nil, err
	}
	o.Watch = host.Watch{Note: n.notes.say}
	how := clean.NoiseOptions{Options: o, Method: clean.NoiseMethod(r.Method), Right: n.right,
		Folds: cmp.Or(r.Folds, clean.DefaultNoiseFolds), Probabilities: n.p}
	var found *clean.Noise
	call := func(e *engine.Engine) (err error) {
		how.Engine = e
		found, err = clean.EstimateNoise(ctx, n.set, how)
		return err
	}
	switch {
	case n.p != nil:
		err = call(nil)
	case n.set.D == 0:
		how.Method = clean.CleanCounts
		err = call(nil)
	default:
		err = r.Compute.use(workOn(n.set), func(e *engine.Engine) error {
			n.result.Device = e.Device()
			return call(e)
		})
	}
	if err != nil {
		return nil, err
	}
	n.result.Hypotheses, n.result.Evidence = found.Hypotheses, found.Evidence
	for _, i := range found.ToIdentify {
		n.result.ToIdentify = append(n.result.ToIdentify, int32(n.some[i]))
	}
	return found.Estimate, nil
}

// byCounts estimates from a table of counts, or takes one of shares.
func (n *noiseEstimate) byCounts() (*estimate.Estimate, error) {
	c := n.request.Counts
	t, err := confusion.FromRows(n.set.Classes, c.P, c.Errors, c.Axes, labelCounts(n.set))
	if err != nil {
		return nil, &Fault{Kind: Invalid, Option: "counts", Cause: err}
	}
	if t.Counts {
		return estimate.FromCounts(t.Classes, t.V, nil)
	}
	m, err := t.Matrix()
	if err != nil {
		return nil, &Fault{Kind: Invalid, Option: "counts", Cause: err}
	}
	return &estimate.Estimate{Matrix: *m, Method: "table",
		Assumes: "the table is right; shares have no standard errors"}, nil
}
