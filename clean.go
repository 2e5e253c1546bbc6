package umagpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// CleanRequest asks which labels are wrong, if any are, for the right ones, and for a model. An
// example without a label is no issue; it gets a suggestion.
type CleanRequest struct {
	Data   Data    `json:"data,omitzero"`
	Labels *Labels `json:"labels,omitempty"` // nil for the labels of FromDataset
	// Confusion is the noise of the labels; nil to estimate it.
	Confusion *Confusion `json:"confusion,omitempty"`
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
	// Cleaned is the label, the suggestion if that is wrong, or below 0 if there is none.
	Cleaned []int32 `json:"-" array:"cleaned"`
	Review  []int32 `json:"-" array:"review"` // examples to check next, in order
	// why a label is wrong, "" of another one; nil if all are right
	Reasons []string `json:"reasons,omitempty"`
	// of the true classes, out of fold, n×Q
	Probabilities []float32 `json:"-" array:"probabilities"`

	CheckedRows int   `json:"checked"`
	WrongShare  Share `json:"wrong_labels"`
	Corrected   int   `json:"corrected"`
	// Shown reports that held-out labels, or checked examples, show that labels are wrong; otherwise
	// suspects may be rows of overlapping classes.
	Shown    bool   `json:"shown"`
	Evidence string `json:"evidence"` // for Shown, in words
	// Repetitions counts how often the folds were drawn; Agreeing counts the repetitions that give
	// the value of Shown by themselves.
	Repetitions int          `json:"repetitions"`
	Agreeing    int          `json:"agreeing"`
	Bases       []Base       `json:"models"`     // whose mixture judges
	Hypotheses  []Hypothesis `json:"hypotheses"` // on the confusion
	Error       Share        `json:"expected_error"`
	Confusion   [][]float64  `json:"confusion"` // [noisy][true]
	Errors      [][]float64  `json:"standard_error,omitempty"`
	// NotIdentified are the true classes whose share of right labels is not known to 0.1. The true
	// classes of the examples ToIdentify, in order, would tell it.
	NotIdentified []string      `json:"not_identified,omitempty"`
	ToIdentify    []int32       `json:"-" array:"to_identify"`
	Pairs         []Pair        `json:"pairs"` // of corrected labels, the most frequent first
	Judgement     *Judgement    `json:"judgement"`
	Notes         []Note        `json:"notes,omitempty"`
	Device        engine.Device `json:"device"`
}

// Share is a share of the examples, with a 95 % interval where that is known.
type Share = clean.Share

// Base is a kind of model in the mixture that judges labels.
type Base = clean.Base

// Hypothesis is a confusion matrix that may explain the labels, and how well it does.
type Hypothesis = clean.Hypothesis

// Pair counts the corrected rows of a pair of labels.
type Pair struct {
	From string `json:"given_label"`
	To   string `json:"right_label"`
	Rows int    `json:"rows"`
}

// Check returns the fault of options that no data could satisfy.
func (r *CleanRequest) Check() error {
	if err := checkParameters(r); err != nil {
		return err
	}
	_, err := preparation(r.Normalize)
	return err
}

// preparation returns the steps of a preparation as package host has them.
func preparation(normalize string) (string, error) {
	if normalize == "" || normalize == "auto" {
		return "", nil
	}
	if _, err := dataset.ParseSteps(normalize); err != nil {
		return "", &Fault{Kind: Invalid, Option: "normalize", Cause: err}
	}
	return normalize, nil
}

// Clean estimates which labels are wrong, by a mixture of models that have not seen them and by the
// given confusion matrix, or estimates of it that compete to explain them, and learns a model of
// the true classes. It changes the labels that FindIssues calls wrong. Row i of the result is
// example i of the data.
func Clean(ctx context.Context, r *CleanRequest) (*CleanResult, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	said := notes{to: r.Compute.Note}
	set, err := labelled(ctx, &r.Data, r.Labels, &said)
	var noise *confusion.Matrix
	if err == nil {
		err = checkTrue(r.Checked, "checked", set)
	}
	if err == nil {
		noise, err = r.Confusion.matrix(set, &said)
	}
	if err != nil {
		return nil, fault(ctx, err)
	}
	o := clean.Options{Right: r.Checked, Given: noise, Options: host.Options{
		Seed: cmp.Or(r.Seed, 1), Tool: Version, Watch: host.Watch{Note: said.say}}}
	o.Preparation, _ = preparation(r.Normalize)
	result := &CleanResult{Request: *r, Classes: set.Classes}
	err = r.Compute.use(workOn(set), func(e *engine.Engine) error {
		o.Engine, result.Device = e, e.Device()
		found, err := clean.Find(ctx, set, o)
		if err != nil {
			return err
		}
		m, err := clean.Learn(ctx, set, o, found)
		if err != nil {
			return err
		}
		result.Model = &Model{m}
		return result.fill(set, found, r.Checked)
	})
	if err != nil {
		return nil, fault(ctx, err)
	}
	result.Request.Data, result.Notes = r.Data.described(), said.all
	return result, nil
}

