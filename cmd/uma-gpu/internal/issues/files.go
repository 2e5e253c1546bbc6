package issues

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// writeCSV writes a header and the rows; pandas reads True and False as truths.
func writeCSV(out io.Writer, rows []training.IssueRow) error {
	w := csv.NewWriter(out) // which keeps its first error
	header := []string{"example", "is_label_issue", "label_quality", "given_label", "predicted_label",
		"predicted_quality", "duplicate_of", "conflict"}
	named := rows[0].ID != nil
	if named {
		header = slices.Insert(header, 1, "id")
	}
	w.Write(header)
	truth := map[bool]string{false: "False", true: "True"}
	for _, r := range rows {
		fields := []string{fmt.Sprint(r.Example), truth[r.Wrong], app.NumberText(r.Quality), r.Given,
			r.Predicted, app.NumberText(r.Sure), fmt.Sprint(r.Duplicate), truth[r.Conflict]}
		if named {
			fields = slices.Insert(fields, 1, *r.ID)
		}
		w.Write(fields)
	}
	w.Flush()
	return w.Error()
}

// clean writes the data without the rows whose labels are likely wrong, or with corrected labels.
// It returns a description.
func (o *Options) clean(ctx context.Context, d *dataset.Dataset, read file.Options,
	files *osfile.Group, found []estimate.Issue) (description string, err error) {
	wrong, what := 0, "relabelled"
	y := slices.Clone(d.Y)
	for i, is := range found {
		if !is.Wrong {
			continue
		}
		wrong++
		if y[i] = is.Likely; o.Output.CleanBy != relabel {
			y[i] = -1
		}
	}
	if o.Output.CleanBy != relabel {
		what = "left out"
		if wrong == len(found) {
			return "", fmt.Errorf("%s: all labels are likely wrong, so no row is left to write; check the "+
				"confusion matrix, or use --clean-by relabel", d.Path)
		}
	}
	err = o.Input.WriteCopy(ctx, o.Output.Clean, d, file.Copy{Options: read, Y: y},
		app.Together(files, app.CopyOptions(o.Output.Clean, d)))
	return fmt.Sprintf("clean: %d of %d rows %s, written to %s", wrong, len(found), what,
		o.Output.Clean), err
}
