// Package report presents a model and the labels it was trained on as one self-contained HTML page,
// as JSON, and as text.
//
// A Report holds the numbers and WriteHTML draws them, with inline SVG and tables and without
// requests. The only script copies code. Equal numbers give equal bytes. A Review is a page that
// collects what people decide about rows.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// Report is the content of the page and its JSON form. Empty parts are left out.
type Report struct {
	Request any      `json:"request,omitempty"` // what made the report
	Title   string   `json:"title"`             // the name of the data
	Date    string   `json:"date"`              // "" for none
	Done    string   `json:"done"`              // a sentence
	Verdict Verdict  `json:"verdict"`           // set by Conclude
	Command string   `json:"command"`           // repeats the report
	Model   Model    `json:"model"`
	Classes []string `json:"classes"`

	Noise *Noise `json:"noise,omitempty"` // nil: labels are trusted

	Cleaned *Cleaned          `json:"cleaned,omitempty"` // nil of a report on a model
	Judged  *Judged           `json:"judged"`
	Check   *judge.NoiseCheck `json:"check,omitempty"` // nil: C was not compared
	// labels that are likely wrong
	Issues   int       `json:"issues"`
	Suspects []Suspect `json:"suspects,omitempty"`
	Shown    string    `json:"shown,omitempty"` // the column of their texts
	// NextCommand is the code of the next step: it lists all of them, or cleans again.
	NextCommand string `json:"next_command,omitempty"`
	// rows to check next; not nil of a cleaning
	CheckNext []string `json:"check_next,omitempty"`
	Rows      string   `json:"-"` // a sentence that says what rows are called
	Review    string   `json:"-"` // name of the Review beside the page; "" for none
	// Phrase spells the options in a text; nil for no change.
	Phrase func(string) string `json:"-"`
}

// Cleaned is what a cleaning says of its labels.
type Cleaned struct {
	Evidence  string `json:"evidence"` // that labels are wrong
	Wrong     Share  `json:"wrong_labels"`
	Corrected int    `json:"corrected"`
	Error     Share  `json:"expected_error"` // of the models that judged
	// NotIdentified are true classes whose noise is not known, and ToIdentify the rows whose true
	// classes would tell it.
	NotIdentified []string `json:"not_identified,omitempty"`
	ToIdentify    []string `json:"to_identify,omitempty"`
}

