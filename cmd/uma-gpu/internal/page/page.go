// Package page makes pages of results: reports, and lists of rows to review.
package page

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Request asks for the pages of a result, in the words of its readers.
type Request struct {
	Name  string   `json:"name"`  // of the data: a file, or a variable
	Date  string   `json:"date"`  // "" for none
	Call  string   `json:"call"`  // code that made the result
	Again string   `json:"again"` // code of the next step, with checked rows
	Index []string `json:"index"` // what rows are called; nil for their numbers from 0
	Rows  string   `json:"rows"`  // a sentence that says what rows are called
	Show  string   `json:"show"`  // the column to show beside suspects; "" for the first of texts

	Model  string          `json:"-"` // file; "" for none
	Review string          `json:"-"` // file of the review page; "" for none
	Source *Source         `json:"-"` // nil for the data of the request
	Spell  umagpu.Spelling `json:"-"` // of options
	// Picture draws an example; nil for none
	Picture func(i int) (string, error) `json:"-"`

	// what files and people call an example; nil for Index
	called func(i int) (key, name string)
}

// Source is what pages show of the data.
type Source struct {
	Labels  []int32 // given; below 0 of none
	Columns []string
	Text    int // the first column of texts; -1 for none
	Cell    func(row, column int) string
	// Read reads some rows, before Columns, Text and Cell are used; nil if all are there.
	Read func(rows []int) error
}

// Pages are HTML, and Text is the report in a few lines. Review is nil of results without suspects.
type Pages struct {
	Report []byte `array:"page"`
	Review []byte `array:"review_page"`
	Text   []byte `array:"text"`
}

// Of returns the pages of a result.
func Of(ctx context.Context, request, result any, o *Request) (*Pages, error) {
	var page, review, text bytes.Buffer
	var r *report.Report
	switch result := result.(type) {
	case *umagpu.CleanResult:
		found, list, err := Clean(ctx, request.(*umagpu.CleanRequest), result, o)
		if err == nil {
			r, err = found, list.WriteHTML(&review)
		}
		if err != nil {
			return nil, err
		}
	case *umagpu.ReportResult:
		asked := request.(*umagpu.ReportRequest)
		var err error
		if r, err = Report(asked, result, o); err != nil {
			return nil, err
		}
	default:
		return nil, &umagpu.Fault{Kind: umagpu.Conflict, Option: "page", Got: fmt.Sprintf("a page of %T",
			request), Want: "one of clean or report"}
	}
	fmt.Fprintln(&text, r.Done)
	err := errors.Join(r.WriteText(&text), r.WriteHTML(&page, ""))
	return &Pages{Report: page.Bytes(), Review: review.Bytes(), Text: text.Bytes()}, err
}

// Clean returns the report on a cleaning, and the page on which people decide about its suspects.
func Clean(ctx context.Context, request *umagpu.CleanRequest, result *umagpu.CleanResult,
	o *Request) (*report.Report, *report.Review, error) {
	source := o.source(&request.Data, request.Labels)
	review, err := o.review(ctx, source, request, result)
	if err != nil {
		return nil, nil, err
	}
	p := o.report(result.Model, fmt.Sprintf("Cleaned: %d rows of %d classes, %d of them checked; %d "+
		"labels corrected.", len(result.Wrong), len(result.Classes), result.CheckedRows,
		result.Corrected))
	p.CheckNext = o.rows(result.Review)
	if result.Confusion != nil {
		p.Noise = &report.Noise{Source: "estimated from the labels", Checked: result.CheckedRows,
			Matrix: result.Confusion, Errors: result.Errors}
		if request.Confusion != nil {
			p.Noise.Source = "given"
		}
	}
	p.Cleaned = &report.Cleaned{Evidence: result.Evidence, Wrong: report.Share(result.WrongShare),
		Error: report.Share(result.Error), Corrected: result.Corrected,
		NotIdentified: result.NotIdentified, ToIdentify: o.rows(result.ToIdentify)}
	o.judged(p, result.Judgement, clean.DefaultFolds)
	err = o.suspects(p, source, found{result.Suggested, result.WrongProbability,
		suspects(request, result)})
	if err != nil {
		return nil, nil, err
	}
	p.Issues = lists.Count(result.Wrong, func(wrong bool) bool { return wrong })
	p.Conclude()
	return p, review, nil
}