// labelled returns the examples of d with the labels, -1 where there is none.
func labelled(ctx context.Context, d *Data, l *Labels, n *notes) (*dataset.Dataset, error) {
	set, err := d.examples(ctx)
	if err != nil {
		return nil, err
	}
	n.read(set)
	if err = l.single(set); err == nil {
		n.giveAway(set)
	}
	return set, err
}

// checkTrue returns the fault of true classes, of an option, that do not fit the examples of set.
func checkTrue(classes []int32, option string, set *dataset.Dataset) error {
	if classes != nil && len(classes) != set.N {
		return invalid(option, fmt.Sprintf("%d classes", len(classes)),
			fmt.Sprintf("%d, one for each example", set.N))
	}
	for i, k := range classes {
		if int(k) >= len(set.Classes) {
			return &Fault{Kind: Invalid, Option: option, Row: &i, Got: fmt.Sprintf("code %d", k),
				Want: fmt.Sprintf("less than the %d classes", len(set.Classes))}
		}
	}
	return nil
}

// workOn returns the work of trainings on all examples of set.
func workOn(set *dataset.Dataset) func() host.Work {
	return func() host.Work { return host.Work{Data: set, Classes: len(set.Classes), Condition: 1} }
}

// fill enters what was found.
func (r *CleanResult) fill(set *dataset.Dataset, found *clean.Result, checked []int32) (err error) {
	q := len(set.Classes)
	r.Probabilities, r.CheckedRows = found.True, found.Checked
	r.WrongShare, r.Error, r.Shown = found.Wrong, found.Error, found.Shown
	r.Bases, r.Hypotheses = found.Bases, found.Hypotheses
	r.Repetitions, r.Agreeing, r.Evidence = found.Repetitions, found.Agreeing, found.Evidence()
	r.Confusion, r.Errors = rows(found.Noise.P, q), rows(found.Noise.Error, q)
	r.NotIdentified = lists.At(set.Classes, found.Noise.Unidentified)
	r.ToIdentify = lists.As[int32](found.ToIdentify)
	pairs := map[Pair]int{}
	for i, is := range found.Issues {
		r.Wrong, r.WrongProbability = append(r.Wrong, is.Wrong), append(r.WrongProbability, 1-is.Quality)
		r.Suggested, r.Sure = append(r.Suggested, is.Likely), append(r.Sure, is.Sure)
		label := set.Y[i]
		if is.Wrong && is.Likely != label {
			pairs[Pair{From: set.Classes[label], To: set.Classes[is.Likely]}]++
			r.Corrected++
		}
		if is.Wrong || checked != nil && checked[i] >= 0 {
			label = is.Likely
		}
		r.Cleaned = append(r.Cleaned, label)
	}
	r.Pairs = []Pair{}
	for p, n := range pairs {
		p.Rows = n
		r.Pairs = append(r.Pairs, p)
	}
	slices.SortFunc(r.Pairs, func(a, b Pair) int {
		return cmp.Or(-cmp.Compare(a.Rows, b.Rows), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	r.Review = lists.As[int32](found.Next)
	if r.Reasons, err = clean.Reasons(set, found, checked); err != nil {
		return err
	}
	r.Judgement, err = judged(set, found)
	return err
}

// judged compares the out-of-fold predictions with the labels.
func judged(set *dataset.Dataset, found *clean.Result) (*Judgement, error) {
	q := len(set.Classes)
	y, p := set.Y, found.True
	if slices.Contains(y, dataset.Unlabelled) {
		y, p = nil, nil
		for i, k := range set.Y {
			if k >= 0 {
				y, p = append(y, k), append(p, found.True[i*q:(i+1)*q]...)
			}
		}
	}
	var noise *confusion.Matrix
	if found.Shown {
		noise = &found.Noise.Matrix
	}
	return judgement(y, engine.Predicted(p, q), p, set.Classes, noise)
}
