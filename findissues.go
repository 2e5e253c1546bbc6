package umagpu

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// FindIssuesRequest asks which labels are likely wrong, given that some are. A mixture of models
// judges, or Probabilities.
type FindIssuesRequest struct {
	Data      Data       `json:"data,omitzero"`       // the zero value for none, with Probabilities
	Labels    *Labels    `json:"labels,omitempty"`    // noisy; nil for the labels of FromDataset
	Confusion *Confusion `json:"confusion,omitempty"` // nil to estimate it
	// Probabilities are out-of-fold probabilities of classes by any program, n×Q; nil to train models.
	Probabilities []float32 `json:"-" array:"probabilities"`
	Normalize     string    `json:"normalize,omitempty"`
	Seed          uint64    `json:"seed,omitempty"`   // of votes that tie
	Survey        bool      `json:"survey,omitempty"` // also say what is odd about the data as a whole
	Compute       Compute   `json:"-"`
}

// FindIssuesResult has a value for each example. An example without a label is no issue.
type FindIssuesResult struct {
	Request FindIssuesRequest `json:"request" array:"-"`
	Classes []string          `json:"classes"`
	// the label is more likely wrong than right
	Wrong    []bool    `json:"-" array:"wrong"`
	Quality  []float64 `json:"-" array:"quality"`  // probability that the label is right
	Likely   []int32   `json:"-" array:"likely"`   // most likely class; -1 if nothing tells
	Sure     []float64 `json:"-" array:"sure"`     // its probability
	Same     []int32   `json:"-" array:"same"`     // first example of equal features
	Conflict []bool    `json:"-" array:"conflict"` // equal examples have other labels
	Learner  string    `json:"learner"`            // that judged, or won
	Folds    int       `json:"folds,omitempty"`    // 0 if nothing was trained
	Method   string    `json:"estimated_by"`       // of the confusion; "" if it was given
	// that judged, [noisy][true]; nil of annotators
	Noise    [][]float64 `json:"confusion,omitempty"`
	Evidence string      `json:"evidence,omitempty"` // that labels are wrong; "" of annotators
	// Of an estimated confusion matrix, as in CleanResult; nil of others.
	WrongShare *Share `json:"wrong_labels,omitempty"`
	// NotIdentified are the true classes whose share of right labels is not known to 0.1. The true
	// classes of the examples ToIdentify, in order, would tell it.
	NotIdentified []string `json:"not_identified,omitempty"`
	ToIdentify    []int32  `json:"-" array:"to_identify"`

	Survey *Survey       `json:"survey,omitempty"`
	Notes  []Note        `json:"notes,omitempty"`
	Device engine.Device `json:"device"`
}

// Check returns the fault of options that no data could satisfy.
func (r *FindIssuesRequest) Check() error {
	if err := checkParameters(r); err != nil {
		return err
	}
	switch {
	case r.Probabilities != nil && r.Normalize != "":
		return conflict("normalize", "a value beside probabilities", "one of them: nothing is trained")
	case r.Probabilities == nil && r.Data.given() == 0:
		return conflict("data", "none", "examples, or probabilities")
	case r.Survey && r.Data.given() == 0:
		return conflict("survey", "no data", "examples too")
	}
	_, err := preparation(r.Normalize)
	return err
}

// FindIssues judges each label by models that have not seen it, given that some labels are wrong.
// Examples of equal features have one class.
func FindIssues(ctx context.Context, r *FindIssuesRequest) (*FindIssuesResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	f := issueFinder{request: r, notes: notes{to: r.Compute.Note},
		result: &FindIssuesResult{Request: *r}}
	if err := f.read(ctx); err != nil {
		return nil, fault(ctx, err)
	}
	judge := func(e *engine.Engine) (err error) {
		if r.Probabilities != nil {
			err = f.enter(clean.Find(ctx, f.set, clean.Options{Given: f.noise,
				Probabilities: r.Probabilities, Options: host.Options{
					Watch: host.Watch{Note: f.notes.say}}}))
		} else {
			err = f.find(ctx, e)
		}
		if err == nil && r.Survey {
			err = f.survey(ctx, e)
		}
		return err
	}
	var err error
	if r.Probabilities != nil && !r.Survey {
		err = judge(nil)
	} else {
		err = r.Compute.use(workOn(f.set), func(e *engine.Engine) error {
			f.result.Device = e.Device()
			return judge(e)
		})
	}
	if err != nil {
		return nil, fault(ctx, err)
	}
	f.result.Request.Data, f.result.Notes = r.Data.described(), f.notes.all
	return f.result, nil
}

// issueFinder is a call of FindIssues.
type issueFinder struct {
	request     *FindIssuesRequest
	result      *FindIssuesResult
	notes       notes
	set         *dataset.Dataset
	noise       *confusion.Matrix // given; nil for none
	annotations *dataset.Annotations
}

// read takes over the data and the labels.
func (f *issueFinder) read(ctx context.Context) (err error) {
	r := f.request
	if r.Data.given() > 0 {
		f.set, err = r.Data.examples(ctx)
	} else if r.Labels == nil {
		err = invalid("labels", "none", "a label for each row of the probabilities")
	} else {
		f.set = &dataset.Dataset{Examples: dataset.Examples{N: len(r.Labels.Codes)}}
	}
	if err != nil {
		return err
	}
	f.notes.read(f.set)
	if l := r.Labels; l != nil && l.Votes != nil && !l.Votes.Functions && r.Probabilities == nil {
		err = f.vote(l)
	} else {
		err = l.single(f.set)
	}
	if err != nil {
		return err
	}
	f.notes.giveAway(f.set)
	if f.result.Classes = f.set.Classes; r.Probabilities != nil {
		err = checkProbabilities(r.Probabilities, f.set.N, len(f.set.Classes))
	}
	if err == nil {
		f.noise, err = r.Confusion.matrix(f.set, &f.notes)
	}
	if f.noise == nil && f.annotations == nil {
		f.notes.say("confusion matrix: not given, estimated")
	}
	return err
}

