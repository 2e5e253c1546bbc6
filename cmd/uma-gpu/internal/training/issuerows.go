package training

import (
	"cmp"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// IssueRow is a row of the table of issues.
type IssueRow struct {
	Index     int     `json:"-"`            // of the example
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

// IssueRows are the rows of the table, the least likely label first, of equally likely ones the
// first in the data.
func IssueRows(d *dataset.Dataset, found []estimate.Issue, same []int32) []IssueRow {
	conflict := make([]bool, d.N) // at the first of equal examples
	for i, first := range same {
		if d.Y[i] != d.Y[first] {
			conflict[first] = true
		}
	}
	rows := make([]IssueRow, d.N)
	for i, f := range found {
		rows[i] = IssueRow{Index: i, Example: int64(d.SourceRow(i) + 1), Wrong: f.Wrong,
			Quality: f.Quality, Given: d.Classes[d.Y[i]], Predicted: d.Classes[f.Likely], Sure: f.Sure,
			Conflict: conflict[same[i]]}
		if d.IDs != nil {
			rows[i].ID = &d.IDs[i]
		}
		if int(same[i]) != i {
			rows[i].Duplicate = int64(d.SourceRow(int(same[i])) + 1)
		}
	}
	slices.SortStableFunc(rows, func(a, b IssueRow) int { return cmp.Compare(a.Quality, b.Quality) })
	return rows
}