// Report returns the report on a model.
func Report(request *umagpu.ReportRequest, result *umagpu.ReportResult, o *Request,
) (*report.Report, error) {
	m := request.Model
	p := o.report(m, fmt.Sprintf("Judged: the model and %d labels of %d classes.", result.Examples,
		len(result.Classes)))
	p.Check = result.Check
	if p.Noise = learned(m); result.Given {
		p.Noise = &report.Noise{Source: "given", Matrix: result.Noise, Errors: result.Errors}
	}
	o.judged(p, result.Judgement, result.Folds)
	p.Judged.Reliability = result.Reliability
	if result.Wrong != nil {
		f := found{likely: result.Likely}
		for i, quality := range result.Quality {
			if f.wrong = append(f.wrong, 1-quality); result.Wrong[i] {
				f.list = append(f.list, i)
			}
		}
		f.sort()
		source := o.source(&request.Data, request.Labels)
		if source.Read != nil {
			if err := source.Read(f.list[:min(report.MostSuspects, len(f.list))]); err != nil {
				return nil, err
			}
		}
		if err := o.suspects(p, source, f); err != nil {
			return nil, err
		}
	}
	p.Conclude()
	return p, nil
}

// learned returns the confusion matrix of the training; nil if it took labels to be right.
func learned(m *umagpu.Model) *report.Noise {
	rows := func(p []float64) (list [][]float64) {
		for row := range slices.Chunk(p, m.Host().Q) {
			list = append(list, row)
		}
		return list
	}
	if c := m.Host().Confusion; c != nil {
		return &report.Noise{Source: "given to the training", Matrix: rows(c)}
	}
	if l := m.Host().Learned; l != nil {
		return &report.Noise{Source: "learned from the labels together with the model",
			Matrix: rows(l.Confusion), Errors: rows(l.Error)}
	}
	return nil
}

// found is what is known of labels: the likely class of each example, the probability that its
// label is wrong, and the suspects, the most probable first.
type found struct {
	likely []int32
	wrong  []float64
	list   []int
}

func (f *found) sort() {
	slices.SortStableFunc(f.list, func(a, b int) int { return -cmp.Compare(f.wrong[a], f.wrong[b]) })
}

// suspects returns the examples whose labels are wrong and nobody has checked, the most probable
// first.
func suspects(request *umagpu.CleanRequest, result *umagpu.CleanResult) []int {
	f := found{wrong: result.WrongProbability}
	for i, wrong := range result.Wrong {
		if wrong && (request.Checked == nil || request.Checked[i] < 0) {
			f.list = append(f.list, i)
		}
	}
	f.sort()
	return f.list
}

// suspects enters the first suspects.
func (o *Request) suspects(p *report.Report, source *Source, f found) error {
	show, err := source.shown(o.Show)
	if err != nil {
		return err
	}
	p.Issues = len(f.list)
	for _, i := range f.list[:min(report.MostSuspects, len(f.list))] {
		s := report.Suspect{Row: o.row(i), Likely: p.Classes[f.likely[i]], Quality: 1 - f.wrong[i]}
		if k := source.label(i); k >= 0 {
			s.Given = p.Classes[k]
		}
		if show >= 0 {
			s.Text, p.Shown = source.Cell(i, show), source.Columns[show]
		}
		if o.Picture != nil {
			if s.Picture, err = o.Picture(i); err != nil {
				return err
			}
		}
		p.Suspects = append(p.Suspects, s)
	}
	return nil
}

// report returns the report on a model without its parts.
func (o *Request) report(m *umagpu.Model, done string) *report.Report {
	return &report.Report{Title: o.Name, Date: o.Date, Done: done, Command: o.Call,
		Classes: m.Classes(), Model: report.NewModel(o.Model, m.Host()), NextCommand: o.Again,
		Rows: o.Rows, Review: o.Review,
		Phrase: func(text string) string { return umagpu.Phrase(text, o.Spell) }}
}

// judged enters a judgement, of a number of folds.
func (o *Request) judged(p *report.Report, j *umagpu.Judgement, folds int) {
	p.Judged = &report.Judged{File: o.Name, Folds: folds, Report: j.Report,
		Probabilities: j.Probabilities, CorrectedLogLoss: j.CorrectedLogLoss, Corrected: j.Corrected,
		Warnings: j.Warnings}
	p.Judged.Hardest(p.Classes)
}

// names returns what files and people call an example.
func (o *Request) names(i int) (key, name string) {
	switch {
	case o.called != nil:
		return o.called(i)
	case i < len(o.Index):
		return o.Index[i], o.Index[i]
	}
	return strconv.Itoa(i), strconv.Itoa(i)
}

// row returns what people call an example.
func (o *Request) row(i int) string {
	_, name := o.names(i)
	return name
}

// rows returns what people call examples.
func (o *Request) rows(some []int32) (names []string) {
	for _, i := range some {
		names = append(names, o.row(int(i)))
	}
	return names
}

// Today returns the date of a page, or what SOURCE_DATE_EPOCH has in its place.
func Today() string {
	now := time.Now()
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		now = time.Unix(seconds, 0).UTC()
	}
	return now.Format(time.DateOnly)
}
