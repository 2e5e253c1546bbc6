package page

import (
	"context"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/report"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Limits of the page of rows to review.
const (
	mostReview  = 300 // suspects
	mostNext    = 100 // rows to check next
	mostColumns = 60
	neighbours  = 3
)

// review returns the page on which people decide about the suspects of a cleaning, and about the
// rows to check next.
func (o *Request) review(ctx context.Context, source *Source, request *umagpu.CleanRequest,
	result *umagpu.CleanResult) (*report.Review, error) {
	r := &report.Review{Title: o.Name, Date: o.Date, Again: o.Again, Classes: result.Classes,
		Rows: []report.ReviewRow{}}
	for i, k := range request.Checked {
		if k >= 0 {
			key, _ := o.names(i)
			r.Checked = append(r.Checked, [2]string{key, result.Classes[k]})
		}
	}
	place := map[int]int{} // of an example in rows
	var rows []int32
	add := func(i int) *report.ReviewRow {
		if _, known := place[i]; !known {
			place[i], rows = len(rows), append(rows, int32(i))
			key, name := o.names(i)
			reason := ""
			if result.Reasons != nil {
				reason = result.Reasons[i]
			}
			r.Rows = append(r.Rows, report.ReviewRow{Row: key, Name: name,
				Given: source.label(i), Suggested: int(result.Suggested[i]),
				Wrong: result.WrongProbability[i], Sure: result.Sure[i], Reason: reason,
				Near: []report.NearRow{}})
		}
		return &r.Rows[place[i]]
	}
	list := suspects(request, result)
	for _, i := range list[:min(mostReview, len(list))] {
		add(i).Suspect = true
	}
	r.More = len(list) - len(rows)
	for _, i := range result.Review[:min(mostNext, len(result.Review))] {
		add(int(i)).Next = true
	}
	near := new(umagpu.NearestResult)
	if len(rows) > 0 {
		var err error
		// on the processor: rows are few
		near, err = umagpu.Nearest(ctx, &umagpu.NearestRequest{Data: request.Data, Rows: rows,
			Neighbours: neighbours})
		if err != nil {
			return nil, err
		}
	}
	if source.Read != nil {
		needed := lists.As[int](rows)
		for _, some := range near.Index {
			needed = append(needed, lists.As[int](some)...)
		}
		if err := source.Read(needed); err != nil {
			return nil, err
		}
	}
	r.Columns = source.Columns[:min(mostColumns, len(source.Columns))]
	for k, i := range rows {
		r.Rows[k].Values = source.values(int(i), len(r.Columns))
		for _, j := range near.Index[k] {
			r.Rows[k].Near = append(r.Rows[k].Near, report.NearRow{Name: o.row(int(j)),
				Given: source.label(int(j)), Values: source.values(int(j), len(r.Columns))})
		}
	}
	return r, nil
}
