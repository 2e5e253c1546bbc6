// Package page makes pages of results: reports, and lists of rows to review.
package page

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/clean"
	"github.com/uma-gpu/uma-gpu/host/report"
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

	Keys   []string        `json:"-"` // what files call rows; nil for Index
	Model  string          `json:"-"` // file; "" for none
	Review string          `json:"-"` // file of the review page; "" for none
	Source *Source         `json:"-"` // nil for the data of the request
	Spell  umagpu.Spelling `json:"-"` // of options
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

// Pages are HTML. Review is nil of results without suspects.
type Pages struct {
	Report []byte `array:"page"`
	Review []byte `array:"review_page"`
}

// Of returns the pages of a result.
func Of(ctx context.Context, request, result any, o *Request) (*Pages, error) {
	var page, review bytes.Buffer
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
	case *umagpu.EvaluateResult:
		r = evaluate(request.(*umagpu.EvaluateRequest), result, o)
	default:
		return nil, &umagpu.Fault{Kind: umagpu.Conflict, Option: "page", Got: fmt.Sprintf("a page of %T",
			request), Want: "one of clean or evaluate"}
	}
	err := r.WriteHTML(&page, "")
	return &Pages{Report: page.Bytes(), Review: review.Bytes()}, err
}

// Clean returns the report on a cleaning, and the page on which people decide about its suspects.
func Clean(ctx context.Context, request *umagpu.CleanRequest, result *umagpu.CleanResult,
	o *Request) (*report.Report, *report.Review, error) {
	source := o.source(&request.Data, request.Labels)
	review, err := o.review(ctx, source, request, result)
	if err != nil {
		return nil, nil, err
	}
	show, err := source.shown(o.Show)
	if err != nil {
		return nil, nil, err
	}
	p := o.report(result.Model, fmt.Sprintf("Cleaned: %d rows of %d classes, %d of them checked; %d "+
		"labels corrected.", len(result.Wrong), len(result.Classes), result.CheckedRows,
		result.Corrected))
	p.CheckNext = []string{}
	for _, i := range result.Review {
		p.CheckNext = append(p.CheckNext, o.row(int(i)))
	}
	if result.Confusion != nil {
		p.Noise = &report.Noise{Source: "estimated from the labels", Checked: result.CheckedRows,
			Matrix: result.Confusion, Errors: result.Errors}
	}
	o.judged(p, result.Judgement, clean.DefaultFolds)
	list := suspects(result)
	p.Issues = len(list)
	for _, i := range list[:min(report.MostSuspects, len(list))] {
		s := report.Suspect{Index: i, Row: o.row(i), Likely: result.Classes[result.Suggested[i]],
			Quality: 1 - result.WrongProbability[i]}
		if k := source.Labels[i]; k >= 0 {
			s.Given = result.Classes[k]
		}
		if show >= 0 {
			s.Text, p.Shown = source.Cell(i, show), source.Columns[show]
		}
		p.Suspects = append(p.Suspects, s)
	}
	p.Conclude()
	return p, review, nil
}

// suspects returns the examples whose labels are wrong, the most probable first.
func suspects(result *umagpu.CleanResult) (list []int) {
	for i, wrong := range result.Wrong {
		if wrong {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		return -cmp.Compare(result.WrongProbability[a], result.WrongProbability[b])
	})
	return list
}

// evaluate returns the report on a model.
func evaluate(request *umagpu.EvaluateRequest, result *umagpu.EvaluateResult, o *Request,
) *report.Report {
	p := o.report(request.Model, fmt.Sprintf("Evaluated: the model on %d rows of %d classes.",
		result.Examples, len(result.Classes)))
	if request.Confusion != nil {
		p.Noise = &report.Noise{Source: "given"}
	}
	o.judged(p, &result.Judgement, 0)
	p.Conclude()
	return p
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

// row returns what an example is called.
func (o *Request) row(i int) string {
	if o.Index == nil {
		return strconv.Itoa(i)
	}
	return o.Index[i]
}

// Today returns the date of a page, or what SOURCE_DATE_EPOCH has in its place.
func Today() string {
	now := time.Now()
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		now = time.Unix(seconds, 0).UTC()
	}
	return now.Format(time.DateOnly)
}
