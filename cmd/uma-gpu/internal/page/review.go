package page

import (
	"context"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/report"
)

// Limits of the page of rows to review.
const (
	mostReview  = 300 // suspects
	mostNext    = 100 // rows to check next
	mostColumns = 60
	neighbours  = 3
)

// Review returns the page on which people decide about the suspects of a cleaning, and about the
// rows to check next.
func Review(ctx context.Context, request *umagpu.CleanRequest, result *umagpu.CleanResult,
	o *Request) (*report.Review, error) {
	source := o.source(&request.Data, request.Labels)
	r := &report.Review{Title: o.Name, Date: o.Date, Again: o.Again, Classes: result.Classes,
		Columns: source.Columns[:min(mostColumns, len(source.Columns))], Rows: []report.ReviewRow{}}
	for i, k := range request.Checked {
		if k >= 0 {
			r.Checked = append(r.Checked, [2]string{o.key(i), result.Classes[k]})
		}
	}
	values := func(i int) (list []string) {
		for j := range r.Columns {
			list = append(list, source.Cell(i, j))
		}
		return list
	}
	place := map[int]int{} // of an example in rows
	var rows []int32
	add := func(i int) *report.ReviewRow {
		if _, known := place[i]; !known {
			place[i], rows = len(rows), append(rows, int32(i))
			reason := ""
			if result.Reasons != nil {
				reason = result.Reasons[i]
			}
			r.Rows = append(r.Rows, report.ReviewRow{Row: o.key(i), Name: o.row(i),
				Given: int(source.Labels[i]), Suggested: int(result.Suggested[i]),
				Wrong: result.WrongProbability[i], Sure: result.Sure[i], Reason: reason,
				Values: values(i), Near: []report.NearRow{}})
		}
		return &r.Rows[place[i]]
	}
	for _, i := range suspects(result) {
		switch {
		case request.Checked != nil && request.Checked[i] >= 0: // decided before
		case len(rows) < mostReview:
			add(i).Suspect = true
		default:
			r.More++
		}
	}
	for _, i := range result.Review[:min(mostNext, len(result.Review))] {
		add(int(i)).Next = true
	}
	if len(rows) == 0 {
		return r, nil
	}
	near, err := umagpu.Nearest(ctx, &umagpu.NearestRequest{Data: request.Data, Rows: rows,
		Neighbours: neighbours, Compute: request.Compute})
	if err != nil {
		return nil, err
	}
	for k, list := range near.Index {
		for _, j := range list {
			r.Rows[k].Near = append(r.Rows[k].Near, report.NearRow{Name: o.row(int(j)),
				Given: int(source.Labels[j]), Values: values(int(j))})
		}
	}
	return r, nil
}

// key returns what an example is called in a file of checked rows.
func (o *Request) key(i int) string {
	if o.Keys != nil {
		return o.Keys[i]
	}
	return o.row(i)
}
