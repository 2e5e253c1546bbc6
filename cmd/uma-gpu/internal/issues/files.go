package issues

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// issueRow is a row of the table of issues.
type issueRow struct {
	Example   int64   `json:"example"`      // its row in the input, from 1
	ID        *string `json:"id,omitempty"` // nil without --id-column
	Wrong     bool    `json:"is_label_issue"`
	Quality   float64 `json:"label_quality"`
	Given     string  `json:"given_label"`
	Predicted string  `json:"predicted_label"`
	Sure      float64 `json:"predicted_quality"`
	Duplicate int64   `json:"duplicate_of"` // 0 for none
	Conflict  bool    `json:"conflict"`
}

// issueRows returns the rows that have a label, the least likely one first, of equally likely ones
// the first in the data.
func issueRows(d *dataset.Dataset, found *umagpu.FindIssuesResult) (rows []issueRow) {
	for i, same := range found.Same {
		if dataset.LabelOf(d, i) < 0 {
			continue
		}
		row := issueRow{Example: int64(d.SourceRow(i) + 1), Wrong: found.Wrong[i],
			Quality: found.Quality[i], Given: d.Classes[d.Y[i]], Predicted: d.Classes[found.Likely[i]],
			Sure: found.Sure[i], Conflict: found.Conflict[i]}
		if d.IDs != nil {
			row.ID = &d.IDs[i]
		}
		if int(same) != i {
			row.Duplicate = int64(d.SourceRow(int(same)) + 1)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b issueRow) int { return cmp.Compare(a.Quality, b.Quality) })
	return rows
}

// writeCSV writes a header, the rows, and behind them the other rows of the input, by their numbers
// alone: pandas reads True and False as truths, and nothing as missing.
func (o *Options) writeCSV(out io.Writer, d *dataset.Dataset, rows []issueRow) error {
	w := csv.NewWriter(out) // which keeps its first error
	header := []string{"example", "is_label_issue", "label_quality", "given_label", "predicted_label",
		"predicted_quality", "duplicate_of", "conflict"}
	named := d.IDs != nil
	if named {
		header = slices.Insert(header, 1, "id")
	}
	w.Write(o.Output.Safe.Of(header))
	truth, written := map[bool]string{false: "False", true: "True"}, map[int64]bool{}
	for _, r := range rows {
		written[r.Example] = true
		fields := []string{fmt.Sprint(r.Example), truth[r.Wrong], app.NumberText(r.Quality), r.Given,
			r.Predicted, app.NumberText(r.Sure), fmt.Sprint(r.Duplicate), truth[r.Conflict]}
		if named {
			fields = slices.Insert(fields, 1, *r.ID)
		}
		w.Write(o.Output.Safe.Of(fields))
	}
	for row, i := range dataset.ExamplesByRow(d) {
		fields := make([]string, len(header))
		if fields[0] = strconv.Itoa(row + 1); named && i >= 0 {
			fields[1] = d.IDs[i]
		}
		if !written[int64(row+1)] {
			w.Write(o.Output.Safe.Of(fields))
		}
	}
	w.Flush()
	return w.Error()
}