// vote takes the votes of annotators for labels.
func (f *issueFinder) vote(l *Labels) error {
	if err := l.Check(f.set.N); err != nil {
		return err
	}
	if f.request.Confusion != nil {
		return conflict("confusion", "a matrix beside annotators",
			"one of them: each annotator's is learned")
	}
	if l.Weights != nil {
		return conflict("weights", "weights beside annotators", "one of them")
	}
	a := l.Votes.annotations(f.set.N, l.Classes)
	voted := a.Labelled()
	f.annotations = a.Pick(voted)
	f.set.Classes, f.set.Y = l.Classes, slices.Repeat([]int32{dataset.Unlabelled}, f.set.N)
	for k, y := range f.annotations.Votes(cmp.Or(f.request.Seed, 1)) {
		f.set.Y[voted[k]] = y
	}
	return nil
}

// checkProbabilities returns the fault of probabilities of q classes of n examples.
func checkProbabilities(p []float32, n, q int) error {
	if len(p) != n*q {
		return invalid("probabilities", fmt.Sprintf("%d numbers", len(p)),
			fmt.Sprintf("%d, one for each of %d examples and %d classes", n*q, n, q))
	}
	for i := range n {
		sum := 0.0
		for k, v := range p[i*q : (i+1)*q] {
			if sum += float64(v); !(v >= 0 && v <= 1+1e-5) { // what rounding may have added
				return &Fault{Kind: Invalid, Option: "probabilities", Row: &i,
					Where: fmt.Sprintf("column %d", k), Got: fmt.Sprint(v), Want: "a number from 0 to 1"}
			}
		}
		const slack = 1e-3 // what printing with few digits leaves
		if math.Abs(sum-1) > slack*math.Sqrt(float64(q)) {
			return &Fault{Kind: Invalid, Option: "probabilities", Row: &i, Got: fmt.Sprintf("the sum %.6g",
				sum), Want: "1", Advice: "divide each row by its sum"}
		}
	}
	return nil
}

// find judges the labels by models.
func (f *issueFinder) find(ctx context.Context, e *engine.Engine) error {
	f.result.Folds = clean.DefaultFolds
	o := host.Options{Engine: e, Seed: cmp.Or(f.request.Seed, 1), Tool: Version,
		Watch: host.Watch{Note: f.notes.say}}
	o.Preparation, _ = preparation(f.request.Normalize)
	if f.annotations == nil {
		return f.enter(clean.Find(ctx, f.set, clean.Options{Options: o, Given: f.noise}))
	}
	some, labelled := withLabel(f.set)
	p := softmax.Defaults()
	p.Correction = learners.EM
	o.Learner, o.Annotations = p, f.annotations
	held, err := host.OutOfFold(ctx, some, nil, o, clean.DefaultFolds)
	if err != nil {
		return err
	}
	likely, err := held.Probabilities()
	if err != nil {
		return &Fault{Kind: Unfit, Option: "labels", Got: err.Error(),
			Want: "features and votes that tell the classes apart"}
	}
	f.result.Learner = p.Definition().Name
	same := dataset.Firsts(some.Examples)
	found, err := estimate.FindCrowdIssues(likely, f.annotations, some.Y, same,
		func(i int) []confusion.Annotator { return held.Learned[held.Fold[i]].Annotators })
	if err == nil {
		f.fill(found, same, labelled)
	}
	return err
}

// enter enters what was found of all examples.
func (f *issueFinder) enter(found *clean.Result, err error) error {
	if err != nil {
		return err
	}
	f.fill(found.Issues, found.Same, lists.UpTo[int](f.set.N))
	r := f.result
	r.Learner, r.Noise = found.By, rows(found.Noise.P, len(f.set.Classes))
	r.Evidence, r.ToIdentify = found.Evidence(), lists.As[int32](found.ToIdentify)
	r.NotIdentified = lists.At(f.set.Classes, found.Noise.Unidentified)
	if f.noise == nil {
		r.Method, r.WrongShare = found.Noise.Method, &found.Wrong
	}
	return nil
}

// fill enters the judgements of some examples, same as in dataset.Firsts, nil of different ones.
// Others have no label, and nothing tells of them.
func (f *issueFinder) fill(found []estimate.Issue, same []int32, some []int) {
	r, n := f.result, f.set.N
	r.Wrong, r.Likely = make([]bool, n), slices.Repeat([]int32{-1}, n)
	r.Quality, r.Sure = slices.Repeat([]float64{1}, n), make([]float64, n)
	for k, i := range some {
		is := found[k]
		r.Wrong[i], r.Likely[i], r.Quality[i], r.Sure[i] = is.Wrong, is.Likely, is.Quality, is.Sure
	}
	switch r.Same = same; {
	case same == nil:
		r.Same = lists.UpTo[int32](n)
	case len(some) < n: // of some
		r.Same = dataset.Firsts(f.set.Examples)
	}
	labels, several := slices.Repeat([]int32{-1}, n), make([]bool, n) // by the first of equal ones
	for i, first := range r.Same {
		switch y := f.set.Y[i]; {
		case y < 0 || labels[first] == y:
		case labels[first] < 0:
			labels[first] = y
		default:
			several[first] = true
		}
	}
	for _, first := range r.Same {
		r.Conflict = append(r.Conflict, several[first])
	}
}
