package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset/parquet"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// issueFormat returns the format of the table that is named so, "" for none.
func issueFormat(c *cli.Context, out string) (string, error) {
	if out == "" {
		return "", nil
	}
	switch format := strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), "."); format {
	case "csv", "json", "parquet":
		return format, nil
	}
	return "", app.Usagef(c, "--out is %s, wanted a name that ends in .csv, .json or .parquet", out)
}

// writeIssues returns what writes ranked rows in a format.
func writeIssues(format string, rows []training.IssueRow) func(io.Writer) error {
	return func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		write := writeIssuesCSV
		switch format {
		case "json":
			write = writeIssuesJSON
		case "parquet":
			write = writeIssuesParquet
		}
		if err := write(b, rows); err != nil {
			return err
		}
		return b.Flush()
	}
}

// writeIssuesCSV writes a header and the rows; pandas reads True and False as truths.
func writeIssuesCSV(out io.Writer, rows []training.IssueRow) error {
	w := csv.NewWriter(out)
	fields := []string{"example", "is_label_issue", "label_quality", "given_label", "predicted_label",
		"predicted_quality", "duplicate_of", "conflict"}
	named := rows[0].ID != nil
	if named {
		fields = slices.Insert(fields, 1, "id")
	}
	if err := w.Write(fields); err != nil {
		return err
	}
	truth := map[bool]string{false: "False", true: "True"}
	for _, r := range rows {
		fields = append(fields[:0], strconv.FormatInt(r.Example, 10))
		if named {
			fields = append(fields, *r.ID)
		}
		fields = append(fields, truth[r.Wrong], strconv.FormatFloat(r.Quality, 'g', -1, 64), r.Given,
			r.Predicted,
			strconv.FormatFloat(r.Sure, 'g', -1, 64), strconv.FormatInt(r.Duplicate, 10), truth[r.Conflict])
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// writeIssuesParquet writes ids behind the other columns, if there are any.
func writeIssuesParquet(w io.Writer, rows []training.IssueRow) error {
	if rows[0].ID == nil {
		return parquet.Write(w, rows)
	}
	type named struct {
		training.IssueRow
		Name string `parquet:"id"`
	}
	list := make([]named, len(rows))
	for k, r := range rows {
		list[k] = named{r, *r.ID}
	}
	return parquet.Write(w, list)
}

// writeIssuesJSON writes one array, a row on each line.
func writeIssuesJSON(w io.Writer, rows []training.IssueRow) error {
	for i, r := range rows {
		separator := ",\n"
		if i == 0 {
			separator = "[\n"
		}
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false) // a class named <=50K should look like that
		if err := e.Encode(r); err != nil {
			return err
		}
		if _, err := io.WriteString(w, separator+strings.TrimSpace(text.String())); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

// writeClean writes the data with the most likely labels in place of those that are likely
// wrong, or without their rows.
func writeClean(ctx context.Context, o *training.OutOfFold, files *atomicfile.Group, path,
	how string, found []estimate.Issue) (said string, err error) {
	clean, wrong := *o.Data, 0
	var kept []int
	clean.Y = nil
	for i, f := range found {
		y := o.Data.Y[i]
		if f.Wrong {
			wrong++
			if how == filterRows {
				continue
			}
			y = f.Likely
		}
		kept, clean.Y = append(kept, i), append(clean.Y, y)
	}
	what := "relabelled"
	if how == filterRows {
		what = "left out"
		if len(kept) == 0 {
			return "", fmt.Errorf("%s: %w", o.Training.Data, errNothingLeft)
		}
		clean.Put(o.Data.Stored().Pick(kept))
		if o.Data.IDs != nil {
			clean.IDs = nil
			for _, i := range kept {
				clean.IDs = append(clean.IDs, o.Data.IDs[i])
			}
		}
	}
	clean.SHA256 = clean.Hash()
	if err := app.WriteData(ctx, path, &clean, app.Together(files, app.CopyOptions(path,
		&clean))); err != nil {
		return "", err
	}
	return fmt.Sprintf("clean: %d of %d rows %s, written to %s", wrong, o.Data.N, what, path), nil
}