// Share is a share of the examples, with a 95 % interval where that is known.
type Share struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Percent prints a share, and its interval in parentheses if that is known.
func (s Share) Percent() string {
	if s.Low == nil {
		return percent(s.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", percent(s.Value), percent(*s.Low), percent(*s.High))
}

// Right is the share of predictions that are right.
func (c *Cleaned) Right() Share {
	if c.Error.Low == nil {
		return Share{Value: 1 - c.Error.Value}
	}
	return Share{1 - c.Error.Value, new(1 - *c.Error.High), new(1 - *c.Error.Low)}
}

// Basis says what Right rests on.
func (c *Cleaned) Basis() string {
	if c.Error.Low == nil {
		return "by the models' own probabilities, not verified"
	}
	return "on checked rows"
}

// Identify says which classes are not identified, and what to do; "" if all are. Of others it is
// known to a tenth how wrong their labels are.
func Identify[T int | string](classes []string, rows []T) string {
	if len(classes) == 0 {
		return ""
	}
	names := strings.Join(classes, ", ")
	text := fmt.Sprintf("%.200s: how wrong their labels are is not known to 10 %%", names)
	if n := len(rows); n > 0 {
		text += fmt.Sprintf("; to know it, check %d rows: %s", n,
			strings.Trim(fmt.Sprint(rows), "[]"))
	}
	return text
}

// Verdict is the top of the page and its evidence.
type Verdict struct {
	Numbers  []Number `json:"numbers"`
	Next     string   `json:"next"` // next step
	Command  string   `json:"next_command,omitempty"`
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
}

// Model is the provenance of the model.
type Model struct {
	File           string   `json:"file"`
	EstimatedError *float64 `json:"estimated_error"` // on the training examples
	Features       int      `json:"features"`
	Kernel         string   `json:"kernel,omitempty"`
	Preparation    string   `json:"preparation"`
	model.Provenance
}

// NewModel describes m, which was read from file.
func NewModel(file string, m *model.Model) Model {
	meta := &m.Meta
	r := Model{File: file, EstimatedError: meta.EstimatedError, Features: meta.Features.Count,
		Preparation: meta.Preparation.Steps.String(), Provenance: meta.Provenance}
	if k := meta.Kernel; k != nil {
		r.Kernel = fmt.Sprintf("%s, γ %.4g, %d components of %d landmarks", k.Function.Kind,
			k.Function.Gamma, k.Components, k.Landmarks)
	}
	return r
}

// Noise is a confusion matrix: Matrix[p][q] = P(noisy = p | true = q). Errors are the standard
// errors of its entries, nil if unknown.
type Noise struct {
	Source string `json:"source"`
	// Checked is how many checked rows entered the estimate.
	Checked int         `json:"checked,omitempty"`
	Matrix  [][]float64 `json:"matrix"`
	Errors  [][]float64 `json:"standard_errors,omitempty"`
}

// Judged is the quality of predictions on examples.
type Judged struct {
	File string `json:"file"`
	// Folds is 0 for predictions of the model itself, else out-of-fold predictions.
	Folds int `json:"folds"`

	metric.Report                  // by the labels as they are
	*metric.Probabilities          // nil of predictions without
	CorrectedLogLoss      *float64 `json:"corrected_log_loss,omitempty"`
	// Corrected estimates the quality on right labels by the confusion matrix.
	Corrected   *metric.Corrected `json:"corrected,omitempty"`
	Reliability []metric.Bin      `json:"reliability,omitempty"`
	Pairs       []Pair            `json:"pairs"` // set by Hardest
	Warnings    []string          `json:"warnings,omitempty"`
}

// Pair is a class that is predicted as another: how many Examples, and their share of the class.
type Pair struct {
	True      string  `json:"true"`
	Predicted string  `json:"predicted"`
	Examples  float64 `json:"examples"` // an estimate if labels are noisy
	Share     float64 `json:"share"`
}

// Limits of the page.
const (
	mostPairs    = 12
	MostSuspects = 50
)

// Hardest sets Pairs to the pairs of classes that are confused most often.
func (j *Judged) Hardest(classes []string) {
	for q := range classes {
		for p := range classes {
			if n := j.examples(p, q); p != q && n > 0 {
				j.Pairs = append(j.Pairs, Pair{classes[q], classes[p], n, j.share(p, q)})
			}
		}
	}
	slices.SortStableFunc(j.Pairs, func(a, b Pair) int { return -cmp.Compare(a.Examples, b.Examples) })
	j.Pairs = j.Pairs[:min(mostPairs, len(j.Pairs))]
}

// examples returns how many examples of class q are predicted p, an estimate if labels are noisy.
func (j *Judged) examples(p, q int) float64 {
	if j.Corrected != nil {
		return max(0, j.Corrected.Confusion[p][q])
	}
	return float64(j.Report.Confusion[p][q])
}

// share returns the share of examples(p, q) in all of class q, 0 if there are none.
func (j *Judged) share(p, q int) float64 {
	n, all := j.examples(p, q), 0.0
	for i := range j.Report.Confusion {
		all += j.examples(i, q)
	}
	if n == 0 {
		return 0
	}
	return n / all
}

// Suspect is an example whose label is likely to be wrong.
type Suspect struct {
	Row     string  `json:"row"` // what the row is called
	Given   string  `json:"given_label"`
	Likely  string  `json:"predicted_label"`
	Quality float64 `json:"label_quality"`     // probability that the label is right
	Text    string  `json:"text,omitempty"`    // of the example, for people
	Picture string  `json:"picture,omitempty"` // of the example: a PNG as a data: URL
}

// WriteJSON writes the numbers, indented.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // a class named <=50K should look like that
	e.SetIndent("", "  ")
	return e.Encode(r)
}
